// SPDX-License-Identifier: Apache-2.0

// What makes the firmware of firmware/bvia that of FirmVIA. An image's main.cpp includes its variant.h before
// all else, and then one of the ways to find doorbells.
#pragma once

namespace vinic::bvia::variant {

inline constexpr bool caches_descriptors = true;  // a receive descriptor is fetched when it is posted
inline constexpr unsigned send_buffers = 2;       // one fills while the other one is on the wire

}  // namespace vinic::bvia::variant
