// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/sim/time.h"

namespace vinic::sim {

/// A clock as a function of time: edge n lies at n times the exact rational period, rounded to a picosecond
/// once, so that nothing drifts. There is no clock process; whoever works on this clock asks for the edge
/// that it needs.
class clock_domain {
public:
    /// Period of numerator/denominator picoseconds; both positive.
    clock_domain(std::uint64_t numerator, std::uint64_t denominator);

    /// PCI and LANai clocks of 33, 66 and 133 MHz are the exact thirds (30000, 15000, 7500 ps); other rates
    /// are exact.
    static clock_domain from_mhz(std::uint64_t mhz);

    /// A clock that runs multiplier/divisor times as fast as this one.
    clock_domain times(std::uint64_t multiplier, std::uint64_t divisor = 1) const;

    picoseconds edge(std::uint64_t n) const {
        if (denominator_ == 1) return n * numerator_;
        return static_cast<picoseconds>((wide{n} * numerator_ + denominator_ / 2) / denominator_);
    }

    /// The number of the first edge at or after `t`.
    std::uint64_t edge_at_or_after(picoseconds t) const;
    /// The number of the first edge after `t`: where an input that arrives at `t` is seen.
    std::uint64_t edge_after(picoseconds t) const { return edge_at_or_after(t + 1); }
    /// The number of the last edge at or before `t`.
    std::uint64_t edge_at_or_before(picoseconds t) const { return edge_at_or_after(t + 1) - 1; }

    /// Length of `n` periods counted from edge zero, in picoseconds.
    picoseconds span(std::uint64_t n) const { return edge(n); }

    bool operator==(const clock_domain&) const = default;

private:
    __extension__ using wide = unsigned __int128;

    std::uint64_t numerator_;
    std::uint64_t denominator_;
};

}  // namespace vinic::sim
