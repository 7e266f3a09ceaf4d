// SPDX-License-Identifier: Apache-2.0
// The way in: a packet that arrives is taken into a free buffer, its frame is checked and taken off, and it
// waits for its placement. Without a buffer the packet stays in the link.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

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

class receive_engine : public sim::module {
public:
    receive_engine(const sc_core::sc_module_name& name, sequencer& order, framing& frames);

    sim::parameter<std::uint64_t> buffers;
    sim::parameter<std::uint64_t> check_clocks;

    sim::counter<sim::unit::packets> packets{*this, "packets", "packets taken from the link"};
    sim::counter<sim::unit::bytes> bytes{*this, "bytes", "bytes of these, framing included"};

    sim::value_probe waiting{*this, "waiting", 16, "packets that wait for their placement"};
    sim::span_probe reception{*this, "reception", "a packet: from its first byte to its last"};
    sim::packet_probe packet{*this, "packet", "a packet that has arrived, its frame taken off"};

    void bind(link::port& to) { port_ = &to; }

    /// From the link.
    void on_head();
    void on_tail(const link::reception& came);
    /// A packet of this card to itself.
    step<bool> accept(const outgoing_packet& what);

    /// The next packet to place.
    step<std::shared_ptr<arrived_packet>> next();
    /// Its buffer is free.
    void released() { free_.give(); }

private:
    struct frame {
        std::vector<std::uint8_t> bytes;
        sim::picoseconds at;
    };
    machine taking();
    machine checking();
    void put(packet_head head, std::span<const std::uint8_t> payload);

    sequencer& sequencer_;
    framing& framing_;
    link::port* port_ = nullptr;
    pool free_;
    std::uint64_t heads_ = 0;
    std::uint64_t arrivals_ = 0;
    std::deque<frame> frames_;
    std::deque<std::shared_ptr<arrived_packet>> arrived_;
    sim::picoseconds began_ = 0;
    condition head_;
    condition tail_;
    condition put_;
    machine taking_machine_;
    machine checking_machine_;
};

}  // namespace vinic::nic
