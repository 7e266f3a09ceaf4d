// SPDX-License-Identifier: Apache-2.0

// What differs between the images that are built from the headers in this folder, besides the way to find
// doorbells. An image's main.cpp includes its variant.h before all else: this one for myvia and myvia2.
#pragma once

namespace vinic::myvia::variant {

inline constexpr unsigned max_vis = 1024;
inline constexpr unsigned token_slots =
    0;  // of a queue, in SRAM; 0: descriptors are fetched from host memory

}  // namespace vinic::myvia::variant
