// SPDX-License-Identifier: Apache-2.0
// In place of the blocks where Verilator was not there.
#include "hw/rtl/available.h"
#include "hw/rtl/doorbell/doorbell_block.h"
#include "hw/rtl/pcix_dma/chains_block.h"
#include "hw/rtl/pcix_dma/initiator_block.h"
#include "hw/sim/error.h"

namespace vinic::rtl {

bool available() { return false; }

std::unique_ptr<nic::doorbell_fifo> make_doorbell(nic::doorbell_fifo::surroundings&,
                                                  const sim::clock_domain&) {
    throw sim::input_error("doorbells.impl = rtl: this vinic has no RTL (it was built without Verilator)");
}

namespace {
constexpr const char* no_dma = "dma.impl = rtl: this vinic has no RTL (it was built without Verilator)";
}

std::unique_ptr<bus::initiator> make_initiator(bus::initiator::surroundings&) {
    throw sim::input_error(no_dma);
}

std::unique_ptr<nic::dma_controller> make_dma_chains(nic::dma_controller::surroundings&,
                                                     const sim::clock_domain&) {
    throw sim::input_error(no_dma);
}

}  // namespace vinic::rtl
