// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hw/host/context.h"
#include "hw/host/memory.h"
#include "hw/sim/time.h"

namespace vinic::host {

/// One place that a process polls.
struct poll_point {
    std::uint64_t key = 0;   ///< identity: the same key stands for the same look at the same place
    clocks cost = 1;         ///< of one look; at least one clock
    physical_range watched;  ///< what the look reads; empty when only `change_at` or `disturb` can change it
    sim::picoseconds deadline = sim::never;  ///< the look also asks whether this time has come

    bool operator==(const poll_point&) const = default;
};

/// The empty looks of a process since it last did anything else, and whether they go round in a cycle.
class poll_history {
public:
    static constexpr std::size_t longest_cycle = 1024;

    void clear();
    /// A look at `at`; zero for one that the program heard of later than it was made.
    void record(const poll_point& point, sim::picoseconds at);

    /// The cycle that a look at `point` would carry on, after `rounds` whole rounds of it; its first element
    /// is `point`. Empty when there is none.
    std::vector<poll_point> cycle_from(const poll_point& point, std::uint64_t rounds) const;
    /// When the earliest look of the latest round was made; there must be a cycle.
    sim::picoseconds round_begin() const;

private:
    struct look {
        poll_point point;
        sim::picoseconds at;
    };

    std::size_t last_distance() const;

    std::vector<look> looks_;  ///< the latest ones
    std::size_t period_ = 0;
    std::uint64_t matched_ = 0;  ///< looks in a row that equal the one a period before
};

/// The sleep of a process through looks that cannot find anything, in clocks of its own execution: the looks
/// are at fixed places there, however often the process is suspended meanwhile.
class poll_nap {
public:
    void begin(std::vector<poll_point> cycle);
    void end() { asleep_ = false; }
    bool asleep() const { return asleep_; }
    const std::vector<poll_point>& cycle() const { return cycle_; }

    /// Looks at `at` or later may find something.
    void wake_at(sim::picoseconds at) {
        if (at < wake_) wake_ = at;
    }
    sim::picoseconds wake() const { return wake_; }
    void advance(clocks n) { done_ += n; }

    /// Looks whose time has passed, or will have after `n` more clocks.
    std::uint64_t looks(clocks n = 0) const;
    /// Clocks from here to the first look that lies at least `n` clocks away, and not at none.
    clocks to_look(clocks n) const;

private:
    std::vector<poll_point> cycle_;
    std::vector<clocks> ends_;  ///< of each look, from the begin of the round
    clocks done_ = 0;
    sim::picoseconds wake_ = sim::never;
    bool asleep_ = false;
};

}  // namespace vinic::host
