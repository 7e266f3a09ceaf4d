// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "traces/cable_ends.h"

namespace vinic::traces {

/// Where packets go: follows what is left of their route from cable to cable.
class packet_ways {
public:
    explicit packet_ways(const cable_map& cables);

    /// `way`: name of a direction of a cable, as in "fabric.cable0.ab". The end at which a packet that passes
    /// there arrives ("node3", "node3.nic1"); a switch when the route leads nowhere, empty when the cable is not known.
    std::string destination(const std::string& way, std::span<const std::uint8_t> packet) const;

private:
    std::map<std::string, std::string> far_ends_;    ///< by direction of a cable
    std::map<std::string, std::string> other_ends_;  ///< of the cable at that end
};

}  // namespace vinic::traces
