// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lua.hpp>

#include <cstdint>
#include <exception>
#include <string>

#include "testbench/lua/script.h"

namespace vinic::testbench::lua {

/// Arguments of a function that a script called; throw script_error, which unwinds C++ frames, where Lua's
/// own checks would jump over them.
std::int64_t integer_argument(lua_State* L, int index, const char* what);
std::uint64_t unsigned_argument(lua_State* L, int index, const char* what);
std::string text_argument(lua_State* L, int index, const char* what);
[[noreturn]] void wrong_argument(lua_State* L, int index, const char* what, const char* expected);

/// Field of the table at `index`: as number, integer, text or flag; `otherwise` when it is nil.
double number_field(lua_State* L, int index, const char* name, double otherwise);
std::int64_t integer_field(lua_State* L, int index, const char* name, std::int64_t otherwise);
std::string text_field(lua_State* L, int index, const char* name, const std::string& otherwise);
bool flag_field(lua_State* L, int index, const char* name, bool otherwise);

void push(lua_State* L, const std::string& text);

/// Makes a C function of Lua from `Function`, which may throw: script_error becomes a Lua error with the
/// script's position; anything else is kept for the kernel while Lua unwinds, and every later call fails too.
template <int (*Function)(lua_State*, script&)>
int guarded(lua_State* L) {
    script& self = script::of(L);
    script::task* const caller = self.running();
    bool failed = self.failed();
    int results = 0;
    if (failed) lua_pushliteral(L, "the run has failed");
    try {
        if (!failed) results = Function(L, self);
    } catch (const script_error& error) {
        luaL_where(L, 1);
        lua_pushstring(L, error.what());
        lua_concat(L, 2);
        failed = true;
    } catch (...) {
        self.keep_failure(std::current_exception());
        lua_pushliteral(L, "the run has failed");
        failed = true;
    }
    // Others ran while the function waited.
    self.running(caller);
    return failed ? lua_error(L) : results;
}

}  // namespace vinic::testbench::lua
