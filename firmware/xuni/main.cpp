// SPDX-License-Identifier: Apache-2.0

// The firmware of XUNI's embedded core. One translation unit: there is no link-time optimisation for this
// target.
#include "firmware/abi/chips.h"
#include "firmware/xuni/main_loop.h"

extern "C" [[gnu::used]] const uint32_t supported_chips = vinic::abi::chip_lanai9;
extern "C" [[gnu::used]] const uint32_t control_interface = vinic::abi::xuni::interface_version;

extern "C" int main() {
    for (;;) vinic::xuni::poll();
}
