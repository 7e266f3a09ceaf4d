// SPDX-License-Identifier: Apache-2.0

// Which chips an image of firmware runs on: a word of its own, big-endian, the sum of chip_bit, in the symbol
// `supported_chips`. Its registers and bits of the ISR differ from chip to chip (facts lanai_pcix.md B3, B4).
// An image without the symbol says nothing, and is let onto any card.
#pragma once

#include <stdint.h>

namespace vinic::abi {

enum chip_bit : uint32_t { chip_lanai4 = 1u << 0, chip_lanai7 = 1u << 1, chip_lanai9 = 1u << 2 };

inline constexpr char supported_chips_symbol[] = "supported_chips";

}  // namespace vinic::abi
