// SPDX-License-Identifier: Apache-2.0

// The MyVIA firmware for the LANai. One translation unit: a call costs thirteen cycles (facts lanai_pcix.md
// A7) and there is no link-time optimisation for this target.
#include "firmware/myvia/main_loop.h"

extern "C" int main() {
    vinic::myvia::initialise();
    while (card_interface.go == 0) {
    }
    for (;;) vinic::myvia::poll();
}
