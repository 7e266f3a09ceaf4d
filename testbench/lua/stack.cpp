// SPDX-License-Identifier: Apache-2.0
#include "testbench/lua/stack.h"

#include <fmt/format.h>

namespace vinic::testbench::lua {

namespace {

template <typename Read>
auto field(lua_State* L, int index, const char* name, Read read) {
    lua_getfield(L, index, name);
    auto value = read();
    lua_pop(L, 1);
    return value;
}

}  // namespace

void wrong_argument(lua_State* L, int index, const char* what, const char* expected) {
    throw script_error(fmt::format("{}: expected {}, got {}", what, expected, luaL_typename(L, index)));
}

std::int64_t integer_argument(lua_State* L, int index, const char* what) {
    int is_integer = 0;
    const lua_Integer value = lua_tointegerx(L, index, &is_integer);
    if (!is_integer) wrong_argument(L, index, what, "an integer");
    return value;
}

std::uint64_t unsigned_argument(lua_State* L, int index, const char* what) {
    const std::int64_t value = integer_argument(L, index, what);
    if (value < 0) throw script_error(fmt::format("{}: expected no negative number, got {}", what, value));
    return static_cast<std::uint64_t>(value);
}

std::string text_argument(lua_State* L, int index, const char* what) {
    if (lua_type(L, index) != LUA_TSTRING) wrong_argument(L, index, what, "a string");
    std::size_t size = 0;
    const char* text = lua_tolstring(L, index, &size);
    return {text, size};
}

double number_field(lua_State* L, int index, const char* name, double otherwise) {
    return field(L, index, name, [&] {
        if (lua_isnil(L, -1)) return otherwise;
        if (lua_type(L, -1) != LUA_TNUMBER) wrong_argument(L, -1, name, "a number");
        return lua_tonumber(L, -1);
    });
}

std::int64_t integer_field(lua_State* L, int index, const char* name, std::int64_t otherwise) {
    return field(L, index, name,
                 [&] { return lua_isnil(L, -1) ? otherwise : integer_argument(L, -1, name); });
}

std::string text_field(lua_State* L, int index, const char* name, const std::string& otherwise) {
    return field(L, index, name, [&] { return lua_isnil(L, -1) ? otherwise : text_argument(L, -1, name); });
}

bool flag_field(lua_State* L, int index, const char* name, bool otherwise) {
    return field(L, index, name, [&] {
        if (lua_isnil(L, -1)) return otherwise;
        if (!lua_isboolean(L, -1)) wrong_argument(L, -1, name, "true or false");
        return lua_toboolean(L, -1) != 0;
    });
}

void push(lua_State* L, const std::string& text) { lua_pushlstring(L, text.data(), text.size()); }

}  // namespace vinic::testbench::lua
