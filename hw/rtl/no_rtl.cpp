// SPDX-License-Identifier: Apache-2.0
// In place of the blocks where Verilator was not there.
#include "hw/rtl/available.h"
#include "hw/rtl/doorbell/doorbell_block.h"
#include "hw/rtl/lanai/lanai_block.h"
#include "hw/rtl/link/link_block.h"
#include "hw/rtl/pcix_dma/chains_block.h"
#include "hw/rtl/pcix_dma/initiator_block.h"
#include "hw/sim/error.h"

namespace vinic::rtl {

bool available() { return false; }

namespace {
[[noreturn]] void refuse(const char* parameter) {
    throw sim::input_error("{} = rtl: this vinic has no RTL (it was built without Verilator)", parameter);
}
}  // namespace

std::unique_ptr<nic::doorbell_fifo> make_doorbell(nic::doorbell_fifo::surroundings&,
                                                  const sim::clock_domain&) {
    refuse("doorbells.impl");
}

std::unique_ptr<lanai::processor> make_lanai(const lanai::core_config&, std::span<std::uint8_t>,
                                             lanai::device_port&, const sim::clock_domain&) {
    refuse("lanai.impl");
}

std::unique_ptr<link::framer> make_link(link::framer::surroundings) { refuse("link.impl"); }

std::unique_ptr<bus::initiator> make_initiator(bus::initiator::surroundings&) { refuse("dma.impl"); }

std::unique_ptr<nic::dma_controller> make_dma_chains(nic::dma_controller::surroundings&,
                                                     const sim::clock_domain&) {
    refuse("dma.impl");
}

}  // namespace vinic::rtl
