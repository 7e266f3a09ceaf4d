// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "hw/bus/pci_bus.h"
#include "hw/link/protocol.h"
#include "hw/sim/clock_domain.h"
#include "hw/sim/module.h"

namespace vinic::nic {

class lanai_core;

/// What every card shows the machine that it is plugged into: module `nic` of a node.
class card : public sim::module {
public:
    using module::module;

    /// Level of the host interrupt; set it before the simulation starts.
    std::function<void(bool asserted)> interrupt;

    /// The clock of the card's own logic.
    virtual const sim::clock_domain& clock_domain() const = 0;

    /// Wires the card to the bus as master and target; the number is the target's, for pci_bus::map.
    virtual unsigned attach(bus::pci_bus& to) = 0;
    /// Size of BAR 0.
    virtual std::uint64_t bar_bytes() const = 0;

    virtual link::initiator_socket& link_out() = 0;
    virtual link::target_socket& link_in() = 0;

    /// Who executes the card's firmware; null: the card runs none.
    virtual lanai_core* core() { return nullptr; }

    /// Takes out of the kernel what a card does while it idles, until `finish`: so that the events left show
    /// who has more to do.
    virtual void hold() {}
    /// Brings the card to now: at the end of the run, and before its statistics are read.
    virtual void finish() {}
    /// Whether it does nothing any more unless something reaches it. After `hold`.
    virtual bool idles_for_ever() const { return true; }
};

}  // namespace vinic::nic
