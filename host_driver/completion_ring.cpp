// SPDX-License-Identifier: Apache-2.0
#include "host_driver/completion_ring.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "firmware/abi/myvia_card.h"
#include "firmware/abi/vi_engine_card.h"
#include "host_driver/byte_order.h"

namespace vinic::driver {

completion_ring::words completion_ring::at(std::uint32_t number) const {
    const auto is_laid_out_as = []<typename Entry>(const Entry&) {
        return sizeof(Entry) == sizeof(words) &&
               offsetof(Entry, vi_and_queue) == offsetof(words, vi_and_queue) &&
               offsetof(Entry, valid) == offsetof(words, valid);
    };
    static_assert(is_laid_out_as(abi::myvia::completion_entry{}));
    static_assert(is_laid_out_as(abi::vi_engine::completion_entry{}));
    static_assert(of_receive_queue == abi::myvia::completion_receive);
    static_assert(of_receive_queue == abi::vi_engine::completion_receive);
    std::array<std::byte, sizeof(words)> bytes;
    ring_.ram().read(ring_.begin() + offset(number), bytes);
    const auto found = std::bit_cast<words>(bytes);
    if (order_ == std::endian::native) return found;
    return {.vi_and_queue = byte_swapped(found.vi_and_queue), .valid = byte_swapped(found.valid)};
}

completion_queue::entry completion_ring::take() {
    const std::uint32_t word = at(taken_).vi_and_queue;
    ++taken_;
    skip_forgotten();
    return {.vi = word & ~of_receive_queue, .receive = (word & of_receive_queue) != 0};
}

std::uint32_t completion_ring::pending() const {
    std::uint32_t count = 0;
    for (std::uint32_t number = taken_; unread(number); ++number) count += forgotten_.count(number) == 0;
    return count;
}

// An entry is there when its valid mark is.
std::uint32_t completion_ring::entries_in(const host::physical_range& written) const {
    const std::uint64_t first_mark = ring_.begin() + offsetof(words, valid);
    const auto marks_before = [&](host::physical_address end) {
        return end <= first_mark
                   ? 0
                   : std::min<std::uint64_t>((end - first_mark - 1) / sizeof(words) + 1, entries_);
    };
    return static_cast<std::uint32_t>(marks_before(written.begin + written.bytes) -
                                      marks_before(written.begin));
}

// The card counts the queue's completions across its rings.
void completion_ring::continues(const completion_queue& before) {
    const auto& old = static_cast<const completion_ring&>(before);
    seen_before_ = old.seen_before_ + old.taken_;
}

void completion_ring::forget(std::uint32_t vi) {
    for (std::uint32_t number = taken_; unread(number); ++number)
        if ((at(number).vi_and_queue & ~of_receive_queue) == vi) forgotten_.insert(number);
    skip_forgotten();
}

void completion_ring::skip_forgotten() {
    while (forgotten_.erase(taken_) != 0) ++taken_;
}

}  // namespace vinic::driver
