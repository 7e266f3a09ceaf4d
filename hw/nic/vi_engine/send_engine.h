// SPDX-License-Identifier: Apache-2.0
// The way out: packets leave in the order in which they were made, each when its payload is on the card
// (store and forward), or, with cut_through_bytes, when so much of it is; the rest follows as it comes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "hw/link/port.h"
#include "hw/nic/vi_engine/framing.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/packet.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class send_engine : public sim::module {
public:
    send_engine(const sc_core::sc_module_name& name, sequencer& order, framing& frames);

    sim::parameter<std::uint64_t> start_clocks;
    sim::parameter<std::uint64_t> loopback_clocks;
    sim::parameter<std::uint64_t> cut_through_bytes;

    sim::counter<sim::unit::packets> packets{*this, "packets", "packets sent"};
    sim::counter<sim::unit::bytes> bytes{*this, "bytes", "bytes sent, framing included"};
    sim::counter<sim::unit::packets> dropped{*this, "dropped", "packets of connections that ended before"};

    sim::span_probe part{*this, "part", "a packet: from its first byte for the link to its last on the wire"};
    sim::packet_probe packet{*this, "packet", "a packet that is handed to the link, without its frame"};

    void bind(link::port& to) { port_ = &to; }
    /// The last of a packet is on its way: its descriptor may complete.
    std::function<void(outgoing_packet&)> left;
    /// Its buffer is free.
    std::function<void(outgoing_packet&)> released;
    /// A packet to this card itself. Returns when the receiver has taken it.
    std::function<step<bool>(const outgoing_packet&)> loop;

    void put(std::shared_ptr<outgoing_packet> what);
    /// From the link: the packet sent first has left.
    void on_sent();

private:
    struct on_wire {
        std::shared_ptr<outgoing_packet> what;
        sim::picoseconds began;
        std::uint64_t bytes;
    };
    machine run();
    step<bool> ready(outgoing_packet& what);
    step<bool> room();
    step<bool> transmit(std::shared_ptr<outgoing_packet> what);

    sequencer& sequencer_;
    framing& framing_;
    link::port* port_ = nullptr;
    std::deque<std::shared_ptr<outgoing_packet>> queue_;
    std::deque<on_wire> on_wire_;
    sequencer::edge not_before_ = 0;
    condition added_;
    condition sent_;
    machine machine_;
};

}  // namespace vinic::nic
