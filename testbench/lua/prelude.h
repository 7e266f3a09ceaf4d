// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vinic::testbench::lua {

/// The text of prelude.lua.
extern const char* const prelude;

}  // namespace vinic::testbench::lua
