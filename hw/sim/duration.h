// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/sim/time.h"

namespace vinic::sim {

/// For parameters and calls that count in these units.
inline constexpr picoseconds microsecond = 1'000'000;
inline constexpr picoseconds millisecond = 1'000 * microsecond;

}  // namespace vinic::sim
