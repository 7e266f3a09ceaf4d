// SPDX-License-Identifier: Apache-2.0
// A plain Ethernet card: the wiring of its blocks.
#pragma once

#include "hw/bus/master.h"
#include "hw/bus/pci_bus.h"
#include "hw/bus/target_port.h"
#include "hw/link/port.h"
#include "hw/nic/card.h"
#include "hw/nic/ethernet/descriptor_ring.h"
#include "hw/nic/ethernet/mac.h"
#include "hw/nic/ethernet/receive_engine.h"
#include "hw/nic/ethernet/registers.h"
#include "hw/nic/ethernet/steps.h"
#include "hw/nic/ethernet/transmit_engine.h"

namespace vinic::nic {

/// Module `nic` of a node: descriptor rings in host memory, a FIFO each way, a MAC, and one interrupt. It
/// knows nothing of what its frames are for. Its host side works at edges of the bus clock.
class ethernet_card : public card {
public:
    ethernet_card(const sc_core::sc_module_name& name, const bus::bus_properties& bus, bus::requester_id id);

private:
    const sim::clock_domain& clock_;  // of the bus
    ethernet::steps steps_;

public:
    const bus::requester_id id;
    bus::master master;                       // nic.master
    ethernet::registers registers;            // nic.registers
    bus::target_port target;                  // nic.target
    ethernet::descriptor_ring transmit_ring;  // nic.transmit_ring
    ethernet::descriptor_ring receive_ring;   // nic.receive_ring
    ethernet::mac mac;                        // nic.mac
    link::port link;                          // nic.link
    ethernet::transmit_engine transmit;       // nic.transmit
    ethernet::receive_engine receive;         // nic.receive

    const sim::clock_domain& clock_domain() const override { return clock_; }
    unsigned attach(bus::pci_bus& to) override;
    std::uint64_t bar_bytes() const override;
    link::initiator_socket& link_out() override { return link.out; }
    link::target_socket& link_in() override { return link.in; }

private:
    void step();
    void on_register(abi::ethernet::register_offset at, std::uint32_t value);
};

}  // namespace vinic::nic
