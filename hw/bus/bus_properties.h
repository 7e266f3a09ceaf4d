// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/bus/command.h"
#include "hw/sim/clock_domain.h"

namespace vinic::bus {

/// What every device on a bus knows of it.
struct bus_properties {
    bus_kind kind = bus_kind::pci;
    unsigned width_bytes = 4;
    sim::clock_domain clock{30'000, 1};
    bool free = false;                        ///< what-if: the bus takes no time
    std::uint32_t initial_limit_clocks = 16;  ///< from FRAME# to the end of the first data phase or STOP#
    std::uint32_t retry_delay_clocks = 2;     ///< from a retry to the repetition of the request
    std::uint32_t cache_line_bytes = 32;      ///< as the configuration registers of all devices say

    /// Most wait states that a target may answer with before it must retry or split instead, given its decode
    /// speed; `dual`: the address takes two phases.
    std::uint32_t max_initial_waits(std::uint32_t decode_clocks, bool dual = false) const {
        // PCI: address, decode and, on a read, one turnaround; PCI-X: address, attribute, response.
        const std::uint32_t first =
            kind == bus_kind::pci ? (decode_clocks > 2 ? decode_clocks : 2) + 1 : decode_clocks + 3;
        const std::uint32_t fixed = first + (dual ? 1 : 0);
        return initial_limit_clocks > fixed ? initial_limit_clocks - fixed : 0;
    }
};

/// PCI-X: a burst is disconnected at an allowable disconnect boundary only (facts/lanai_pcix.md C2).
inline constexpr std::uint64_t adb_bytes = 128;
/// PCI-X: most bytes of one sequence.
inline constexpr std::uint32_t max_sequence_bytes = 4096;
inline constexpr unsigned max_tags = 32;

}  // namespace vinic::bus
