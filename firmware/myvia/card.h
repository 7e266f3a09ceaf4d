// SPDX-License-Identifier: Apache-2.0

// What the card holds: limits, the block that the driver knows as `card_interface`, and the list of work that
// the main loop has yet to do.
#pragma once

#include "firmware/abi/myvia_card.h"
#include "firmware/abi/wire_format.h"
#include "firmware/common/descriptor.h"

namespace vinic::myvia {

using namespace common;

inline constexpr uint32_t max_vis = variant::max_vis;
inline constexpr uint32_t max_regions = 4096;
inline constexpr uint32_t max_completion_queues = 256;
inline constexpr uint32_t max_processes = 16;
inline constexpr uint32_t max_segments = 252;
inline constexpr uint32_t max_transfer_bytes = 65536;

// Results of a step: done, blocked until something arrives (the step is repeated then), or error bits of
// vi_status_bit, which these two values never are.
inline constexpr uint32_t step_done = 0;
inline constexpr uint32_t step_blocked = 1;

// Work that waits for the main loop.
enum work_bit : uint32_t {
    work_send = 1u << 0,
    work_receive = 1u << 1,
    work_wire = 1u << 2,
    work_flush = 1u << 3,
    work_events = 1u << 4,
    work_command = 1u << 5,
    work_acknowledge = 1u << 6,
    work_writes = 1u << 7,  // look at the channel of writes though nothing woke the card
    work_credits = 1u << 8,
    work_bells = 1u << 9  // several processes are open: stays set
};
inline uint32_t work;

}  // namespace vinic::myvia

extern "C" {
// Not zero at the start, so that it lies in .data: the driver fills in its part before the LANai runs.
inline volatile vinic::abi::myvia::card_interface_block card_interface = {
    .magic = vinic::abi::myvia::magic, .version = vinic::abi::myvia::interface_version};
}
