// SPDX-License-Identifier: Apache-2.0

// The variant of firmware/myvia whose programs write their descriptors into the card, as tokens.
#pragma once

namespace vinic::myvia::variant {

inline constexpr unsigned max_vis = 128;     // each has a page of tokens
inline constexpr unsigned token_slots = 32;  // of a queue, in SRAM

}  // namespace vinic::myvia::variant
