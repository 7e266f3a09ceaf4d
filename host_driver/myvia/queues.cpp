// SPDX-License-Identifier: Apache-2.0
#include "host_driver/myvia/queues.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "firmware/abi/card_map.h"
#include "firmware/abi/vi_descriptor.h"
#include "host_driver/byte_order.h"

namespace vinic::driver {

namespace myvia = abi::myvia;

namespace {

/// The first 64 bytes of a descriptor, as a program writes them.
struct written_descriptor {
    abi::vi_control_segment control;
    std::array<abi::vi_data_segment, myvia::slot_segments> segments;
};

/// Fields that are turned round: of the control segment all but status, which is zero; of each segment in use
/// all three.
host::clocks swaps(const abi::vi_control_segment& control) {
    return 6 + 3 * std::min<host::clocks>(control.segment_count, myvia::slot_segments);
}

myvia::slot slot_of(const written_descriptor& from, host::virtual_address where, std::uint32_t handle) {
    const abi::vi_control_segment& control = from.control;
    myvia::slot made{
        .next = big_endian(where),
        .next_handle = big_endian(handle),
        .control_and_count = big_endian(std::uint32_t{control.control} << 16 | control.segment_count),
        .reserved = big_endian(control.reserved),
        .immediate = big_endian(control.immediate_data),
        .length = big_endian(control.length),
        .status = 0,
        .segments = {}};
    for (std::size_t i = 0; i != from.segments.size(); ++i) {
        const abi::vi_data_segment& s = from.segments[i];
        made.segments[i] = {big_endian(s.data), big_endian(s.handle), big_endian(s.length)};
    }
    return made;
}

}  // namespace

void myvia_credited_doorbells::ring(host::process& on, myvia::doorbell_op op, std::uint32_t number,
                                    const std::uint32_t& data) {
    const host::poll_point credits{.key = host_page(),
                                   .cost = poll_clocks_,
                                   .watched = {.begin = host_page(), .bytes = sizeof(myvia::host_page)}};
    while (!has_credit()) on.poll(credits, [this] { return has_credit(); });
    store(on, written_++, op, number, data);
}

void myvia_doorbell_page::store(host::process& on, std::uint32_t place, myvia::doorbell_op op,
                                std::uint32_t number, const std::uint32_t& data) {
    const std::uint32_t entry =
        page_ + (place % myvia::doorbells_per_page) * std::uint32_t{sizeof(myvia::doorbell)};
    card_.store_big(on, entry + offsetof(myvia::doorbell, data), data);
    card_.store_big(on, entry + offsetof(myvia::doorbell, what),
                    myvia::doorbell_valid | std::uint32_t{op} << 16 | number);
}

void myvia_doorbell_region::store(host::process& on, std::uint32_t, myvia::doorbell_op op,
                                  std::uint32_t number, const std::uint32_t& data) {
    const std::uint32_t page = op == myvia::doorbell_arm_queue ? queues_ + number : number;
    card_.store_big(on,
                    abi::card_map::doorbells + page * abi::card_map::doorbell_page_bytes +
                        std::uint32_t{op} * std::uint32_t{sizeof(std::uint32_t)},
                    data);
}

// A word that was on its way while another thread wrote a later one takes its place: said again then, without
// the entry of a pushed message, whose slot is no longer the last one.
void myvia_vi_pages::ring(host::process& on, myvia::doorbell_op op, std::uint32_t number,
                          const std::uint32_t& data) {
    const bool pushes = op >= myvia::doorbell_send_pushed;
    const bool arms = !pushes && op >= myvia::doorbell_arm_send;
    const std::uint32_t word = pushes ? std::uint32_t{myvia::doorbell_send} : op;
    const std::uint32_t page = op == myvia::doorbell_arm_queue ? queues_ + number : number;
    const std::uint32_t at = pages_ + page * myvia::doorbell_page_bytes + word * std::uint32_t{sizeof(data)};
    const std::uint32_t what = myvia::doorbell_valid | (arms ? (arms_++ % 2048) << 20 : 0) | word << 16;
    std::uint32_t entry = pushes ? (op - myvia::doorbell_send_pushed + 1) << 20 : 0;
    std::uint32_t said;
    do {
        said = data;
        card_.store_big(on, at, what | entry | (said & 0xFFFF));
        entry = 0;
    } while (said != data);
}

myvia_work_queue::myvia_work_queue(host::memory& ram, std::shared_ptr<myvia_doorbells> doorbells,
                                   std::uint32_t vi, bool receive, std::uint32_t slots,
                                   host::clocks swap_clocks, std::optional<myvia_tokens> tokens)
    : ring_(ram, std::uint64_t{slots} * myvia::slot_bytes, contiguous_memory::contents::any),
      doorbells_(std::move(doorbells)),
      vi_(vi),
      receive_(receive),
      swap_clocks_(swap_clocks),
      tokens_(tokens),
      posted_from_(slots) {}

myvia::slot myvia_work_queue::make_slot(host::process& on,
                                        std::span<const std::byte, descriptor_bytes> descriptor,
                                        host::virtual_address where, std::uint32_t handle) const {
    static_assert(descriptor_bytes == myvia::slot_bytes);
    on.copy(descriptor_bytes);
    written_descriptor program;
    std::memcpy(&program, descriptor.data(), sizeof program);
    on.compute(swap_clocks_ * swaps(program.control));
    return slot_of(program, where, handle);
}

void myvia_work_queue::put(host::process& on, const myvia::slot& slot, host::virtual_address from) {
    const auto bytes = std::bit_cast<std::array<std::byte, descriptor_bytes>>(slot);
    ring_.ram().write(ring_.begin() + slot_offset(posted_), bytes);
    posted_from_[posted_ & (capacity() - 1)] = from;
    if (tokens_) tokens_->write(on, posted_, bytes);
    ++posted_;
}

void myvia_work_queue::post(host::process& on, std::span<const std::byte, descriptor_bytes> descriptor,
                            host::virtual_address where, std::uint32_t handle) {
    put(on, make_slot(on, descriptor, where, handle), where);
    ring(on, receive_ ? myvia::doorbell_receive : myvia::doorbell_send);
}

void myvia_tokens::write(host::process& on, std::uint32_t number,
                         std::span<const std::byte, descriptor_bytes> slot) const {
    card.store_block(on, first + number % places * myvia::slot_bytes, slot);
    card.fence(on);
}

host::physical_range myvia_work_queue::status_of(std::uint32_t number) const {
    return {.begin = ring_.begin() + slot_offset(number) + offsetof(abi::vi_control_segment, status),
            .bytes = sizeof(std::uint32_t)};
}

bool myvia_work_queue::head_done() const {
    if (empty()) return false;
    std::array<std::byte, 4> status;
    ring_.ram().read(head().begin, status);
    return (big_endian(std::bit_cast<std::uint32_t>(status)) & abi::vi_status_done) != 0;
}

descriptor_completion myvia_work_queue::take() {
    std::array<std::byte, sizeof(myvia::slot)> bytes;
    ring_.ram().read(ring_.begin() + slot_offset(taken_), bytes);
    const auto slot = std::bit_cast<myvia::slot>(bytes);
    const host::virtual_address descriptor = posted_from_[taken_ & (capacity() - 1)];
    ++taken_;
    return {.descriptor = descriptor,
            .immediate_data = big_endian(slot.immediate),
            .length = big_endian(slot.length),
            .status = big_endian(slot.status)};
}

void myvia_work_queue::arm(host::process& on) {
    const std::uint32_t seen = taken_;
    doorbells_->ring(on, receive_ ? myvia::doorbell_arm_receive : myvia::doorbell_arm_send, vi_, seen);
}

void myvia_completion_queue::arm(host::process& on) {
    const std::uint32_t upto = seen();
    doorbells_->ring(on, myvia::doorbell_arm_queue, queue_, upto);
}

}  // namespace vinic::driver
