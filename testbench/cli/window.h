// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "hw/sim/clock_domain.h"
#include "testbench/cli/options.h"
#include "testbench/platform/platform.h"
#include "traces/window.h"

namespace vinic::testbench {

/// The clocks whose edges a user may name, by name.
using clock_map = std::map<std::string, sim::clock_domain>;
clock_map clocks_of(const platform& of);

/// The window that a trace's pair of options asks for; `option`: the trace's own, as in "--wave". Throws
/// input_error.
traces::window window_of(const std::string& option, const window_text& text, const platform& of);

}  // namespace vinic::testbench
