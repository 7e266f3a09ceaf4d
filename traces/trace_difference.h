// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hw/sim/time.h"

namespace vinic::traces {

/// The first event in which two traces of one kind differ.
struct trace_difference {
    std::uint64_t line = 0;             ///< of text, or number of the packet; from 1
    std::optional<std::string> before;  ///< empty: the trace has ended
    std::optional<std::string> after;
    std::optional<sim::picoseconds> before_at, after_at;
};

/// None when they are the same. Packets are compared as interface, direction, stamp, comment and bytes.
std::optional<trace_difference> first_difference(std::string_view before, std::string_view after);

}  // namespace vinic::traces
