// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace vinic::traces {

/// What a cable connects: "node0" (its first card), "node0.nic1", "switch0 port 3".
struct cable_ends {
    std::string a;
    std::string b;
    bool ethernet = false;  ///< its packets are Ethernet frames
};

/// By the cable's hierarchical name.
using cable_map = std::map<std::string, cable_ends>;

}  // namespace vinic::traces
