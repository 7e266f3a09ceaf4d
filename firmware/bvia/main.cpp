// SPDX-License-Identifier: Apache-2.0

// The firmware of Berkeley VIA for the LANai 4: one thing after the other. One translation unit, as all
// firmware here: there is no link-time optimisation for this target.
#include "firmware/bvia/variant.h"

// After the variant.
#include "firmware/abi/chips.h"
#include "firmware/bvia/doorbell_pages.h"
#include "firmware/bvia/main_loop.h"

extern "C" [[gnu::used]] const uint32_t supported_chips = vinic::abi::chip_lanai4;

extern "C" [[gnu::used]] const vinic::abi::myvia::doorbell_interface_block doorbell_interface = {
    vinic::abi::myvia::doorbells_in_vi_pages, vinic::bvia::doorbell_pages, 0, nullptr, 0};

extern "C" int main() {
    vinic::bvia::initialise();
    while (card_interface.go == 0) {
    }
    for (;;) vinic::bvia::poll();
}
