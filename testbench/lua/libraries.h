// SPDX-License-Identifier: Apache-2.0
#pragma once

struct lua_State;

namespace vinic::testbench::lua {

/// Lua's own libraries, shut in and made reproducible (prelude.lua has the part that is written in Lua).
void open_sandbox(lua_State* L, bool unsafe);
/// argument, process, now, compute, barrier, row, check ...
void open_workload_library(lua_State* L);
/// memory and descriptors in the process's arena.
void open_memory_library(lua_State* L);
/// The functions and constants of VIPL.
void open_vipl_library(lua_State* L);
/// BSD sockets, of nodes that have them.
void open_socket_library(lua_State* L);
/// Executes prelude.lua, which needs the others.
void run_prelude(lua_State* L);

}  // namespace vinic::testbench::lua
