// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hw/sim/probe.h"
#include "traces/cable_ends.h"
#include "traces/trace_events.h"

namespace vinic::traces {

/// What the timeline makes of a probe.
struct timeline_row {
    enum class kind : std::uint8_t {
        spans,         ///< a slice for each span
        transactions,  ///< the same, without those that a target answers with a retry
        calls,         ///< the same, on a row of the process that the span names
        transmission,  ///< a packet on a cable
        reception,     ///< a packet that the receive engine takes
        packet,        ///< no row: names the transmission that is reported after it
        processor,     ///< a slice for each process that has it
        function,      ///< nested slices: which firmware function called which
        level,         ///< a slice while the value is not zero
        depth          ///< a counter
    };
    kind what = kind::spans;
    timeline_track track;
    std::string title;
    std::string meter;  ///< name of the utilisation counter that spans feed; empty: none
};

/// The process that groups what belongs to no node.
inline constexpr std::uint32_t fabric_process = 1'000'000;

/// "node3" is process 4, so that nodes come in order; all else belongs to the fabric.
std::uint32_t timeline_process_of(const std::string& name);

/// None when the timeline does not show the probe.
std::optional<timeline_row> timeline_row_of(const sim::probe&, const cable_map& cables);

/// The row of process `number` among those of its node.
timeline_track call_track(std::uint32_t process, std::uint64_t number);

}  // namespace vinic::traces
