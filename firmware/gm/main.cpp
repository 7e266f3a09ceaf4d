// SPDX-License-Identifier: Apache-2.0

// The MyVIA firmware (firmware/myvia) with a leaner interface, GM's: tokens in SRAM in place of descriptors
// in host memory. One translation unit: a call costs thirteen cycles (facts lanai_pcix.md A7) and there is no
// link-time optimisation for this target.
#include "firmware/gm/variant.h"

// After the variant.
#include "firmware/abi/chips.h"
#include "firmware/myvia/doorbell_fifo.h"
#include "firmware/myvia/main_loop.h"

// As firmware/myvia/main.cpp says; the LANai 4 has no doorbell region either.
extern "C" [[gnu::used]] const uint32_t supported_chips = vinic::abi::chip_lanai9;

extern "C" [[gnu::used]] const vinic::abi::myvia::doorbell_interface_block doorbell_interface = {
    vinic::abi::myvia::doorbells_in_fifo, vinic::myvia::fifo_ring,
    vinic::myvia::fifo_size(vinic::myvia::fifo_entries), vinic::myvia::token_pages,
    vinic::myvia::variant::token_slots};

extern "C" int main() {
    using doorbells = vinic::myvia::doorbell_fifo;
    vinic::myvia::initialise<doorbells>();
    while (card_interface.go == 0) {
    }
    for (;;) vinic::myvia::poll<doorbells>();
}
