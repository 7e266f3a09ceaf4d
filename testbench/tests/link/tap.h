// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "hw/link/checker.h"
#include "hw/link/protocol.h"
#include "hw/sim/module.h"

namespace vinic::link {

/// Sits between a cable and whoever is at its end and writes down every symbol of both directions, without
/// taking time: what the closed form says, character by character, for the checker.
class tap : public sim::module, private endpoint {
public:
    /// To the network and to the card.
    initiator_socket to_net{"to_net"};
    target_socket from_net{"from_net"};
    initiator_socket to_card{"to_card"};
    target_socket from_card{"from_card"};

    explicit tap(const sc_core::sc_module_name& name) : sim::module(name) {
        from_card.bind(forward_[outward]);
        to_net.bind(backward_[outward]);
        from_net.bind(forward_[inward]);
        to_card.bind(backward_[inward]);
    }

    static constexpr unsigned outward = 0;
    static constexpr unsigned inward = 1;

    /// Runs the rules over what was seen of a direction.
    checker check(unsigned direction, checker::leads_to to, picoseconds delay_to_sender, bool crc8) const {
        std::vector<symbol> symbols = seen_[direction];
        // STOP and GO of an instant come before the characters of that instant.
        std::ranges::stable_sort(symbols, {}, [](const symbol& s) {
            return std::pair(s.at, s.what == symbol::kind::data || s.what == symbol::kind::gap);
        });
        checker rules({cable_.byte_ps, delay_to_sender, to, crc8});
        for (const symbol& s : symbols) rules.see(s);
        return rules;
    }
    picoseconds cable_delay() const { return cable_.delay_ps; }
    /// Packets as a whole when their tail came; flow control when it was announced.
    const std::vector<symbol>& symbols(unsigned direction) const { return seen_[direction]; }

private:
    void forward(unsigned side, transfer& message, phase what, picoseconds in) override {
        if (what == phase::connect) cable_ = message.cable;
        if (what == phase::head) characters_[side] = {};
        if (what == phase::head || what == phase::more) characters_[side].append(message.characters);
        if (what == phase::hold) characters_[side].truncate(message.held_from);
        if (what == phase::tail) write_down(side, message);
        sc_core::sc_time delay = sim::to_sc_time(in);
        (side == outward ? to_net : to_card)->nb_transport_fw(message, what, delay);
    }
    void backward(unsigned side, transfer& message, phase what, picoseconds in) override {
        if (what == phase::stop || what == phase::go)
            seen_[side].push_back(
                {sim::now() + in, what == phase::stop ? symbol::kind::stop : symbol::kind::go, 0});
        sc_core::sc_time delay = sim::to_sc_time(in);
        (side == outward ? from_card : from_net)->nb_transport_bw(message, what, delay);
    }
    void write_down(unsigned side, const transfer& message) {
        const unsigned hop = side == outward ? message.hop : message.hop;
        const std::vector<std::uint8_t> bytes = message.what->on_wire(message.first_byte, hop);
        for (std::uint64_t c = 0; c < bytes.size(); ++c)
            seen_[side].push_back({characters_[side].time_of(c), symbol::kind::data, bytes[c]});
        seen_[side].push_back({characters_[side].time_of(bytes.size()), symbol::kind::gap, 0});
    }

    forward_adapter forward_[2] = {{*this, 0}, {*this, 1}};
    backward_adapter backward_[2] = {{*this, 0}, {*this, 1}};
    wire cable_;
    schedule characters_[2];
    std::vector<symbol> seen_[2];
};

}  // namespace vinic::link
