// SPDX-License-Identifier: Apache-2.0

// What the card holds, and the block that the driver knows as `card_interface`. The doorbell pages are most
// of a card's 1 MB.
#pragma once

#include "firmware/abi/myvia_card.h"

namespace vinic::bvia {

inline constexpr uint32_t max_vis = 64;
inline constexpr uint32_t max_regions = 1024;
inline constexpr uint32_t max_completion_queues = 16;
inline constexpr uint32_t max_processes = 8;
inline constexpr uint32_t max_segments = 252;
inline constexpr uint32_t max_transfer_bytes = 65536;

}  // namespace vinic::bvia

extern "C" {
// Not zero at the start, so that it lies in .data: the driver fills in its part before the LANai runs.
inline volatile vinic::abi::myvia::card_interface_block card_interface = {
    .magic = vinic::abi::myvia::magic, .version = vinic::abi::myvia::interface_version};
}
