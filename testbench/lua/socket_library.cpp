// SPDX-License-Identifier: Apache-2.0
// BSD sockets for scripts: the same names; a buffer is a piece of memory, an address is {host = node, port =
// n}. A call returns what C's does, and instead of -1 and errno: nil and the name of the error.
#include "host_driver/sockets/socket_layer.h"
#include "hw/host/address_space.h"
#include "testbench/lua/libraries.h"
#include "testbench/lua/memory.h"
#include "testbench/lua/stack.h"

namespace vinic::testbench::lua {

namespace {

using driver::internet_address;
using driver::socket_error;
using driver::socket_layer;
using driver::socket_result;

socket_layer& layer_of(script& self) {
    socket_layer* layer = self.current().environment->sockets;
    if (!layer)
        throw script_error(
            "sockets: the node's card is no Ethernet card; designs with one are mvia_fe, mvia_ge, udp_fe, "
            "udp_ge");
    return *layer;
}

host::process& process_of(script& self) { return self.current().environment->self; }

int descriptor_of(lua_State* L) { return static_cast<int>(integer_argument(L, 1, "socket")); }

int push_result(lua_State* L, const socket_result& result) {
    if (result.error != socket_error::none) {
        lua_pushnil(L);
        lua_pushstring(L, driver::name_of(result.error));
        return 2;
    }
    lua_pushinteger(L, static_cast<lua_Integer>(result.value));
    return 1;
}

internet_address address_argument(lua_State* L, int index) {
    if (!lua_istable(L, index)) wrong_argument(L, index, "address", "a table with host (a node) and port");
    const std::int64_t node = integer_field(L, index, "host", 0);
    const std::int64_t port = integer_field(L, index, "port", 0);
    if (node < 0 || node > 0xFFFF || port < 0 || port > 0xFFFF)
        throw script_error("address: expected a node and a port of at most 65535");
    return {driver::host_of_node(static_cast<unsigned>(node)), static_cast<std::uint16_t>(port)};
}

void push_address(lua_State* L, const internet_address& a) {
    lua_newtable(L);
    lua_pushinteger(L, a.host - driver::host_of_node(0));
    lua_setfield(L, -2, "host");
    lua_pushinteger(L, a.port);
    lua_setfield(L, -2, "port");
}

/// memory, offset, bytes at `index`: the address of a buffer.
host::virtual_address buffer_argument(lua_State* L, int index, std::uint64_t& bytes) {
    const memory_block& block = memory_argument(L, index, "buffer");
    const std::uint64_t offset = unsigned_argument(L, index + 1, "offset");
    bytes = unsigned_argument(L, index + 2, "bytes");
    if (offset > block.bytes || bytes > block.bytes - offset)
        throw script_error("buffer: it reaches beyond its memory");
    return reinterpret_cast<host::virtual_address>(block.begin) + offset;
}

/// fd = socket(type): SOCK_DGRAM or SOCK_STREAM.
int socket(lua_State* L, script& self) {
    const bool stream = integer_argument(L, 1, "socket: type") != 0;
    return push_result(L, layer_of(self).socket(process_of(self), stream ? driver::socket_type::stream
                                                                         : driver::socket_type::datagram));
}

/// bind(fd, port)
int bind(lua_State* L, script& self) {
    const std::uint64_t port = unsigned_argument(L, 2, "bind: port");
    if (port > 0xFFFF) throw script_error("bind: expected a port of at most 65535");
    return push_result(
        L, layer_of(self).bind(process_of(self), descriptor_of(L), static_cast<std::uint16_t>(port)));
}

int listen(lua_State* L, script& self) {
    return push_result(L, layer_of(self).listen(process_of(self), descriptor_of(L)));
}

/// fd, peer = accept(fd)
int accept(lua_State* L, script& self) {
    internet_address peer;
    const socket_result result = layer_of(self).accept(process_of(self), descriptor_of(L), peer);
    const int count = push_result(L, result);
    if (result.error != socket_error::none) return count;
    push_address(L, peer);
    return 2;
}

/// connect(fd, address)
int connect(lua_State* L, script& self) {
    return push_result(L, layer_of(self).connect(process_of(self), descriptor_of(L), address_argument(L, 2)));
}

/// sent = send(fd, memory, offset, bytes)
int send(lua_State* L, script& self) {
    std::uint64_t bytes = 0;
    const host::virtual_address at = buffer_argument(L, 2, bytes);
    return push_result(L, layer_of(self).send(process_of(self), descriptor_of(L), at, bytes));
}

/// sent = sendto(fd, memory, offset, bytes, address)
int sendto(lua_State* L, script& self) {
    std::uint64_t bytes = 0;
    const host::virtual_address at = buffer_argument(L, 2, bytes);
    return push_result(
        L, layer_of(self).sendto(process_of(self), descriptor_of(L), at, bytes, address_argument(L, 5)));
}

/// bytes, from = recvfrom(fd, memory, offset, bytes [, MSG_DONTWAIT])
int recvfrom(lua_State* L, script& self) {
    std::uint64_t bytes = 0;
    const host::virtual_address at = buffer_argument(L, 2, bytes);
    const bool wait = lua_isnoneornil(L, 5) || integer_argument(L, 5, "flags") == 0;
    internet_address from;
    const socket_result result =
        layer_of(self).recvfrom(process_of(self), descriptor_of(L), at, bytes, wait, from);
    const int count = push_result(L, result);
    if (result.error != socket_error::none) return count;
    push_address(L, from);
    return 2;
}

/// bytes = recv(fd, memory, offset, bytes [, MSG_DONTWAIT])
int recv(lua_State* L, script& self) {
    const int count = recvfrom(L, self);
    if (count == 2 && lua_istable(L, -1)) {
        lua_pop(L, 1);
        return 1;
    }
    return count;
}

/// setsockopt(fd, option, value)
int setsockopt(lua_State* L, script& self) {
    const std::uint64_t what = unsigned_argument(L, 2, "setsockopt: option");
    if (what > static_cast<std::uint64_t>(driver::socket_option::receive_timeout_us))
        throw script_error("setsockopt: expected SO_RCVBUF, SO_SNDBUF, TCP_NODELAY or SO_RCVTIMEO");
    return push_result(L, layer_of(self).setsockopt(process_of(self), descriptor_of(L),
                                                    static_cast<driver::socket_option>(what),
                                                    unsigned_argument(L, 3, "setsockopt: value")));
}

int close(lua_State* L, script& self) {
    return push_result(L, layer_of(self).close(process_of(self), descriptor_of(L)));
}

constexpr luaL_Reg functions[] = {
    {"socket", guarded<socket>},         {"bind", guarded<bind>},       {"listen", guarded<listen>},
    {"accept", guarded<accept>},         {"connect", guarded<connect>}, {"send", guarded<send>},
    {"sendto", guarded<sendto>},         {"recv", guarded<recv>},       {"recvfrom", guarded<recvfrom>},
    {"setsockopt", guarded<setsockopt>}, {"close", guarded<close>}};

constexpr std::pair<const char*, int> constants[] = {
    {"SOCK_DGRAM", 0},
    {"SOCK_STREAM", 1},
    {"MSG_DONTWAIT", 1},
    {"SO_RCVBUF", static_cast<int>(driver::socket_option::receive_buffer)},
    {"SO_SNDBUF", static_cast<int>(driver::socket_option::send_buffer)},
    {"TCP_NODELAY", static_cast<int>(driver::socket_option::no_delay)},
    {"SO_RCVTIMEO", static_cast<int>(driver::socket_option::receive_timeout_us)}};

}  // namespace

void open_socket_library(lua_State* L) {
    for (const auto& [name, function] : functions) lua_register(L, name, function);
    for (const auto& [name, value] : constants) {
        lua_pushinteger(L, value);
        lua_setglobal(L, name);
    }
    push(L, script::of(L).transport());
    lua_setglobal(L, "default_transport");
    lua_newtable(L);
    for (const std::string& one : script::of(L).transports()) {
        push(L, one);
        lua_rawseti(L, -2, static_cast<lua_Integer>(lua_rawlen(L, -2)) + 1);
    }
    lua_setglobal(L, "transports");
}

}  // namespace vinic::testbench::lua
