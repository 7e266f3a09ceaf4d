// SPDX-License-Identifier: Apache-2.0
// The generations of the LANai that a card may carry, and what differs between them (facts lanai_pcix.md B1,
// B2).
#pragma once

#include <cstdint>
#include <string>

namespace vinic::nic {

enum class chip : std::uint8_t { lanai4, lanai7, lanai9 };

/// Defaults of the parameters that depend on the chip.
struct chip_traits {
    chip kind;
    std::uint64_t clock_mhz;        // B1
    std::uint64_t slots_per_cycle;  // B2: SRAM accesses in a cycle of the core
    std::uint64_t slot_bytes;       // B2: width of the local bus
    std::uint64_t sram_bytes;       // B1
};

/// `name` is the value of the card's parameter `chip`.
const chip_traits& traits_of(const std::string& name);

}  // namespace vinic::nic
