// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace vinic::driver {

/// Between the machine's byte order and big-endian; its own inverse.
template <std::unsigned_integral Word>
constexpr Word big_endian(Word value) {
    if constexpr (std::endian::native == std::endian::big || sizeof(Word) == 1) {
        return value;
    } else if constexpr (sizeof(Word) == 2) {
        return __builtin_bswap16(value);
    } else if constexpr (sizeof(Word) == 4) {
        return __builtin_bswap32(value);
    } else {
        return __builtin_bswap64(value);
    }
}

/// The same for little-endian.
template <std::unsigned_integral Word>
constexpr Word little_endian(Word value) {
    return std::endian::native == std::endian::little ? value : big_endian(value);
}

}  // namespace vinic::driver
