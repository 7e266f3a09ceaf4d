// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <cstdint>

#include "vipl/attach/connection.h"

namespace vinic::vipl::attach {

inline constexpr std::uint64_t ps_per_s = 1'000'000'000'000;
inline constexpr std::uint64_t ps_per_us = 1'000'000;
inline constexpr std::uint64_t ps_per_ns = 1'000;
/// When the simulation begins: 1 January 2000, 00:00 UTC.
inline constexpr time_t epoch_s = 946'684'800;

/// The slot to ask through; null: real time.
held_slot simulated();
/// What a look at the clock gives, and costs; false without a simulator any more.
bool now(slot& s, std::uint64_t& ps);

inline bool of_the_day(clockid_t id) {
    return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_TAI;
}

inline bool valid(const timespec* span) {
    return span->tv_sec >= 0 && span->tv_nsec >= 0 && span->tv_nsec < 1'000'000'000;
}

/// Spans that no simulation reaches are cut.
inline std::uint64_t ps_of(const timespec& span) {
    constexpr time_t longest_s = 1'000'000;
    if (span.tv_sec > longest_s) return longest_s * ps_per_s;
    return static_cast<std::uint64_t>(span.tv_sec) * ps_per_s +
           static_cast<std::uint64_t>(span.tv_nsec) * ps_per_ns;
}

}  // namespace vinic::vipl::attach
