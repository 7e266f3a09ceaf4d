// SPDX-License-Identifier: Apache-2.0

// A source route as the driver gives it (myvia_card.h), brought in front of a packet's header.
#pragma once

#include "firmware/abi/myvia_card.h"
#include "firmware/common/bytes.h"

namespace vinic::common {

struct route_words {
    uint32_t words[2];  // right-aligned: the last byte stands before the header
    uint32_t first;     // the word in which it begins
    uint32_t skip;      // bytes before it there
};

// Of the argument that says how long a route is, or that there is none.
inline uint32_t route_bytes(uint32_t length) { return length == abi::myvia::route_loopback ? 0 : length; }

inline route_words align_route(uint32_t length, uint32_t high, uint32_t low) {
    const uint64_t left = join(network(high), network(low));
    const uint64_t right = length == 0 ? 0 : left >> (64 - 8 * length);
    return {{network(high_word(right)), network(low_word(right))}, 2 - (length + 3) / 4, (8 - length) % 4};
}

}  // namespace vinic::common
