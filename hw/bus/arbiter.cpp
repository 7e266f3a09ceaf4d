// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/arbiter.h"

#include <algorithm>

namespace vinic::bus {

void arbiter::release_until(unsigned master, std::uint64_t clock) {
    if (requests_[master]) requests_[master] = std::max(*requests_[master], clock);
}

std::optional<unsigned> arbiter::parked() const {
    if (park_ == park::last) return last_;
    if (park_ == park::first && !requests_.empty()) return 0;
    return std::nullopt;
}

/// A request in clock r is granted at the edge of clock r + latency - 1, and its address phase follows one
/// clock later; the parked master has its GNT# already and starts in clock r.
std::optional<std::uint64_t> arbiter::decision(std::uint64_t free) const {
    std::optional<std::uint64_t> first;
    const auto at = [&](std::uint64_t clock) { first = first ? std::min(*first, clock) : clock; };
    for (const auto& r : requests_) {
        if (r) at(std::max(*r + latency_ - 1, free ? free - 1 : 0));
    }
    if (const auto p = parked(); p && requests_[*p]) at(std::max(*requests_[*p], free));
    return first;
}

std::optional<arbiter::choice> arbiter::decide(std::uint64_t clock, std::uint64_t free) const {
    // Its FRAME# falls before the arbiter's new GNT# is seen.
    if (const auto p = parked(); p && requests_[*p] && *requests_[*p] <= clock && free <= clock)
        return choice{*p, clock};
    if (free > clock + 1 || clock + 1 < latency_) return std::nullopt;
    if (const auto w = winner(clock + 1 - latency_)) return choice{*w, clock + 1};
    return std::nullopt;
}

std::optional<unsigned> arbiter::winner(std::uint64_t seen_by) const {
    const auto count = static_cast<unsigned>(requests_.size());
    const unsigned start = rule_ == rule::round_robin && last_ ? *last_ + 1 : 0;
    for (unsigned i = 0; i < count; ++i) {
        const unsigned master = (start + i) % count;
        if (requests_[master] && *requests_[master] <= seen_by) return master;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> arbiter::grant_lost(unsigned owner, std::uint64_t seen_by) const {
    const auto seen = [&](unsigned master) { return requests_[master] && *requests_[master] <= seen_by; };
    std::optional<std::uint64_t> lost;
    for (unsigned master = 0; master < requests_.size(); ++master) {
        if (master == owner || !seen(master)) continue;
        if (rule_ == rule::fixed && master > owner && requests_[owner] &&
            *requests_[owner] <= *requests_[master])
            continue;
        const std::uint64_t gone = *requests_[master] + latency_;
        lost = lost ? std::min(*lost, gone) : gone;
    }
    return lost;
}

bool arbiter::requested_after(std::uint64_t clock) const {
    return std::ranges::any_of(requests_, [&](const auto& r) { return r && *r > clock; });
}

}  // namespace vinic::bus
