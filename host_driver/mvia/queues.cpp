// SPDX-License-Identifier: Apache-2.0
#include "host_driver/mvia/queues.h"

#include <array>
#include <bit>
#include <utility>

#include "firmware/abi/vi_descriptor.h"
#include "host_driver/mvia/mvia_driver.h"
#include "hw/sim/time.h"

namespace vinic::driver {

mvia_work_queue::mvia_work_queue(mvia_driver& kernel, host::memory& ram, std::uint32_t vi, bool receive,
                                 std::uint32_t slots)
    : kernel_(kernel),
      ring_(ram, std::uint64_t{slots} * sizeof(slot), contiguous_memory::contents::any),
      vi_(vi),
      receive_(receive),
      posted_from_(slots),
      given_(slots) {}

void mvia_work_queue::post(host::process& on, std::span<const std::byte, descriptor_bytes> descriptor,
                           host::virtual_address where, std::uint32_t handle) {
    kernel_.post(on, vi_, receive_, descriptor, where, handle);
}

void mvia_work_queue::arm(host::process& on) { kernel_.arm(on, *this, armed_); }

bool mvia_work_queue::disarm() { return std::exchange(armed_, false); }

void mvia_work_queue::accept(host::virtual_address where, std::uint32_t immediate, std::uint32_t length) {
    const slot fresh{.status = 0, .immediate = immediate, .length = length, .reserved = 0};
    given_[posted_ & (capacity() - 1)] = fresh;
    ring_.ram().write(slot_of(posted_), std::bit_cast<std::array<std::byte, sizeof fresh>>(fresh));
    posted_from_[posted_ & (capacity() - 1)] = where;
    ++posted_;
}

host::physical_address mvia_work_queue::complete(std::uint32_t status, std::optional<std::uint32_t> length,
                                                 std::optional<std::uint32_t> immediate) {
    slot& done = given_[completed_ & (capacity() - 1)];
    done.status = status | abi::vi_status_done;
    if (length) done.length = *length;
    if (immediate) done.immediate = *immediate;
    ring_.ram().write_at(slot_of(completed_), std::bit_cast<std::array<std::byte, sizeof done>>(done),
                         sim::now() + 1);
    return status_of(completed_++).begin;
}

bool mvia_work_queue::head_done() const {
    if (empty()) return false;
    std::array<std::byte, 4> status;
    ring_.ram().read(head().begin, status);
    return (std::bit_cast<std::uint32_t>(status) & abi::vi_status_done) != 0;
}

descriptor_completion mvia_work_queue::take() {
    std::array<std::byte, sizeof(slot)> bytes;
    ring_.ram().read(slot_of(taken_), bytes);
    const auto done = std::bit_cast<slot>(bytes);
    const host::virtual_address descriptor = posted_from_[taken_ & (capacity() - 1)];
    ++taken_;
    return {.descriptor = descriptor,
            .immediate_data = done.immediate,
            .length = done.length,
            .status = done.status};
}

bool mvia_completion_queue::write(std::uint32_t vi, bool receive) {
    const words fresh{.vi_and_queue = vi | (receive ? of_receive_queue : 0u), .valid = pass(written_)};
    ring_.ram().write_at(ring() + offset(written_), std::bit_cast<std::array<std::byte, sizeof fresh>>(fresh),
                         sim::now() + 1);
    ++written_;
    return std::exchange(armed_, false);
}

}  // namespace vinic::driver
