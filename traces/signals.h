// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace vinic::traces {

/// The names that a waveform shows, in order. `globs` as in fnmatch, where a star matches dots too; none: all
/// names. What changes each cycle (program counter, instruction, stall cause, clocks) makes a trace of a
/// whole run too large to open at once, so it is shown only when a glob names it ("*.pc"), when a glob asks
/// for all of its block ("node0.nic.lanai.*"), or, of the clocks, when there is a window. Throws
/// sim::input_error for a glob that matches nothing.
std::vector<std::string> choose_signals(const std::vector<std::string>& names,
                                        const std::vector<std::string>& globs, bool windowed);

}  // namespace vinic::traces
