// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include <cstdint>

namespace vinic::sim {

/// A point of simulated time, or a duration, in picoseconds. SystemC's default resolution is one picosecond.
using picoseconds = std::uint64_t;

inline constexpr picoseconds never = ~picoseconds{0};

/// Without a call into the kernel's library: everybody asks all the time.
inline picoseconds now() { return sc_core::sc_get_curr_simcontext()->time_stamp().value(); }

inline sc_core::sc_time to_sc_time(picoseconds t) { return sc_core::sc_time::from_value(t); }

/// What an event is notified with so that it fires at time `at`: zero (the next delta cycle) when that is
/// now.
inline sc_core::sc_time delay_until(picoseconds at) { return to_sc_time(at > now() ? at - now() : 0); }

}  // namespace vinic::sim
