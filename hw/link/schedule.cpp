// SPDX-License-Identifier: Apache-2.0
#include "hw/link/schedule.h"

#include <algorithm>
#include <stdexcept>

namespace vinic::link {

void schedule::append(const run& next) {
    if (next.first != end_) throw std::logic_error("link schedule: a gap in the numbering");
    if (next.count == 0) return;
    end_ = next.end();
    if (!runs_.empty()) {
        run& back = runs_.back();
        if (next.at < back.last()) throw std::logic_error("link schedule: back in time");
        const picoseconds step = next.at - back.last();
        const bool fits_back = back.count == 1 || step == back.period;
        const bool fits_next = next.count == 1 || step == next.period;
        if (fits_back && fits_next) {
            back.period = step;
            back.count += next.count;
            return;
        }
    }
    runs_.push_back(next);
}

void schedule::truncate(std::uint64_t end) {
    if (end >= end_) return;
    while (!runs_.empty() && runs_.back().first >= end) runs_.pop_back();
    if (!runs_.empty()) runs_.back().count = std::min(runs_.back().count, end - runs_.back().first);
    end_ = end;
}

void schedule::forget(std::uint64_t first) {
    while (!runs_.empty() && runs_.front().end() <= first) runs_.pop_front();
    if (runs_.empty() || runs_.front().first >= first) return;
    run& front = runs_.front();
    front = {first, front.end() - first, front.time_of(first), front.period};
}

picoseconds schedule::time_of(std::uint64_t character) const {
    for (auto r = runs_.rbegin(); r != runs_.rend(); ++r)
        if (character >= r->first) return character < r->end() ? r->time_of(character) : never;
    if (character < end_) throw std::logic_error("link schedule: a forgotten character");
    return never;
}

std::uint64_t schedule::passed(picoseconds t) const {
    for (auto r = runs_.rbegin(); r != runs_.rend(); ++r) {
        if (r->at > t) continue;
        if (r->period == 0) return r->end();
        return r->first + std::min(r->count, (t - r->at) / r->period + 1);
    }
    return runs_.empty() ? end_ : runs_.front().first;
}

void schedule::follow(const run& from, picoseconds earliest, picoseconds spacing) {
    const std::uint64_t first = end_;
    if (first < from.first) throw std::logic_error("link schedule: characters left out");
    if (first >= from.end()) return;
    const std::uint64_t count = from.end() - first;
    const picoseconds available = from.time_of(first);
    if (!runs_.empty()) earliest = std::max(earliest, runs_.back().last() + spacing);
    const picoseconds start = std::max(earliest, available);
    if (from.period <= spacing) return append({first, count, start, spacing});

    // The stream is slower than the wire: what has piled up goes at the wire's pace, the rest as it comes.
    const picoseconds gain = from.period - spacing;
    const std::uint64_t piled_up = std::min(count, (start - available + gain - 1) / gain);
    if (piled_up > 0) append({first, piled_up, start, spacing});
    if (piled_up < count)
        append({first + piled_up, count - piled_up, from.time_of(first + piled_up), from.period});
}

namespace {

/// The first `n` >= `from` of `x` with x.time_of(n) < y.time_of(n + shift); x.end() when there is none. What
/// `y` has forgotten lies in the past.
std::uint64_t first_earlier(const schedule& x, const schedule& y, std::int64_t shift, std::uint64_t from) {
    std::uint64_t n = from;
    auto other = y.runs().begin();
    for (const run& r : x.runs()) {
        n = std::max(n, r.first);
        while (n < r.end()) {
            const std::uint64_t m = n + static_cast<std::uint64_t>(shift);
            while (other != y.runs().end() && other->end() <= m) ++other;
            if (other == y.runs().end()) {
                if (m >= y.end()) return n;
                n = y.end() - static_cast<std::uint64_t>(shift);
                continue;
            }
            if (m < other->first) {
                n = other->first - static_cast<std::uint64_t>(shift);
                continue;
            }
            const std::uint64_t steps = std::min(r.end() - n, other->end() - m);
            const auto lead = static_cast<std::int64_t>(other->time_of(m) - r.time_of(n));
            if (lead > 0) return n;
            const auto slope = static_cast<std::int64_t>(other->period - r.period);
            if (slope > 0) {
                const auto j = static_cast<std::uint64_t>(-lead / slope + 1);
                if (j < steps) return n + j;
            }
            n += steps;
        }
    }
    return x.end();
}

}  // namespace

std::uint64_t first_above(const schedule& in, const schedule& out, std::uint64_t level, std::uint64_t from) {
    return first_earlier(in, out, -static_cast<std::int64_t>(level), std::max(from, level));
}

std::uint64_t first_below(const schedule& in, const schedule& out, std::uint64_t level, std::uint64_t from) {
    return first_earlier(out, in, static_cast<std::int64_t>(level), from);
}

}  // namespace vinic::link
