// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/doorbell_queues.h"

namespace vinic::nic {

using namespace abi::card_map;

void doorbell_queues::reset() {
    queues_ = {};
    control_ = 0;
}

void doorbell_queues::ring(std::uint32_t offset, std::uint32_t data) {
    queue& q = queues_[doorbell_queue(control_, offset)];
    const std::uint64_t entries = 512u << (control_ & CONTROL_FIFO_SIZE_MASK);
    const std::uint64_t bytes = entries * sizeof(doorbell_entry);
    const auto address = static_cast<std::uint32_t>(q.base + q.next % entries * sizeof(doorbell_entry));
    if (q.base + bytes > around_.sram_bytes() || !around_.is_free(address)) return around_.lost();
    ++q.next;
    around_.store(address, offset, data);
}

}  // namespace vinic::nic
