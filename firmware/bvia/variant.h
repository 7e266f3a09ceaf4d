// SPDX-License-Identifier: Apache-2.0

// What makes the firmware in this folder that of Berkeley VIA. An image's main.cpp includes its variant.h
// before all else, and then one of the ways to find doorbells.
#pragma once

namespace vinic::bvia::variant {

inline constexpr bool caches_descriptors = false;  // a receive descriptor is fetched when a message comes
inline constexpr unsigned send_buffers = 1;        // host DMA and wire take turns

}  // namespace vinic::bvia::variant
