// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/bus/bus_properties.h"
#include "hw/bus/command.h"
#include "hw/bus/wires.h"

namespace vinic::bus {

/// The rules of PCI and PCI-X that can be seen on the wires (facts/lanai_pcix.md C1, C2). Feed it every clock
/// in which something is asserted, in order; clocks left out are idle.
class protocol_checker {
public:
    explicit protocol_checker(const bus_properties& bus);

    void sample(const bus_clock& wires);
    /// Broken rules, each with its clock; empty when all is well.
    const std::vector<std::string>& violations() const { return violations_; }

private:
    bus_properties bus_;
    std::vector<std::string> violations_;
};

}  // namespace vinic::bus
