// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/bus/bus_properties.h"
#include "hw/bus/command.h"

namespace vinic::bus {

/// The wires of a bus in one clock, as sampled at its end. Control signals are true when asserted (low). The
/// model's probes and RTL pins both come down to this.
struct bus_clock {
    std::uint64_t clock = 0;
    std::uint32_t req = 0;  ///< bit n: REQ# of master n
    std::uint32_t gnt = 0;
    bool frame = false;
    bool irdy = false;
    bool devsel = false;
    bool trdy = false;
    bool stop = false;
    bool req64 = false;
    bool ack64 = false;
    std::uint8_t cbe = 0;
    std::uint64_t ad = 0;
    std::uint64_t ad_floating = 0;  ///< bits of AD that nobody drives
};

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
