// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "testbench/lua/stack.h"
#include "vipl/vipl.h"

namespace vinic::testbench::lua {

/// A piece of a process's arena, as a script holds it. It lives as long as the process does.
struct memory_block {
    std::byte* begin;
    std::uint64_t bytes;
};

/// A VIP_DESCRIPTOR in such a piece, with room for so many segments.
struct descriptor_view {
    VIP_DESCRIPTOR* at;
    std::uint64_t segments;
};

memory_block& memory_argument(lua_State* L, int index, const char* what);
descriptor_view& descriptor_argument(lua_State* L, int index, const char* what);
/// Pushes the script's object for a descriptor that VIPL returns; nil for null.
void push_descriptor(lua_State* L, VIP_DESCRIPTOR* at);

}  // namespace vinic::testbench::lua
