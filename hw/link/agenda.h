// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hw/sim/time.h"
#include "hw/sim/timer.h"

namespace vinic::link {

/// What a module has to do and when: one timer for each kind of work at each port, one event for all of
/// them. What falls on the same instant is done in the order of kind, then port, whatever order the kernel
/// wakes processes in (rule 3). Messages come over cables of at least a picosecond, so everything that an
/// instant brings from outside is known when it begins.
class agenda {
public:
    struct item {
        unsigned kind;
        unsigned port;
    };

    /// `act` calls `next` until nothing is due any more.
    agenda(unsigned kinds, unsigned ports, std::function<void()> act);

    /// Replaces the time of this timer; never: not at all.
    void set(unsigned kind, unsigned port, sim::picoseconds at);
    sim::picoseconds due(unsigned kind, unsigned port) const { return due_[kind * ports_ + port]; }

    /// The next item that is due, taken off; none when the rest lies in the future, for which the event is
    /// then armed.
    std::optional<item> next();

    /// How often `act` was called.
    std::uint64_t activations() const { return activations_; }

private:
    struct entry {
        sim::picoseconds at;
        unsigned index;
        auto operator<=>(const entry&) const = default;
    };
    void arm();

    unsigned ports_;
    bool working_ = false;
    std::uint64_t activations_ = 0;
    std::vector<sim::picoseconds> due_;
    std::vector<entry> entries_;  ///< latest first; a handful at a time
    sim::timer timer_;
};

}  // namespace vinic::link
