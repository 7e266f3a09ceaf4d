// SPDX-License-Identifier: Apache-2.0
// In place of the blocks where Verilator was not there.
#include "hw/rtl/available.h"
#include "hw/rtl/doorbell/doorbell_block.h"
#include "hw/sim/error.h"

namespace vinic::rtl {

bool available() { return false; }

std::unique_ptr<nic::doorbell_fifo> make_doorbell(nic::doorbell_fifo::surroundings&,
                                                  const sim::clock_domain&) {
    throw sim::input_error("doorbells.impl = rtl: this vinic has no RTL (it was built without Verilator)");
}

}  // namespace vinic::rtl
