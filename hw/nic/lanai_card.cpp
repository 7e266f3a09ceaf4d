// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/lanai_card.h"

#include <fmt/format.h>

#include "firmware/abi/card_map.h"
#include "hw/sim/error.h"
#include "hw/sim/nominal_clock.h"

namespace vinic::nic {

card_clock lanai_card::make_clock(const lanai_card& of, const bus::bus_properties& bus) {
    const sim::clock_domain real =
        of.clock_mhz != 0 ? sim::clock_domain::from_mhz(of.clock_mhz) : bus.clock.times(of.clock_multiplier);
    return card_clock(of.lanai_free ? real.times(of.free_multiplier) : real);
}

lanai_card::lanai_card(const sc_core::sc_module_name& name, const bus::bus_properties& bus,
                       bus::requester_id who)
    : card(name),
      chip(*this, {.name = "chip",
                   .value = "lanai9",
                   .choices = {"lanai4", "lanai7", "lanai9"},
                   .help = "generation of the LANai",
                   .source = "facts/lanai_pcix.md B1"}),
      clock_mhz(*this, {.name = "lanai.clock_mhz",
                        .unit = "MHz",
                        .value = traits_of(chip).clock_mhz,
                        .max = 1000,
                        .help = fmt::format(
                            "clock of core and local bus; 0: lanai.clock_multiplier times the bus clock; {}",
                            sim::nominal_clock),
                        .source = "facts/lanai_pcix.md B1"}),
      clock_multiplier(*this, {.name = "lanai.clock_multiplier",
                               .value = 2,
                               .min = 1,
                               .max = 8,
                               .help = "LANai clocks in a bus clock, where lanai.clock_mhz is 0",
                               .source = "facts/lanai_pcix.md B1: 2.0 on PCI64 boards"}),
      lanai_free(*this,
                 {.name = "lanai.free",
                  .value = false,
                  .help = "what-if: instructions of the core and what the LANai counts in its clocks take "
                          "next to no time: its clock is lanai.free_multiplier times what it would be"}),
      free_multiplier(*this,
                      {.name = "lanai.free_multiplier",
                       .value = 100,
                       .min = 2,
                       .max = 100,
                       .help = "with lanai.free: how many times as fast core and local bus are clocked"}),
      translation_free(
          *this, {.name = "translation.free",
                  .value = false,
                  .help = "what-if: reads of the table of translations in host memory take no time before "
                          "the SRAM; the firmware's instructions for it are the core's (lanai.free)"}),
      dma_impl(*this, {.name = "dma.impl",
                       .value = "model",
                       .choices = {"model", "rtl"},
                       .help = "who moves blocks between host and SRAM: the model, or hw/rtl/pcix_dma",
                       .source = "both do the same in the same clock"}),
      traits(traits_of(chip)),
      clock(make_clock(*this, bus)),
      id(who),
      memory("sram", clock, traits),
      registers("registers", clock, traits, memory),
      lanai("lanai", clock, memory, registers),
      master("master", bus, id, bus::implementation_of(dma_impl.get())),
      dma("dma", clock, memory, registers, master, bus::implementation_of(dma_impl.get())),
      send("send", clock, memory, registers),
      receive("receive", clock, traits, memory, registers),
      packets_(send, receive, registers),
      link("link", packets_),
      doorbells("doorbells", memory, registers),
      pci("pci", clock, bus, memory, registers, dma, doorbells),
      target("target", bus, pci, &master) {
    memory.attach(lanai);
    registers.attach(lanai);
    send.bind(link);
    receive.bind(link);
    wire_registers();
    registers.interrupt = [this](bool level) {
        if (interrupt) interrupt(level);
    };
    pci.lanai_reset = [this](bool asserted) { asserted ? lanai.assert_reset() : lanai.release_reset(); };
    pci.board_reset = [this] { reset_board(); };
}

void lanai_card::wire_registers() {
    registers.connect(chip_register::pulse, {nullptr, [this](std::uint32_t v, cycle) { dma.pulse(v); }});
    // LANai 4 (B3): host address, local address and direction, then the count starts the transfer.
    registers.connect(chip_register::dma_ctr, {[this](cycle) { return dma.channel0.busy() ? 1u : 0u; },
                                               [this](std::uint32_t bytes, cycle at) {
                                                   dma.channel0.start(
                                                       registers.stored(chip_register::ear),
                                                       registers.stored(chip_register::lar), bytes,
                                                       (registers.stored(chip_register::dma_dir) & 1) != 0);
                                                   static_cast<void>(at);
                                               }});
    registers.connect(chip_register::cks, {[this](cycle) { return dma.channel0.checksum(); }, nullptr});
}

void lanai_card::reset_board() {
    lanai.assert_reset();
    dma.reset();
    send.reset();
    receive.reset();
    doorbells.reset();
    registers.reset();
    pci.reset();
}

std::uint64_t lanai_card::bar_bytes() const { return abi::card_map::bar_bytes; }

void lanai_card::set_translation_table(std::uint64_t address, std::uint64_t bytes) {
    if (translation_free) dma.set_free_reads(address, bytes);
}

unsigned lanai_card::attach(bus::pci_bus& to) {
    to.attach(master);
    return to.attach(target, pci.properties(id));
}

}  // namespace vinic::nic
