// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "hw/link/topology.h"
#include "hw/sim/random.h"

namespace vinic::link {

/// Up to six switches in a random tree with some further cables, loops and parallel ones included, and one to
/// three nodes at each, at random ports.
inline topology random_topology(sim::random_stream& random) {
    topology t;
    t.switch_ports.assign(1 + random.below(6), 12);
    std::vector<std::vector<unsigned>> free(t.switch_ports.size());
    for (auto& ports : free)
        for (unsigned p = 0; p < 12; ++p)
            ports.insert(ports.begin() + static_cast<long>(random.below(p + 1)), p);
    const auto take = [&](unsigned s) {
        const unsigned port = free[s].back();
        free[s].pop_back();
        return topology::switch_port(s, port);
    };
    const auto any_switch = [&] { return static_cast<unsigned>(random.below(t.switch_ports.size())); };
    for (unsigned s = 1; s < t.switch_ports.size(); ++s) {
        const auto other = static_cast<unsigned>(random.below(s));
        t.cables.push_back({take(other), take(s)});
    }
    for (std::uint64_t extra = random.below(5); extra > 0; --extra) {
        const unsigned a = any_switch();
        const unsigned b = any_switch();
        if (a != b && free[a].size() > 4 && free[b].size() > 4) t.cables.push_back({take(a), take(b)});
    }
    for (unsigned s = 0; s < t.switch_ports.size(); ++s)
        for (std::uint64_t n = 1 + random.below(3); n > 0; --n)
            t.cables.push_back({topology::node(t.nodes++), take(s)});
    return t;
}

}  // namespace vinic::link
