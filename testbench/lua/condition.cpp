// SPDX-License-Identifier: Apache-2.0
#include "testbench/lua/condition.h"

#include <lua.hpp>

#include "hw/sim/error.h"
#include "testbench/lua/libraries.h"

namespace vinic::testbench::lua {

namespace {

constexpr int most_instructions = 1'000'000;

/// Functions that need a script, or reach beyond the expression.
constexpr const char* cut_away = "math.random, math.randomseed, ordered_keys, print, load = nil";

/// names(prefix): a table of names in which one that has no value is an error.
constexpr const char* strict_tables = R"(
    function names(prefix)
        return setmetatable({}, {__index = function(_, key)
            error("'" .. prefix .. tostring(key) .. "' is no axis of the study", 0)
        end})
    end)";

void stop(lua_State* L, lua_Debug*) { luaL_error(L, "does not end"); }

}  // namespace

condition::condition(std::string text, std::string origin)
    : text_(std::move(text)), origin_(std::move(origin)), state_(luaL_newstate(), lua_close) {
    lua_State* const L = state_.get();
    if (!L) throw std::bad_alloc();
    open_sandbox(L, false);
    if (luaL_dostring(L, cut_away) != LUA_OK || luaL_dostring(L, strict_tables) != LUA_OK)
        throw std::logic_error(lua_tostring(L, -1));
    if (luaL_loadstring(L, ("return " + text_).c_str()) != LUA_OK) fail(lua_tostring(L, -1));
}

condition::~condition() = default;

void condition::fail(const std::string& what) const {
    const std::string where = "]:1: ";  // behind what Lua quotes of the expression
    const std::size_t at = what.find(where);
    throw sim::input_error("{}: only: {}: {}", origin_, text_,
                           at == std::string::npos ? what : what.substr(at + where.size()));
}

/// With the table of names on top of the stack.
void condition::set(const std::string& name, const std::string& value) const {
    lua_State* const L = state_.get();
    const int top = lua_gettop(L);
    std::size_t from = 0;
    for (std::size_t dot; (dot = name.find('.', from)) != std::string::npos; from = dot + 1) {
        const std::string part = name.substr(from, dot - from);
        lua_pushlstring(L, part.data(), part.size());
        if (lua_rawget(L, -2) != LUA_TTABLE) {
            lua_pop(L, 1);
            lua_getglobal(L, "names");
            lua_pushstring(L, name.substr(0, dot + 1).c_str());
            lua_call(L, 1, 1);
            lua_pushlstring(L, part.data(), part.size());
            lua_pushvalue(L, -2);
            lua_rawset(L, -4);
        }
    }
    lua_pushstring(L, name.substr(from).c_str());
    if (value == "true" || value == "false")
        lua_pushboolean(L, value == "true");
    else if (lua_stringtonumber(L, value.c_str()) == 0)
        lua_pushlstring(L, value.data(), value.size());
    lua_rawset(L, -3);
    lua_settop(L, top);
}

bool condition::holds(const std::vector<std::pair<std::string, std::string>>& values) const {
    lua_State* const L = state_.get();
    lua_settop(L, 1);
    lua_getglobal(L, "names");
    lua_pushliteral(L, "");
    lua_call(L, 1, 1);
    for (const char* library : {"math", "string", "tonumber", "tostring"}) {
        lua_getglobal(L, library);
        lua_setfield(L, 2, library);
    }
    for (const auto& [name, value] : values) set(name, value);
    lua_setupvalue(L, 1, 1);  // _ENV
    lua_sethook(L, stop, LUA_MASKCOUNT, most_instructions);
    lua_pushvalue(L, 1);
    if (lua_pcall(L, 0, 1, 0) != LUA_OK) fail(lua_tostring(L, -1));
    if (!lua_isboolean(L, -1)) fail("expected true or false");
    return lua_toboolean(L, -1);
}

}  // namespace vinic::testbench::lua
