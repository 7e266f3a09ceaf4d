// SPDX-License-Identifier: Apache-2.0
#include "hw/host/poll.h"

#include <algorithm>

namespace vinic::host {

// --- History

void poll_history::clear() {
    looks_.clear();
    period_ = 0;
    matched_ = 0;
}

/// How far back the latest equal look lies; zero if there is none within the longest cycle.
std::size_t poll_history::last_distance() const {
    const std::size_t last = looks_.size() - 1;
    for (std::size_t distance = 1; distance <= std::min(last, longest_cycle); ++distance)
        if (looks_[last - distance].point == looks_[last].point) return distance;
    return 0;
}

void poll_history::record(const poll_point& point, sim::picoseconds at) {
    if (looks_.size() == 4 * longest_cycle)
        looks_.erase(looks_.begin(), looks_.end() - static_cast<std::ptrdiff_t>(longest_cycle + 1));
    looks_.push_back({point, at});
    const std::size_t last = looks_.size() - 1;
    if (period_ && looks_[last - period_].point == point) {
        ++matched_;
        return;
    }
    period_ = last_distance();
    matched_ = period_ ? 1 : 0;
}

std::vector<poll_point> poll_history::cycle_from(const poll_point& point, std::uint64_t rounds) const {
    if (!period_ || matched_ < (rounds - 1) * period_ || !(looks_[looks_.size() - period_].point == point))
        return {};
    std::vector<poll_point> cycle;
    for (std::size_t i = looks_.size() - period_; i < looks_.size(); ++i) cycle.push_back(looks_[i].point);
    return cycle;
}

sim::picoseconds poll_history::round_begin() const {
    sim::picoseconds begin = sim::never;
    for (std::size_t i = looks_.size() - period_; i < looks_.size(); ++i)
        begin = std::min(begin, looks_[i].at);
    return begin;
}

// --- Nap

void poll_nap::begin(std::vector<poll_point> cycle) {
    cycle_ = std::move(cycle);
    ends_.clear();
    clocks end = 0;
    for (const poll_point& point : cycle_) ends_.push_back(end += std::max<clocks>(point.cost, 1));
    done_ = 0;
    wake_ = sim::never;
    for (const poll_point& point : cycle_) wake_at(point.deadline);
    asleep_ = true;
}

std::uint64_t poll_nap::looks(clocks n) const {
    const clocks done = done_ + n;
    const clocks round = ends_.back();
    const auto within = std::upper_bound(ends_.begin(), ends_.end(), done % round);
    return done / round * ends_.size() + static_cast<std::uint64_t>(within - ends_.begin());
}

clocks poll_nap::to_look(clocks n) const {
    const clocks from = done_ + std::max<clocks>(n, 1);
    const clocks round = ends_.back();
    const clocks begin = (from - 1) / round * round;
    return begin + *std::lower_bound(ends_.begin(), ends_.end(), from - begin) - done_;
}

}  // namespace vinic::host
