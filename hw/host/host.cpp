// SPDX-License-Identifier: Apache-2.0
#include "hw/host/host.h"

namespace vinic::host {

host::host(const sc_core::sc_module_name& name, bus::pci_bus& bus)
    : sim::module(name),
      free(
          *this,
          {.name = "free", .value = false, .help = "what-if: software, host bridge and memory take no time"}),
      memory("memory"),
      cpu("cpu", memory, free),
      bridge("bridge", memory, bus, bus::requester_id{}, cpu.count, free),
      interrupt_line("interrupt_line", [this](bool level) { cpu.interrupt_level(level); }) {}

}  // namespace vinic::host
