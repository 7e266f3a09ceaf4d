// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "hw/sim/clock_domain.h"
#include "hw/sim/time.h"
#include "hw/sim/timer.h"

namespace vinic::nic::ethernet {

/// The edges of the bus clock at which the card's host side decides. A step lies a picosecond behind its
/// edge, so that all that the bus brings with the edge is known, in whatever order; what the wire brings at
/// the very instant of a step is for the next one (`before`).
class steps {
public:
    steps(const sim::clock_domain& clock, std::function<void()> act)
        : clock_(clock), act_(std::move(act)), timer_([this] { step(); }) {}

    /// The first step that knows all that has happened up to now.
    void soon() { at(clock_.edge_after(sim::now())); }
    /// The step of that edge, which lies ahead.
    void at(std::uint64_t edge) {
        due_.insert(edge);
        timer_.no_later_than(clock_.edge(edge) + 1);
    }
    /// In a step: its edge.
    std::uint64_t edge() const { return clock_.edge_at_or_before(sim::now()); }
    /// The edge at or behind a time that lies ahead.
    std::uint64_t edge_of(sim::picoseconds t) const { return clock_.edge_at_or_after(t); }
    /// Whether something of this time is known to a step now.
    static bool before(sim::picoseconds t) { return t < sim::now(); }

private:
    void step() {
        due_.erase(due_.begin(), due_.upper_bound(edge()));
        act_();
        if (!due_.empty()) timer_.no_later_than(clock_.edge(*due_.begin()) + 1);
    }

    const sim::clock_domain& clock_;
    std::function<void()> act_;
    std::set<std::uint64_t> due_;
    sim::timer timer_;
};

}  // namespace vinic::nic::ethernet
