// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hw/bus/bus_properties.h"
#include "hw/bus/protocol.h"

namespace vinic::bus {

/// How a target sits on the bus.
struct target_properties {
    requester_id id;  ///< configuration cycles and split completions for it come here
    /// DEVSEL# this many clocks after the address (PCI-X: attribute) phase; 0: as the bus's parameter says.
    std::uint32_t decode_clocks = 0;
    bool wide = true;  ///< ACK64#
};

/// Which target claims an address phase.
class decoder {
public:
    unsigned add(const target_properties& how);
    const target_properties& target(unsigned n) const { return targets_[n]; }

    /// False when the range overlaps another one, or is empty.
    bool map(unsigned target, std::uint64_t base, std::uint64_t bytes);
    void unmap(unsigned target);

    struct claim {
        unsigned target;
        std::uint64_t bytes;  ///< from the address to the end of what the target claims
    };
    std::optional<claim> decode(command c, bus_kind kind, std::uint64_t address,
                                const requester_id& completion_for) const;

private:
    struct range {
        std::uint64_t last;
        unsigned target;
    };

    std::vector<target_properties> targets_;
    std::map<std::uint64_t, range> ranges_;
};

}  // namespace vinic::bus
