// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/host_dma.h"

#include "hw/nic/chain_walker.h"
#include "hw/rtl/pcix_dma/chains_block.h"

namespace vinic::nic {

void host_dma::pulse(std::uint32_t channels) {
    for (unsigned n = 0; n < channel_count; ++n)
        if ((channels >> n & 1) != 0) channels_[n]->pulse();
}

void host_dma::reset() {
    memory_.host_dma.reset();
    for (dma_channel* c : channels_) c->abandon();
    controller_->reset();
}

dma_controller::settings host_dma::how() const {
    return {.engines = static_cast<unsigned>(engines),
            .fixed_priority = arbitration.get() == "fixed",
            .fifo_bytes = static_cast<std::uint32_t>(fifo_bytes),
            .trigger_clocks = static_cast<std::uint32_t>(trigger_clocks),
            .setup_clocks = static_cast<std::uint32_t>(setup_clocks),
            .finish_clocks = static_cast<std::uint32_t>(finish_clocks)};
}

host_dma::host_dma(const sc_core::sc_module_name& name, const card_clock& clock, sram& memory,
                   special_registers& registers, bus::master& master, bus::implementation how)
    : module(name),
      engines(*this,
              {.name = "engines",
               .value = 1,
               .min = 1,
               .max = 4,
               .choices = {1, 2, 4},
               .help = "blocks in work at once: 1, 2 (one for each direction) or 4 (one for each channel)",
               .source = "assumed"}),
      arbitration(*this,
                  {.name = "arbitration",
                   .value = "round_robin",
                   .choices = {"round_robin", "fixed"},
                   .help = "which waiting channel gets an engine, block by block; fixed: the lowest number",
                   .source = "assumed"}),
      fifo_bytes(*this, {.name = "fifo_bytes",
                         .unit = "bytes",
                         .value = 512,
                         .min = 16,
                         .max = 65536,
                         .help = "buffer between SRAM and bus; SRAM is read ahead in halves of it",
                         .source = "assumed; bursts of 256 bytes: facts/lanai_pcix.md C1"}),
      trigger_clocks(*this, {.name = "trigger_clocks",
                             .unit = "clocks",
                             .value = 4,
                             .max = 1000,
                             .help = "from PULSE to the fetch of the block, LANai clocks",
                             .source = "assumed: two clocks of a 66 MHz bus side"}),
      setup_clocks(*this,
                   {.name = "setup_clocks",
                    .unit = "clocks",
                    .value = 8,
                    .max = 1000,
                    .help = "from the fetched block to the request on the bus, LANai clocks",
                    .source = "assumed; facts/lanai_pcix.md B7: start of a chained block 0.4-0.6 us in all"}),
      finish_clocks(
          *this, {.name = "finish_clocks",
                  .unit = "clocks",
                  .value = 2,
                  .max = 1000,
                  .help = "from the last byte of the block to the write-back of its checksum, LANai clocks",
                  .source = "assumed"}),
      channel0("channel0", *this, 0),
      channel1("channel1", *this, 1),
      channel2("channel2", *this, 2),
      channel3("channel3", *this, 3),
      clock_(clock),
      memory_(memory),
      registers_(registers),
      master_(master),
      channels_{&channel0, &channel1, &channel2, &channel3} {
    dma_controller::surroundings& around = *this;
    if (how == bus::implementation::rtl)
        controller_ = rtl::make_dma_chains(around, clock.domain());
    else
        controller_ = std::make_unique<chain_walker>(around, clock, memory.host_dma);
}

}  // namespace vinic::nic
