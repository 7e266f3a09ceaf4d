// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/ethernet/ethernet_card.h"

namespace vinic::nic {

using namespace abi::ethernet;

ethernet_card::ethernet_card(const sc_core::sc_module_name& name, const bus::bus_properties& bus,
                             bus::requester_id who)
    : card(name),
      clock_(bus.clock),
      steps_(bus.clock, [this] { step(); }),
      id(who),
      master("master", bus, id),
      registers("registers", steps_, bus.clock),
      target("target", bus, registers, &master),
      transmit_ring("transmit_ring", steps_, master),
      receive_ring("receive_ring", steps_, master),
      mac("mac"),
      link("link", mac.client()),
      transmit("transmit", steps_, master, transmit_ring, mac),
      receive("receive", steps_, master, receive_ring, mac) {
    mac.bind(link);
    registers.on_register = [this](register_offset at, std::uint32_t value) { on_register(at, value); };
    registers.interrupt = [this](bool level) {
        if (interrupt) interrupt(level);
    };
    transmit.on_report = [this] { registers.report(CAUSE_SENT); };
    receive.on_report = [this] { registers.report(CAUSE_RECEIVED); };
}

unsigned ethernet_card::attach(bus::pci_bus& to) {
    to.attach(master);
    return to.attach(target, {.id = id});
}

std::uint64_t ethernet_card::bar_bytes() const { return abi::ethernet::bar_bytes; }

/// What comes from the wire goes first: it cannot wait.
void ethernet_card::step() {
    receive.step();
    transmit.step();
    receive_ring.step();
    transmit_ring.step();
}

void ethernet_card::on_register(register_offset at, std::uint32_t value) {
    switch (at) {
        case CONTROL: {
            const std::uint32_t high = registers.stored(ADDRESS_HIGH), low = registers.stored(ADDRESS_LOW);
            mac.set_address({static_cast<std::uint8_t>(high >> 8), static_cast<std::uint8_t>(high),
                             static_cast<std::uint8_t>(low >> 24), static_cast<std::uint8_t>(low >> 16),
                             static_cast<std::uint8_t>(low >> 8), static_cast<std::uint8_t>(low)});
            if ((value & CONTROL_TRANSMIT) != 0)
                transmit_ring.place(registers.stored_pair(TRANSMIT_RING_LOW),
                                    registers.stored(TRANSMIT_ENTRIES));
            if ((value & CONTROL_RECEIVE) != 0)
                receive_ring.place(registers.stored_pair(RECEIVE_RING_LOW),
                                   registers.stored(RECEIVE_ENTRIES));
            return mac.enable_receive((value & CONTROL_RECEIVE) != 0);
        }
        case TRANSMIT_POSTED:
            return transmit_ring.post(value);
        case RECEIVE_POSTED:
            return receive_ring.post(value);
        default:
            return;
    }
}

}  // namespace vinic::nic
