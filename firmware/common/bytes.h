// SPDX-License-Identifier: Apache-2.0

// Byte orders. What stands on the card, on the wire, in the rings and in the driver's tables is big-endian,
// as the LANai is; what a program wrote into a descriptor is in its own order, little-endian: the card meets
// that in segments beyond the slot's only. Natively (unit tests) the "card" is the machine that runs the
// test.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace vinic::common {

inline constexpr bool card_is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

// To and from the wire, the rings and the driver's tables.
constexpr uint32_t network(uint32_t value) { return card_is_big_endian ? value : __builtin_bswap32(value); }

// To and from the program's descriptors. A swap costs eleven instructions (facts A11).
constexpr uint32_t program(uint32_t value) { return card_is_big_endian ? __builtin_bswap32(value) : value; }

// The same pointer, of which the compiler does not know that it points into an array of fixed place.
// Otherwise it addresses each field by a constant of its own plus the index: three instructions a field in
// place of one.
template <typename type>
[[gnu::always_inline]] inline type* opaque(type* pointer) {
    asm("" : "+r"(pointer));
    return pointer;
}

// The same value, of which the compiler does not know what it may be.
[[gnu::always_inline]] inline uint32_t opaque(uint32_t value) {
    asm("" : "+r"(value));
    return value;
}

constexpr uint64_t join(uint32_t high, uint32_t low) { return static_cast<uint64_t>(high) << 32 | low; }
constexpr uint32_t high_word(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
constexpr uint32_t low_word(uint64_t value) { return static_cast<uint32_t>(value); }
constexpr uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

}  // namespace vinic::common
