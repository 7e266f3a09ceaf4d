// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hw/sim/time.h"
#include "traces/waveform.h"

namespace vinic::traces {

/// The first event in which two traces of one kind differ.
struct trace_difference {
    std::uint64_t line = 0;             ///< of text, or number of the packet or of the change; from 1
    std::optional<std::string> before;  ///< empty: the trace has ended
    std::optional<std::string> after;
    std::optional<sim::picoseconds> before_at, after_at;
};

/// None when they are the same. Changes are numbered in order of time, then of names.
std::optional<trace_difference> first_difference(const waveform& before, const waveform& after);

/// None when they are the same; of other kinds than waveforms. Packets are compared as interface, direction,
/// stamp, comment and bytes.
std::optional<trace_difference> first_difference(std::string_view before, std::string_view after);

}  // namespace vinic::traces
