// SPDX-License-Identifier: Apache-2.0
// What the blocks of a simulation are going to do, on one event of the kernel.
#pragma once

#include <systemc>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hw/sim/random.h"
#include "hw/sim/time.h"

namespace vinic::sim {

class calendar;

/// Calls an action at a known time. Like an sc_event with a method of its own, but the kernel hears only of
/// the first of all timers, and nothing is left behind of one that was moved or cancelled. Lives within a
/// simulation.
class timer {
public:
    explicit timer(std::function<void()> action);
    ~timer() { cancel(); }
    timer(const timer&) = delete;
    timer& operator=(const timer&) = delete;

    /// Due at `at`, instead of when it was due; at once (in the next delta cycle, if others have something to
    /// do in this one) when that is not after now.
    void set(picoseconds at);
    /// The same, unless it is due earlier already.
    void no_later_than(picoseconds at) {
        if (!soon_ && at < due_) set(at);
    }
    void cancel();

private:
    friend class calendar;

    calendar& calendar_;
    std::function<void()> action_;
    picoseconds due_ = never;
    std::size_t place_ = 0;
    bool soon_ = false;  // `place_` is in the calendar's list of the next delta cycle
};

/// The timers of a simulation in order of time; those of one instant in the order in which they were set.
class calendar {
public:
    calendar();
    calendar(const calendar&) = delete;
    calendar& operator=(const calendar&) = delete;

    /// Of the current simulation.
    static calendar& current();

    /// Timers of one instant go in random order from now on, which must change no result.
    void shuffle(std::uint64_t seed) { order_.emplace(seed, "calendar"); }

private:
    friend class timer;
    struct entry {
        picoseconds at;
        std::uint64_t rank;
        timer* what;
        bool operator<(const entry& other) const {
            return at != other.at ? at < other.at : rank < other.rank;
        }
    };
    struct soon_entry {
        std::uint64_t from;  // number of the delta cycle
        timer* what;         // null: cancelled
    };

    void insert(timer& what);
    void remove(timer& what);
    void place(std::size_t at, const entry& e);
    void sift_up(std::size_t hole, const entry& e);
    void sift_down(std::size_t hole, const entry& e);
    void act();
    void act_soon();
    void arm();

    std::vector<entry> heap_;
    std::vector<soon_entry> soon_;
    std::uint64_t set_ = 0;  // how many
    std::optional<random_stream> order_;
    bool acting_ = false;
    picoseconds armed_ = never;
    sc_core::sc_event due_event_;
    sc_core::sc_event soon_event_;
};

}  // namespace vinic::sim
