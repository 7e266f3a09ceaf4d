// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "hw/bus/bus_properties.h"
#include "hw/bus/wires.h"
#include "hw/sim/probe.h"

namespace vinic::bus {

/// Turns what a bus's probes report back into wires clock by clock, for the checker and for tests. REQ# and
/// GNT# are reported ahead of the rest, so the clocks come out when asked for.
class wire_sampler : public sim::listener {
public:
    wire_sampler(const bus_properties& bus, wires& watched);

    /// Every clock so far in which something is asserted, in order.
    void replay(const std::function<void(const bus_clock&)>& each);

    void on_value(const sim::value_probe&, sim::picoseconds at, std::uint64_t bits,
                  std::uint64_t floating) override;

private:
    using setter = std::function<void(bus_clock&, std::uint64_t bits, std::uint64_t floating)>;
    struct change {
        std::uint64_t clock;
        const setter* set;
        std::uint64_t bits;
        std::uint64_t floating;
    };

    void watch(sim::value_probe& p, setter s);

    const bus_properties& bus_;
    std::map<const sim::value_probe*, setter> setters_;  // looked up, never walked
    std::vector<change> changes_;
};

}  // namespace vinic::bus
