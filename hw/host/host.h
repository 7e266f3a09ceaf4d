// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/bus/pci_bus.h"
#include "hw/host/bridge.h"
#include "hw/host/cpu.h"
#include "hw/host/interrupt_line.h"
#include "hw/host/memory.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"

namespace vinic::host {

/// A node without its cards: processors, RAM, the bridge to the I/O bus and the interrupt line.
class host : public sim::module {
public:
    sim::parameter<bool> free;

    vinic::host::memory memory;
    vinic::host::cpu cpu;
    vinic::host::bridge bridge;
    vinic::host::interrupt_line interrupt_line;

    /// The bridge is device 0 of the bus and takes its place there.
    host(const sc_core::sc_module_name& name, bus::pci_bus& bus);
};

}  // namespace vinic::host
