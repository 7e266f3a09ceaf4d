// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <span>

#include "hw/host/address_space.h"
#include "testbench/lua/libraries.h"
#include "testbench/lua/memory.h"

namespace vinic::testbench::lua {

namespace {

constexpr const char* memory_type = "memory";
constexpr const char* descriptor_type = "descriptor";
constexpr const char* descriptors_by_address = "vinic.descriptors";

/// memory(bytes [, alignment]): memory of the process, zero, at an address that is the same in every run.
int memory(lua_State* L, script& self) {
    const std::uint64_t bytes = unsigned_argument(L, 1, "memory: bytes");
    const std::uint64_t alignment = lua_isnoneornil(L, 2) ? 64 : unsigned_argument(L, 2, "memory: alignment");
    if (alignment == 0 || (alignment & (alignment - 1)))
        throw script_error("memory: expected a power of two as alignment");
    void* begin = self.current().environment->memory.allocate(bytes, alignment);
    if (!begin) throw script_error(fmt::format("memory: no room for {} bytes", bytes));
    auto* block = static_cast<memory_block*>(lua_newuserdatauv(L, sizeof(memory_block), 0));
    *block = {static_cast<std::byte*>(begin), bytes};
    luaL_setmetatable(L, memory_type);
    return 1;
}

std::span<std::byte> part(const memory_block& block, std::uint64_t offset, std::uint64_t bytes) {
    if (offset > block.bytes || bytes > block.bytes - offset)
        throw script_error(fmt::format("memory of {} bytes: no {} bytes at {}", block.bytes, bytes, offset));
    return {block.begin + offset, bytes};
}

/// m:u32(offset [, value]) and the like: reads, or writes, in the byte order of the program.
template <typename Word>
int word(lua_State* L, script&) {
    const auto at = part(memory_argument(L, 1, "memory"), unsigned_argument(L, 2, "offset"), sizeof(Word));
    Word value{};
    if (lua_isnoneornil(L, 3)) {
        std::memcpy(&value, at.data(), sizeof value);
        lua_pushinteger(L, static_cast<lua_Integer>(value));
        return 1;
    }
    value = static_cast<Word>(integer_argument(L, 3, "value"));
    std::memcpy(at.data(), &value, sizeof value);
    return 0;
}

/// m:text(offset, bytes): the bytes as a string.
int text(lua_State* L, script&) {
    const auto at = part(memory_argument(L, 1, "memory"), unsigned_argument(L, 2, "offset"),
                         unsigned_argument(L, 3, "bytes"));
    lua_pushlstring(L, reinterpret_cast<const char*>(at.data()), at.size());
    return 1;
}

/// m:write(offset, string).
int write(lua_State* L, script&) {
    const std::string from = text_argument(L, 3, "text");
    const auto at = part(memory_argument(L, 1, "memory"), unsigned_argument(L, 2, "offset"), from.size());
    std::memcpy(at.data(), from.data(), from.size());
    return 0;
}

/// Byte `i` of the pattern of `seed`: neighbours and seeds differ, and no period divides a page.
std::byte pattern(std::uint64_t seed, std::uint64_t i) {
    return static_cast<std::byte>((i * 167 + (i >> 8) * 13 + seed * 101 + 7) % 251);
}

/// m:fill(offset, bytes, seed): a pattern that m:matches(offset, bytes, seed) recognises.
int fill(lua_State* L, script&) {
    const auto at = part(memory_argument(L, 1, "memory"), unsigned_argument(L, 2, "offset"),
                         unsigned_argument(L, 3, "bytes"));
    const std::uint64_t seed = unsigned_argument(L, 4, "seed");
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = pattern(seed, i);
    return 0;
}

int matches(lua_State* L, script&) {
    const auto at = part(memory_argument(L, 1, "memory"), unsigned_argument(L, 2, "offset"),
                         unsigned_argument(L, 3, "bytes"));
    const std::uint64_t seed = unsigned_argument(L, 4, "seed");
    bool same = true;
    for (std::size_t i = 0; i < at.size(); ++i) same = same && at[i] == pattern(seed, i);
    lua_pushboolean(L, same);
    return 1;
}

int memory_index(lua_State* L, script&) {
    const memory_block& block = memory_argument(L, 1, "memory");
    const std::string name = text_argument(L, 2, "field of memory");
    if (name == "address") {
        lua_pushinteger(L, static_cast<lua_Integer>(reinterpret_cast<std::uintptr_t>(block.begin)));
    } else if (name == "bytes") {
        lua_pushinteger(L, static_cast<lua_Integer>(block.bytes));
    } else {
        lua_getmetatable(L, 1);
        lua_getfield(L, -1, name.c_str());
        if (lua_isnil(L, -1)) throw script_error("memory has no " + name);
    }
    return 1;
}

/// descriptor(memory, offset [, segments]): a VIP_DESCRIPTOR there; by default with room for two segments.
int descriptor(lua_State* L, script&) {
    const memory_block& block = memory_argument(L, 1, "descriptor");
    const std::uint64_t offset = unsigned_argument(L, 2, "descriptor: offset");
    const std::uint64_t segments =
        lua_isnoneornil(L, 3) ? 2 : unsigned_argument(L, 3, "descriptor: segments");
    const auto at = part(block, offset, sizeof(VIP_CONTROL_SEGMENT) + segments * sizeof(VIP_DATA_SEGMENT));
    auto* view = static_cast<descriptor_view*>(lua_newuserdatauv(L, sizeof(descriptor_view), 0));
    *view = {reinterpret_cast<VIP_DESCRIPTOR*>(at.data()), segments};
    luaL_setmetatable(L, descriptor_type);
    lua_getfield(L, LUA_REGISTRYINDEX, descriptors_by_address);
    lua_pushvalue(L, -2);
    lua_rawsetp(L, -2, view->at);
    lua_pop(L, 1);
    return 1;
}

VIP_DATA_SEGMENT& segment(lua_State* L) {
    const descriptor_view& view = descriptor_argument(L, 1, "segment");
    const std::uint64_t i = unsigned_argument(L, 2, "segment");
    if (i >= view.segments)
        throw script_error(fmt::format("segment {} of a descriptor with room for {}", i, view.segments));
    return reinterpret_cast<VIP_DATA_SEGMENT*>(view.at->DS)[i];
}

/// d:data(i, address, handle, length): data segment i, from 0.
int data(lua_State* L, script&) {
    VIP_DATA_SEGMENT& at = segment(L);
    at.Data.AddressBits = unsigned_argument(L, 3, "address");
    at.Handle = static_cast<VIP_MEM_HANDLE>(unsigned_argument(L, 4, "handle"));
    at.Length = static_cast<VIP_UINT32>(unsigned_argument(L, 5, "length"));
    return 0;
}

/// d:remote(address, handle): the remote address of an RDMA, segment 0.
int remote(lua_State* L, script&) {
    const descriptor_view& view = descriptor_argument(L, 1, "remote");
    if (view.segments == 0) throw script_error("remote: a descriptor without room for segments");
    VIP_ADDRESS_SEGMENT& at = view.at->DS[0].Remote;
    at.Data.AddressBits = unsigned_argument(L, 2, "address");
    at.Handle = static_cast<VIP_MEM_HANDLE>(unsigned_argument(L, 3, "handle"));
    at.Reserved = 0;
    return 0;
}

/// Reads (`value` null) or writes a field of the control segment; false when it has none of the name.
bool control_field(VIP_CONTROL_SEGMENT& control, const std::string& name, lua_Integer& value, bool write) {
    const auto access = [&](auto& field) {
        if (write)
            field = static_cast<std::remove_reference_t<decltype(field)>>(value);
        else
            value = static_cast<lua_Integer>(field);
        return true;
    };
    if (name == "SegCount") return access(control.SegCount);
    if (name == "Control") return access(control.Control);
    if (name == "Reserved") return access(control.Reserved);
    if (name == "ImmediateData") return access(control.ImmediateData);
    if (name == "Length") return access(control.Length);
    if (name == "Status") return access(control.Status);
    return false;
}

int descriptor_index(lua_State* L, script&) {
    const descriptor_view& view = descriptor_argument(L, 1, "descriptor");
    const std::string name = text_argument(L, 2, "field of a descriptor");
    lua_Integer value = 0;
    if (control_field(view.at->CS, name, value, false)) {
        lua_pushinteger(L, value);
        return 1;
    }
    lua_getmetatable(L, 1);
    lua_getfield(L, -1, name.c_str());
    if (lua_isnil(L, -1)) throw script_error("a descriptor has no " + name);
    return 1;
}

int descriptor_newindex(lua_State* L, script&) {
    const descriptor_view& view = descriptor_argument(L, 1, "descriptor");
    const std::string name = text_argument(L, 2, "field of a descriptor");
    lua_Integer value = integer_argument(L, 3, name.c_str());
    if (!control_field(view.at->CS, name, value, true)) throw script_error("a descriptor has no " + name);
    return 0;
}

void register_type(lua_State* L, const char* type, std::initializer_list<luaL_Reg> methods) {
    luaL_newmetatable(L, type);
    for (const auto& [name, function] : methods) {
        lua_pushcfunction(L, function);
        lua_setfield(L, -2, name);
    }
    lua_pop(L, 1);
}

}  // namespace

memory_block& memory_argument(lua_State* L, int index, const char* what) {
    auto* block = static_cast<memory_block*>(luaL_testudata(L, index, memory_type));
    if (!block) wrong_argument(L, index, what, "memory");
    return *block;
}

descriptor_view& descriptor_argument(lua_State* L, int index, const char* what) {
    auto* view = static_cast<descriptor_view*>(luaL_testudata(L, index, descriptor_type));
    if (!view) wrong_argument(L, index, what, "a descriptor");
    return *view;
}

void push_descriptor(lua_State* L, VIP_DESCRIPTOR* at) {
    if (!at) return lua_pushnil(L);
    lua_getfield(L, LUA_REGISTRYINDEX, descriptors_by_address);
    lua_rawgetp(L, -1, at);
    lua_remove(L, -2);
    if (lua_isnil(L, -1)) throw script_error("VIPL returned a descriptor that the script did not make");
}

void open_memory_library(lua_State* L) {
    lua_newtable(L);
    lua_setfield(L, LUA_REGISTRYINDEX, descriptors_by_address);
    lua_register(L, "memory", guarded<memory>);
    lua_register(L, "descriptor", guarded<descriptor>);
    register_type(L, memory_type,
                  {{"__index", guarded<memory_index>},
                   {"u8", guarded<word<std::uint8_t>>},
                   {"u16", guarded<word<std::uint16_t>>},
                   {"u32", guarded<word<std::uint32_t>>},
                   {"u64", guarded<word<std::uint64_t>>},
                   {"text", guarded<text>},
                   {"write", guarded<write>},
                   {"fill", guarded<fill>},
                   {"matches", guarded<matches>}});
    register_type(L, descriptor_type,
                  {{"__index", guarded<descriptor_index>},
                   {"__newindex", guarded<descriptor_newindex>},
                   {"data", guarded<data>},
                   {"remote", guarded<remote>}});
}

}  // namespace vinic::testbench::lua
