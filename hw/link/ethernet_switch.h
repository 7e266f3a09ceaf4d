// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "hw/link/ethernet_frame.h"
#include "hw/link/port.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"
#include "hw/sim/unit.h"

namespace vinic::link {

/// An Ethernet switch (IEEE 802.1D without spanning tree, so the network must be a tree): takes a whole
/// frame, drops it when its FCS is wrong, learns its source, and queues it at the output that its destination
/// was last seen at, or at all others. A full output queue drops. The parameters of all switches can be set
/// as `switch.NAME`.
class ethernet_switch : public sim::module {
public:
    sim::parameter<std::uint64_t> forwarding_ps;
    sim::parameter<std::uint64_t> queue_bytes;
    sim::parameter<std::uint64_t> addresses;

    sim::counter<sim::unit::packets> forwarded;
    sim::counter<sim::unit::packets> flooded;
    sim::counter<sim::unit::packets> damaged;
    sim::counter<sim::unit::packets> queue_full;

    ethernet_switch(const sc_core::sc_module_name& name, unsigned ports);
    ~ethernet_switch() override;

    initiator_socket& out(unsigned port);
    target_socket& in(unsigned port);

private:
    struct side;
    /// A frame as it was on the wire, whose way is known at that time. Frames of one instant: by port.
    using arrival = std::pair<picoseconds, unsigned>;
    using bytes = std::vector<std::uint8_t>;

    void arrived(unsigned port, std::span<const std::uint8_t> frame);
    void forward();
    void send(unsigned port, const bytes& frame);

    std::vector<std::unique_ptr<side>> sides_;
    std::map<arrival, bytes> arrivals_;
    std::map<ethernet::address, unsigned> learnt_;
    sim::timer due_{[this] { forward(); }};
};

}  // namespace vinic::link
