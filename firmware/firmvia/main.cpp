// SPDX-License-Identifier: Apache-2.0

// FirmVIA's firmware: that of firmware/bvia, in another variant. One translation unit, as all firmware here.
#include "firmware/firmvia/variant.h"

// After the variant.
#include "firmware/abi/chips.h"
#include "firmware/bvia/doorbell_queue.h"
#include "firmware/bvia/main_loop.h"

// Its processor was another one; a LANai 4 stands for it, with its registers.
extern "C" [[gnu::used]] const uint32_t supported_chips = vinic::abi::chip_lanai4;

extern "C" int main() {
    vinic::bvia::initialise();
    while (card_interface.go == 0) {
    }
    for (;;) vinic::bvia::poll();
}
