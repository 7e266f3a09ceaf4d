// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "hw/sim/time.h"

namespace vinic::traces {

/// How busy something is, in percent of each interval of a fixed length. Spans come in the order in which
/// they begin, and may overlap.
class busy_meter {
public:
    static constexpr sim::picoseconds interval = 20'000'000;

    void add(sim::picoseconds begin, sim::picoseconds end);

    /// Calls `changed(from, percent)` for each interval that ended by `now` and differs from the one before.
    template <typename F>
    void pass(sim::picoseconds now, F&& changed) {
        while (!busy_.empty() && (first_ + 1) * interval <= now) {
            const std::uint64_t percent = busy_.front() * 100 / interval;
            if (percent != shown_) changed(first_ * interval, percent);
            shown_ = percent;
            busy_.pop_front();
            ++first_;
        }
        if (!busy_.empty() || shown_ == 0 || (first_ + 1) * interval > now) return;
        shown_ = 0;
        changed(first_ * interval, std::uint64_t{0});
    }

private:
    std::deque<sim::picoseconds> busy_;  ///< of interval `first_` and those behind it
    std::uint64_t first_ = 0;
    sim::picoseconds counted_to_ = 0;
    std::uint64_t shown_ = 0;
};

}  // namespace vinic::traces
