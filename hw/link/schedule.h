// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "hw/sim/time.h"

namespace vinic::link {

using sim::never;
using sim::picoseconds;

/// Characters that pass a point at a steady pace: character `first` + i at `at` + i * `period`.
struct run {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    picoseconds at = 0;
    picoseconds period = 0;

    std::uint64_t end() const { return first + count; }
    picoseconds time_of(std::uint64_t character) const { return at + (character - first) * period; }
    picoseconds last() const { return time_of(end() - 1); }
    bool operator==(const run&) const = default;
};

/// When each character of a stream passes a point, as runs: the closed form that replaces an event per
/// character. Characters are numbered from zero; times never decrease; the future part may be cut.
class schedule {
public:
    /// The number of the character after the last one that is scheduled.
    std::uint64_t end() const { return end_; }
    bool empty() const { return runs_.empty(); }
    const std::deque<run>& runs() const { return runs_; }

    /// `next` begins at character end().
    void append(const run& next);
    /// Characters `end` and later are no longer scheduled.
    void truncate(std::uint64_t end);
    /// Drops the memory of characters before `first`; their times can no longer be asked for.
    void forget(std::uint64_t first);

    /// Never for a character that is not scheduled.
    picoseconds time_of(std::uint64_t character) const;
    /// How many characters have passed at `t`, those of `t` itself included.
    std::uint64_t passed(picoseconds t) const;
    /// Calls `f(run)` for what is scheduled of the characters `first` .. `end`.
    template <typename F>
    void for_each(std::uint64_t first, std::uint64_t end, F&& f) const;

    /// Appends the characters end() .. `from.end()` of a stream that becomes available as `from`, taken no
    /// earlier than `earliest` and no closer than `spacing` to each other.
    void follow(const run& from, picoseconds earliest, picoseconds spacing);

private:
    std::deque<run> runs_;
    std::uint64_t end_ = 0;
};

template <typename F>
void schedule::for_each(std::uint64_t first, std::uint64_t end, F&& f) const {
    for (const run& r : runs_) {
        const std::uint64_t from = std::max(first, r.first);
        const std::uint64_t to = std::min(end, r.end());
        if (from < to) f(run{from, to - from, r.time_of(from), r.period});
    }
}

/// The first character `n` >= `from` of `in` with which more than `level` characters that came in have not
/// gone out: in.time_of(n) < out.time_of(n - level). A character that goes out at the same instant has gone.
/// Equal to in.end() when there is none.
std::uint64_t first_above(const schedule& in, const schedule& out, std::uint64_t level, std::uint64_t from);

/// The first character `n` >= `from` of `out` with which fewer than `level` characters remain:
/// out.time_of(n) < in.time_of(n + level). Equal to out.end() when there is none.
std::uint64_t first_below(const schedule& in, const schedule& out, std::uint64_t level, std::uint64_t from);

}  // namespace vinic::link
