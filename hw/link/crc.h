// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vinic::link {

/// CRC-8 with the polynomial x^8+x^2+x+1 (0x07), most significant bit first, start value and final XOR zero
/// (facts/lanai_pcix.md B6): over data followed by its CRC it gives zero.
std::uint8_t crc8(std::span<const std::uint8_t> bytes, std::uint8_t start = 0);

/// CRC-32 of IEEE 802.3 (reflected 0x04C11DB7, inverted before and after), which LANai 7 and 9 can add over a
/// range of the payload. `start` continues an earlier result.
std::uint32_t crc32(std::span<const std::uint8_t> bytes, std::uint32_t start = 0);

inline constexpr std::size_t crc32_bytes = 4;
/// Of bytes whose last four should be the CRC-32 of those before: the difference, zero for whole ones; all
/// ones where there are no four.
std::uint32_t crc32_remainder(std::span<const std::uint8_t> bytes);

}  // namespace vinic::link
