// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/clock_domain.h"

#include <numeric>
#include <stdexcept>

namespace vinic::sim {

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
    auto n = static_cast<std::uint64_t>(wide{t} * denominator_ / numerator_);
    while (edge(n) < t) ++n;
    while (n > 0 && edge(n - 1) >= t) --n;
    return n;
}

}  // namespace vinic::sim
