// SPDX-License-Identifier: Apache-2.0
// A Myrinet card with a LANai: the wiring of its blocks.
#pragma once

#include <string>

#include "hw/bus/master.h"
#include "hw/bus/pci_bus.h"
#include "hw/bus/target_port.h"
#include "hw/link/port.h"
#include "hw/nic/card.h"
#include "hw/nic/card_clock.h"
#include "hw/nic/chip.h"
#include "hw/nic/doorbell_region.h"
#include "hw/nic/host_dma.h"
#include "hw/nic/lanai_core.h"
#include "hw/nic/packet_engines.h"
#include "hw/nic/pci_interface.h"
#include "hw/nic/special_registers.h"
#include "hw/nic/sram.h"
#include "hw/sim/parameter.h"

namespace vinic::nic {

/// Built in reset; the driver loads firmware and starts the core through the bus.
class lanai_card : public card {
public:
    lanai_card(const sc_core::sc_module_name& name, const bus::bus_properties& bus, bus::requester_id id);

    sim::parameter<std::string> chip;
    sim::parameter<std::uint64_t> clock_mhz;         // lanai.clock_mhz; 0: by the multiplier
    sim::parameter<std::uint64_t> clock_multiplier;  // lanai.clock_multiplier, of the bus clock
    sim::parameter<bool> lanai_free;                 // lanai.free
    sim::parameter<std::uint64_t> free_multiplier;   // lanai.free_multiplier
    sim::parameter<bool> translation_free;           // translation.free
    sim::parameter<std::string> dma_impl;            // dma.impl

    const chip_traits& traits;
    const card_clock clock;
    const bus::requester_id id;

    sram memory;                  // nic.sram
    special_registers registers;  // nic.registers
    lanai_core lanai;             // nic.lanai
    bus::master master;           // nic.master
    host_dma dma;                 // nic.dma
    send_dma send;                // nic.send
    receive_dma receive;          // nic.receive
private:
    packet_interface packets_;

public:
    link::port link;            // nic.link
    doorbell_region doorbells;  // nic.doorbell
    pci_interface pci;          // nic.pci
    bus::target_port target;    // nic.target

    /// Where the firmware's table of translations stands in host memory, for `translation.free` alone.
    void set_translation_table(std::uint64_t address, std::uint64_t bytes);

    const sim::clock_domain& clock_domain() const override { return clock.domain(); }
    unsigned attach(bus::pci_bus& to) override;
    std::uint64_t bar_bytes() const override;
    link::initiator_socket& link_out() override { return link.out; }
    link::target_socket& link_in() override { return link.in; }
    lanai_core* core() override { return &lanai; }
    void hold() override { lanai.hold(); }
    void finish() override { lanai.finish(); }
    bool idles_for_ever() const override { return lanai.idles_for_ever(); }

private:
    static card_clock make_clock(const lanai_card& of, const bus::bus_properties& bus);
    void wire_registers();
    void reset_board();
};

}  // namespace vinic::nic
