// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vinic::sim {

/// What the help of a parameter in MHz says about clock_domain::from_mhz.
inline constexpr const char* nominal_clock =
    "33, 66 and 133 stand for 33.33, 66.67 and 133.33; others are exact";

}  // namespace vinic::sim
