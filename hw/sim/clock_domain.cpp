// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/clock_domain.h"

#include <numeric>
#include <stdexcept>

namespace vinic::sim {

namespace {

__extension__ using wide = unsigned __int128;

/// The first edge at or after `t`, of a period that is a fraction. Apart, so that the others need no stack.
[[gnu::noinline]] std::uint64_t first_edge(const clock_domain& clock, picoseconds t, std::uint64_t numerator,
                                           std::uint64_t denominator) {
    auto n = static_cast<std::uint64_t>(wide{t} * denominator / numerator);
    while (clock.edge(n) < t) ++n;
    while (n > 0 && clock.edge(n - 1) >= t) --n;
    return n;
}

}  // namespace

clock_domain::clock_domain(std::uint64_t numerator, std::uint64_t denominator)
    : numerator_(numerator), denominator_(denominator) {
    if (numerator == 0 || denominator == 0) throw std::invalid_argument("a clock's period must be positive");
    const std::uint64_t divisor = std::gcd(numerator, denominator);
    numerator_ /= divisor;
    denominator_ /= divisor;
}

clock_domain clock_domain::from_mhz(std::uint64_t mhz) {
    constexpr std::uint64_t us = 1'000'000;
    switch (mhz) {
        case 33:
            return {3 * us, 100};
        case 66:
            return {3 * us, 200};
        case 133:
            return {3 * us, 400};
        default:
            return {us, mhz};
    }
}

clock_domain clock_domain::times(std::uint64_t multiplier, std::uint64_t divisor) const {
    return {numerator_ * divisor, denominator_ * multiplier};
}

std::uint64_t clock_domain::edge_at_or_after(picoseconds t) const {
    if (denominator_ == 1) return (t + numerator_ - 1) / numerator_;
    return first_edge(*this, t, numerator_, denominator_);
}

}  // namespace vinic::sim
