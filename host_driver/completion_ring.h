// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <set>

#include "host_driver/contiguous_memory.h"
#include "host_driver/work_queue.h"
#include "hw/host/memory.h"

namespace vinic::driver {

/// Ring of completion entries, with the number of the pass as valid mark: firmware/abi/myvia_card.h has them
/// in big-endian order, vi_engine_card.h in little-endian order.
class completion_ring : public completion_queue {
public:
    completion_ring(host::memory& ram, std::uint32_t entries, std::endian order)
        : ring_(ram, std::uint64_t{entries} * sizeof(words), contiguous_memory::contents::zero),
          order_(order),
          entries_(entries) {}

    std::uint32_t capacity() const override { return entries_; }
    host::physical_range head() const override {
        return {.begin = ring_.begin() + offset(taken_), .bytes = sizeof(words)};
    }
    bool head_valid() const override { return at(taken_).valid == pass(taken_); }
    entry take() override;
    std::uint32_t pending() const override;
    host::physical_range memory() const override {
        return {.begin = ring_.begin(), .bytes = entries_ * sizeof(words)};
    }
    std::uint32_t entries_in(const host::physical_range& written) const override;
    void continues(const completion_queue& before) override;
    void forget(std::uint32_t vi) override;

    host::physical_address ring() const { return ring_.begin(); }

protected:
    /// An entry as it stands in memory.
    struct words {
        std::uint32_t vi_and_queue;  ///< index of the VI, with `of_receive_queue` or not
        std::uint32_t valid;
    };
    static constexpr std::uint32_t of_receive_queue = 1u << 31;

    /// Entries that the process has taken, from rings that this one replaced too.
    std::uint32_t seen() const { return seen_before_ + taken_; }
    /// Where entry `number` of this ring stands, and what makes it valid.
    std::uint64_t offset(std::uint32_t number) const {
        return std::uint64_t{number % entries_} * sizeof(words);
    }
    std::uint32_t pass(std::uint32_t number) const { return (number / entries_) % 2 + 1; }

    contiguous_memory ring_;

private:
    words at(std::uint32_t number) const;
    /// Whether it stands in the queue and nobody has taken it.
    bool unread(std::uint32_t number) const {
        return number - taken_ < entries_ && at(number).valid == pass(number);
    }
    void skip_forgotten();

    std::endian order_;
    std::uint32_t entries_;
    std::uint32_t taken_ = 0;
    std::uint32_t seen_before_ = 0;      ///< entries taken from the rings that this one replaced
    std::set<std::uint32_t> forgotten_;  ///< numbers of entries whose VI is gone
};

}  // namespace vinic::driver
