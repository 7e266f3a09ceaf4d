// SPDX-License-Identifier: Apache-2.0
#include "host_driver/myvia_queues.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "firmware/abi/vi_descriptor.h"
#include "host_driver/byte_order.h"

namespace vinic::driver {

namespace myvia = abi::myvia;

contiguous_memory::contiguous_memory(host::memory& ram, std::uint64_t bytes, contents initially)
    : ram_(ram), bytes_(bytes), begin_(ram.allocate_contiguous(bytes)) {
    if (initially == contents::any) return;
    std::array<std::byte, host::page_bytes> zeros{};
    for (std::uint64_t done = 0; done < bytes_; done += zeros.size())
        ram_.write(begin_ + done,
                   std::span(zeros).first(std::min<std::uint64_t>(zeros.size(), bytes_ - done)));
}

std::uint32_t contiguous_memory::read_big(std::uint64_t offset) const {
    std::array<std::byte, 4> bytes;
    ram_.read(begin_ + offset, bytes);
    return big_endian(std::bit_cast<std::uint32_t>(bytes));
}

void contiguous_memory::write_big(std::uint64_t offset, std::uint32_t value) {
    ram_.write(begin_ + offset, std::bit_cast<std::array<std::byte, 4>>(big_endian(value)));
}

void myvia_doorbell_page::ring(host::process& on, myvia::doorbell_op op, std::uint32_t number,
                               const std::uint32_t& data) {
    const host::poll_point credits{.key = host_page(),
                                   .cost = poll_clocks_,
                                   .watched = {.begin = host_page(), .bytes = sizeof(myvia::host_page)}};
    while (!has_credit()) on.poll(credits, [this] { return has_credit(); });
    const std::uint32_t entry =
        page_ + (written_++ % myvia::doorbells_per_page) * std::uint32_t{sizeof(myvia::doorbell)};
    card_.store_big(on, entry + offsetof(myvia::doorbell, data), data);
    card_.store_big(on, entry + offsetof(myvia::doorbell, what),
                    myvia::doorbell_valid | std::uint32_t{op} << 16 | number);
}

myvia_work_queue::myvia_work_queue(host::memory& ram, std::shared_ptr<myvia_doorbell_page> doorbells,
                                   std::uint32_t vi, bool receive, std::uint32_t slots)
    : ring_(ram, std::uint64_t{slots} * myvia::slot_bytes, contiguous_memory::contents::any),
      doorbells_(std::move(doorbells)),
      vi_(vi),
      receive_(receive),
      posted_from_(slots) {}

void myvia_work_queue::post(host::process& on, std::span<const std::byte, descriptor_bytes> descriptor,
                            host::virtual_address where, std::uint32_t handle) {
    static_assert(descriptor_bytes == myvia::slot_bytes);
    on.copy(descriptor_bytes);
    std::array<std::byte, descriptor_bytes> slot;
    std::memcpy(slot.data(), descriptor.data(), slot.size());
    abi::vi_control_segment control;
    std::memcpy(&control, slot.data(), sizeof control);
    control.next = where;
    control.next_handle = handle;
    control.status = 0;
    std::memcpy(slot.data(), &control, sizeof control);
    ring_.ram().write(ring_.begin() + slot_offset(posted_), slot);
    posted_from_[posted_ & (capacity() - 1)] = where;
    ++posted_;
    doorbells_->ring(on, receive_ ? myvia::doorbell_receive : myvia::doorbell_send, vi_, posted_);
}

host::physical_range myvia_work_queue::status_of(std::uint32_t number) const {
    return {.begin = ring_.begin() + slot_offset(number) + offsetof(abi::vi_control_segment, status),
            .bytes = sizeof(std::uint32_t)};
}

bool myvia_work_queue::head_done() const {
    if (empty()) return false;
    std::array<std::byte, 4> status;
    ring_.ram().read(head().begin, status);
    return (std::bit_cast<std::uint32_t>(status) & abi::vi_status_done) != 0;
}

descriptor_completion myvia_work_queue::take() {
    std::array<std::byte, sizeof(abi::vi_control_segment)> bytes;
    ring_.ram().read(ring_.begin() + slot_offset(taken_), bytes);
    const auto control = std::bit_cast<abi::vi_control_segment>(bytes);
    const host::virtual_address descriptor = posted_from_[taken_ & (capacity() - 1)];
    ++taken_;
    return {.descriptor = descriptor,
            .immediate_data = control.immediate_data,
            .length = control.length,
            .status = control.status};
}

void myvia_work_queue::arm(host::process& on) {
    const std::uint32_t seen = taken_;
    doorbells_->ring(on, receive_ ? myvia::doorbell_arm_receive : myvia::doorbell_arm_send, vi_, seen);
}

host::physical_range myvia_completion_queue::head() const {
    return {.begin = ring_.begin() + offset(taken_), .bytes = sizeof(myvia::completion_entry)};
}

bool myvia_completion_queue::valid(std::uint32_t number) const {
    return ring_.read_big(offset(number) + offsetof(myvia::completion_entry, valid)) == pass(number);
}

completion_queue::entry myvia_completion_queue::take() {
    const std::uint32_t word =
        ring_.read_big(offset(taken_) + offsetof(myvia::completion_entry, vi_and_queue));
    ++taken_;
    skip_forgotten();
    return {.vi = word & ~myvia::completion_receive, .receive = (word & myvia::completion_receive) != 0};
}

std::uint32_t myvia_completion_queue::pending() const {
    std::uint32_t count = 0;
    for (std::uint32_t number = taken_; number - taken_ < entries_ && valid(number); ++number)
        count += forgotten_.count(number) == 0;
    return count;
}

// The card counts the queue's completions across its rings.
void myvia_completion_queue::continues(const completion_queue& before) {
    const auto& old = static_cast<const myvia_completion_queue&>(before);
    seen_before_ = old.seen_before_ + old.taken_;
}

void myvia_completion_queue::forget(std::uint32_t vi) {
    for (std::uint32_t number = taken_; number - taken_ < entries_ && valid(number); ++number) {
        const std::uint32_t word =
            ring_.read_big(offset(number) + offsetof(myvia::completion_entry, vi_and_queue));
        if ((word & ~myvia::completion_receive) == vi) forgotten_.insert(number);
    }
    skip_forgotten();
}

void myvia_completion_queue::skip_forgotten() {
    while (forgotten_.erase(taken_) != 0) ++taken_;
}

void myvia_completion_queue::arm(host::process& on) {
    const std::uint32_t seen = seen_before_ + taken_;
    doorbells_->ring(on, myvia::doorbell_arm_queue, queue_, seen);
}

}  // namespace vinic::driver
