// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/node.h"

#include <fmt/format.h>

#include <string>

#include "host_driver/sockets/socket_layer.h"
#include "testbench/platform/node_parts.h"

namespace vinic::testbench {

namespace {

/// Where the firmware of the machine puts the first card's BAR 0: above all RAM. Further ones follow.
constexpr host::pci_address first_base = 0xE000'0000;

/// "nic", "nic1", "nic2" ...
std::string numbered(const char* stem, unsigned card) {
    return card == 0 ? std::string(stem) : fmt::format("{}{}", stem, card);
}

}  // namespace

nic::lanai_card* node::plugged_card::programmable() const {
    return dynamic_cast<nic::lanai_card*>(nic.get());
}

node::node(const sc_core::sc_module_name& name, unsigned number, const located& card,
           const vinic::driver::card_image* firmware, const vinic::driver::fabric_directory& directory,
           vinic::link::fabric& fabric)
    : sim::module(name),
      bus("bus"),
      host("host", bus),
      cards(plug_in(number, card, firmware, directory, fabric)),
      sockets(make_sockets(*cards.front().driver, host.cpu)),
      vipl("vipl", host.cpu, agents()),
      number_(number) {}

node::~node() = default;

/// Cards share the bus, in whose round robin they stand by number behind the host bridge, and INTA#.
std::vector<node::plugged_card> node::plug_in(unsigned number, const located& kind,
                                              const vinic::driver::card_image* firmware,
                                              const vinic::driver::fabric_directory& directory,
                                              vinic::link::fabric& fabric) {
    std::vector<plugged_card> all(fabric.layout().cards);
    for (unsigned i = 0; i < all.size(); ++i) {
        plugged_card& one = all[i];
        const auto address = vinic::driver::make_node_address(number, i);
        one.nic = make_card(numbered("nic", i), kind, bus.properties(),
                            {.bus = 0, .device = static_cast<std::uint8_t>(1 + i), .function = 0});
        // A BAR lies at a multiple of its size.
        const host::pci_address base = first_base + i * one.nic->bar_bytes();
        one.driver = make_driver(numbered("driver", i), *one.nic,
                                 {.cpu = host.cpu,
                                  .window = std::make_unique<vinic::driver::bridge_window>(host.bridge, base),
                                  .firmware = firmware,
                                  .byte_time = fabric.byte_time(),
                                  .address = address});
        one.agent = std::make_unique<vinic::driver::kernel_agent>(numbered("agent", i).c_str(), host.cpu,
                                                                  *one.driver, directory, address, i);
        bus.map(one.nic->attach(bus), base, one.nic->bar_bytes());
        const unsigned line = host.interrupt_line.attach();
        one.nic->interrupt = [this, line](bool asserted) { host.interrupt_line.set(line, asserted); };
        fabric.attach(fabric.layout().place_of(number, i), one.nic->link_out(), one.nic->link_in());
    }
    return all;
}

std::vector<vinic::driver::kernel_agent*> node::agents() const {
    std::vector<vinic::driver::kernel_agent*> all;
    for (const plugged_card& one : cards) all.push_back(one.agent.get());
    return all;
}

vinic::host::address_space& node::new_program() {
    programs_.push_back(std::make_unique<vinic::host::address_space>(
        host.memory, number_, static_cast<unsigned>(programs_.size())));
    return *programs_.back();
}

}  // namespace vinic::testbench
