// SPDX-License-Identifier: Apache-2.0

// The MyVIA firmware for the LANai. One translation unit: a call costs thirteen cycles (facts lanai_pcix.md
// A7) and there is no link-time optimisation for this target.
#include "firmware/myvia/variant.h"

// After the variant.
#include "firmware/abi/chips.h"
#include "firmware/myvia/doorbell_pages.h"
#include "firmware/myvia/main_loop.h"

// The LANai 7 has one WAKE bit for all channels, the LANai 4 none of these registers.
extern "C" [[gnu::used]] const uint32_t supported_chips = vinic::abi::chip_lanai9;

extern "C" int main() {
    using doorbells = vinic::myvia::doorbell_pages;
    vinic::myvia::initialise<doorbells>();
    while (card_interface.go == 0) {
    }
    for (;;) vinic::myvia::poll<doorbells>();
}
