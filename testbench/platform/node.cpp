// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/node.h"

#include "host_driver/sockets/socket_layer.h"
#include "testbench/platform/node_parts.h"

namespace vinic::testbench {

namespace {

/// Where the firmware of the machine puts the card's BAR 0: above all RAM.
constexpr host::pci_address card_base = 0xE000'0000;
constexpr bus::requester_id card_id{.bus = 0, .device = 1, .function = 0};

}  // namespace

node::node(const sc_core::sc_module_name& name, unsigned number, const located& card,
           const vinic::driver::card_image* firmware, const vinic::driver::fabric_directory& directory,
           vinic::link::fabric& fabric)
    : sim::module(name),
      bus("bus"),
      host("host", bus),
      nic(make_card(card, bus.properties(), card_id)),
      driver(
          make_driver(*nic, {.cpu = host.cpu,
                             .window = std::make_unique<vinic::driver::bridge_window>(host.bridge, card_base),
                             .firmware = firmware,
                             .byte_time = fabric.byte_time(),
                             .address = vinic::driver::make_node_address(number, 0)})),
      sockets(make_sockets(*driver, host.cpu)),
      agent("agent", host.cpu, *driver, directory, vinic::driver::make_node_address(number, 0), 0),
      vipl("vipl", host.cpu, {&agent}),
      programmable_(dynamic_cast<vinic::nic::lanai_card*>(nic.get())),
      number_(number) {
    bus.map(nic->attach(bus), card_base, nic->bar_bytes());
    const unsigned line = host.interrupt_line.attach();
    nic->interrupt = [this, line](bool asserted) { host.interrupt_line.set(line, asserted); };
    fabric.attach(number, nic->link_out(), nic->link_in());
}

node::~node() = default;

vinic::host::address_space& node::new_program() {
    programs_.push_back(std::make_unique<vinic::host::address_space>(
        host.memory, number_, static_cast<unsigned>(programs_.size())));
    return *programs_.back();
}

}  // namespace vinic::testbench
