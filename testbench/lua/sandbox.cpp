// SPDX-License-Identifier: Apache-2.0
#include <lua.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

#include "testbench/lua/libraries.h"
#include "testbench/lua/prelude.h"
#include "testbench/lua/stack.h"

namespace vinic::testbench::lua {

namespace {

/// A key of a table, for sorting: flags, then numbers, then texts. `index`: where the key itself is on the
/// stack.
struct key {
    int rank = 0;
    lua_Integer integer = 0;
    lua_Number number = 0;
    bool is_integer = false;
    std::string_view text;
    lua_Integer index = 0;

    bool operator<(const key& other) const {
        if (rank != other.rank) return rank < other.rank;
        if (rank == 2) return text < other.text;
        if (is_integer && other.is_integer) return integer < other.integer;
        return number < other.number;
    }
};

key describe_key(lua_State* L, int at) {
    key k;
    switch (lua_type(L, at)) {
        case LUA_TBOOLEAN:
            k.integer = lua_toboolean(L, at);
            k.is_integer = true;
            break;
        case LUA_TNUMBER:
            k.rank = 1;
            k.is_integer = lua_isinteger(L, at);
            k.integer = k.is_integer ? lua_tointeger(L, at) : 0;
            k.number = lua_tonumber(L, at);
            break;
        case LUA_TSTRING: {
            std::size_t size = 0;
            k.rank = 2;
            const char* text = lua_tolstring(L, at, &size);
            k.text = {text, size};
            break;
        }
        default:
            k.rank = 3;
    }
    return k;
}

/// ordered_keys(table): its keys in an order that is the same in every run.
int ordered_keys(lua_State* L, script&) {
    if (!lua_istable(L, 1)) wrong_argument(L, 1, "pairs", "a table");
    std::vector<key> keys;
    lua_newtable(L);  // 2: the keys as they come
    for (lua_pushnil(L); lua_next(L, 1) != 0;) {
        lua_pop(L, 1);
        keys.push_back(describe_key(L, -1));
        keys.back().index = static_cast<lua_Integer>(keys.size());
        lua_pushvalue(L, -1);
        lua_rawseti(L, 2, keys.back().index);
    }
    std::sort(keys.begin(), keys.end());
    if (keys.size() > 1 && keys[keys.size() - 2].rank == 3)
        throw script_error(
            "pairs: keys that are tables, functions or handles have no order that is the same in every run");
    lua_createtable(L, static_cast<int>(keys.size()), 0);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        lua_rawgeti(L, 2, keys[i].index);
        lua_rawseti(L, 3, static_cast<lua_Integer>(i) + 1);
    }
    return 1;
}

/// math.random with the stream of the process that calls it: same arguments as Lua's.
int random(lua_State* L, script& self) {
    sim::random_stream& stream = self.random();
    if (lua_gettop(L) == 0) {
        lua_pushnumber(L, static_cast<lua_Number>(stream.next() >> 11) * 0x1p-53);
        return 1;
    }
    const bool one = lua_gettop(L) == 1;
    const std::int64_t low = one ? 1 : integer_argument(L, 1, "math.random");
    const std::int64_t high = integer_argument(L, one ? 1 : 2, "math.random");
    if (one && high == 0) {
        lua_pushinteger(L, static_cast<lua_Integer>(stream.next()));
        return 1;
    }
    if (low > high) throw script_error("math.random: the interval is empty");
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    const std::uint64_t offset = span == ~std::uint64_t{0} ? stream.next() : stream.below(span + 1);
    lua_pushinteger(L, static_cast<lua_Integer>(static_cast<std::uint64_t>(low) + offset));
    return 1;
}

int random_seed(lua_State* L, script& self) {
    self.random() = sim::random_stream(unsigned_argument(L, 1, "math.randomseed"), "math.randomseed");
    return 0;
}

void remove_globals(lua_State* L, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        lua_pushnil(L);
        lua_setglobal(L, name);
    }
}

void set_field(lua_State* L, const char* table, const char* name, lua_CFunction function) {
    lua_getglobal(L, table);
    if (function)
        lua_pushcfunction(L, function);
    else
        lua_pushnil(L);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

}  // namespace

void open_sandbox(lua_State* L, bool unsafe) {
    if (unsafe) {
        luaL_openlibs(L);
    } else {
        for (const auto& [name, open] : {luaL_Reg{LUA_GNAME, luaopen_base},
                                         {LUA_COLIBNAME, luaopen_coroutine},
                                         {LUA_TABLIBNAME, luaopen_table},
                                         {LUA_STRLIBNAME, luaopen_string},
                                         {LUA_MATHLIBNAME, luaopen_math},
                                         {LUA_UTF8LIBNAME, luaopen_utf8}}) {
            luaL_requiref(L, name, open, 1);
            lua_pop(L, 1);
        }
        remove_globals(L, {"dofile", "loadfile", "collectgarbage", "warn"});
        set_field(L, "string", "dump", nullptr);
    }
    lua_pushboolean(L, unsafe);
    lua_setglobal(L, "unsafe");
    set_field(L, "math", "random", guarded<random>);
    set_field(L, "math", "randomseed", guarded<random_seed>);
    lua_register(L, "ordered_keys", guarded<ordered_keys>);
}

void run_prelude(lua_State* L) {
    if (luaL_loadbufferx(L, prelude, std::char_traits<char>::length(prelude), "=prelude", "t") != LUA_OK ||
        lua_pcall(L, 0, 0, 0) != LUA_OK)
        throw std::logic_error(lua_tostring(L, -1));
}

}  // namespace vinic::testbench::lua
