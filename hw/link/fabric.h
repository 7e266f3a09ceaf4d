// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hw/link/cable.h"
#include "hw/link/ethernet_switch.h"
#include "hw/link/switch.h"
#include "hw/link/topology.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"

namespace vinic::link {

/// The network between the cards: `fabric.switch0`, `fabric.cable0` ..., built from a topology.
class fabric : public sim::module {
public:
    sim::parameter<std::string> switching;

    fabric(const sc_core::sc_module_name& name, const topology& of);

    /// Attaches the link port of a node's card. To be called once for each node before the simulation starts.
    void attach(unsigned node, initiator_socket& out, target_socket& in);

    const topology& layout() const { return layout_; }
    const routing& routes() const { return routes_; }
    const std::vector<std::uint8_t>& route(unsigned from, unsigned to) const {
        return routes_.route(from, to);
    }

    const std::vector<std::unique_ptr<crossbar_switch>>& switches() const { return switches_; }
    const std::vector<std::unique_ptr<ethernet_switch>>& ethernet_switches() const {
        return ethernet_switches_;
    }
    const std::vector<std::unique_ptr<cable>>& cables() const { return cables_; }

    /// Of a byte on the slowest cable.
    picoseconds byte_time() const;

    /// Who waits for whom in all switches, one line each; empty when nobody waits.
    std::vector<std::string> waiting() const;

private:
    struct cable_end {
        target_socket* from = nullptr;
        initiator_socket* to = nullptr;
    };
    void plug(const topology::end& here, const topology::end& there, target_socket& from,
              initiator_socket& to);

    topology layout_;
    routing routes_;
    std::vector<cable_end> attached_;
    std::vector<std::unique_ptr<crossbar_switch>> switches_;
    std::vector<std::unique_ptr<ethernet_switch>> ethernet_switches_;
    std::vector<std::unique_ptr<cable>> cables_;
};

}  // namespace vinic::link
