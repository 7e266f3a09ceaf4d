// SPDX-License-Identifier: Apache-2.0
#include "host_driver/vi_engine/queues.h"

#include <array>
#include <bit>
#include <cstring>

namespace vinic::driver {

namespace card = abi::vi_engine;

vi_engine_work_queue::vi_engine_work_queue(host::memory& ram, const vi_engine_page& doorbells, bool receive,
                                           std::uint32_t slots)
    : ring_(ram, std::uint64_t{slots} * card::slot_bytes, contiguous_memory::contents::any),
      doorbells_(doorbells),
      receive_(receive),
      posted_from_(slots) {}

void vi_engine_work_queue::post(host::process& on, std::span<const std::byte, descriptor_bytes> descriptor,
                                host::virtual_address where, std::uint32_t handle) {
    static_assert(descriptor_bytes == card::slot_bytes);
    on.copy(descriptor_bytes);
    card::slot slot;
    std::memcpy(&slot, descriptor.data(), sizeof slot);
    slot.control.next = where;
    slot.control.next_handle = handle;
    slot.control.status = 0;
    ring_.ram().write(ring_.begin() + slot_offset(posted_),
                      std::bit_cast<std::array<std::byte, sizeof slot>>(slot));
    posted_from_[posted_ & (capacity() - 1)] = where;
    ++posted_;
    doorbells_.ring(on, receive_ ? card::doorbell_receive : card::doorbell_send, posted_);
}

host::physical_range vi_engine_work_queue::status_of(std::uint32_t number) const {
    return {.begin = ring_.begin() + slot_offset(number) + offsetof(abi::vi_control_segment, status),
            .bytes = sizeof(std::uint32_t)};
}

bool vi_engine_work_queue::head_done() const {
    if (empty()) return false;
    std::array<std::byte, 4> status;
    ring_.ram().read(head().begin, status);
    return (std::bit_cast<std::uint32_t>(status) & abi::vi_status_done) != 0;
}

descriptor_completion vi_engine_work_queue::take() {
    std::array<std::byte, sizeof(card::slot)> bytes;
    ring_.ram().read(ring_.begin() + slot_offset(taken_), bytes);
    const auto slot = std::bit_cast<card::slot>(bytes);
    const host::virtual_address descriptor = posted_from_[taken_ & (capacity() - 1)];
    ++taken_;
    return {.descriptor = descriptor,
            .immediate_data = slot.control.immediate_data,
            .length = slot.control.length,
            .status = slot.control.status};
}

void vi_engine_work_queue::arm(host::process& on) {
    const std::uint32_t seen = taken_;
    doorbells_.ring(on, receive_ ? card::doorbell_arm_receive : card::doorbell_arm_send, seen);
}

void vi_engine_completion_queue::arm(host::process& on) {
    doorbells_.ring(on, card::doorbell_arm_queue, seen());
}

}  // namespace vinic::driver
