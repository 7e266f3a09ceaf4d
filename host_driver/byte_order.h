// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace vinic::driver {

template <std::unsigned_integral Word>
constexpr Word byte_swapped(Word value) {
    if constexpr (sizeof(Word) == 1) {
        return value;
    } else if constexpr (sizeof(Word) == 2) {
        return __builtin_bswap16(value);
    } else if constexpr (sizeof(Word) == 4) {
        return __builtin_bswap32(value);
    } else {
        return __builtin_bswap64(value);
    }
}

/// Between the machine's byte order and big-endian; its own inverse.
template <std::unsigned_integral Word>
constexpr Word big_endian(Word value) {
    return std::endian::native == std::endian::big ? value : byte_swapped(value);
}

/// The same for little-endian.
template <std::unsigned_integral Word>
constexpr Word little_endian(Word value) {
    return std::endian::native == std::endian::little ? value : byte_swapped(value);
}

}  // namespace vinic::driver
