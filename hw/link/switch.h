// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hw/link/agenda.h"
#include "hw/link/protocol.h"
#include "hw/link/receiver.h"
#include "hw/link/transmitter.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::link {

/// A cut-through crossbar of any number of ports. The first byte of a packet names the output port relative
/// to the input port and is stripped; the rest follows as it arrives. A packet whose output is taken waits in
/// the input's slack buffer, and STOP goes back along its path. The parameters of all switches can be set as
/// `switch.NAME`.
class crossbar_switch : public sim::module, private endpoint {
public:
    std::vector<std::unique_ptr<target_socket>> in;
    std::vector<std::unique_ptr<initiator_socket>> out;

    receiver::parameters slack;
    sim::parameter<std::uint64_t> routing_ps;
    sim::parameter<std::string> arbitration;
    sim::parameter<std::uint64_t> nres_ps;

    sim::counter<sim::unit::packets> packets;
    sim::counter<sim::unit::packets> illegal_routes;
    sim::counter<sim::unit::packets> dead_ports;
    sim::histogram<sim::unit::ps> output_wait;

    /// By output (`out3`): a packet, from its grant to its GAP.
    std::vector<std::unique_ptr<sim::span_probe>> crossing;

    /// `ports` are there; those that are not bound to a cable are dead.
    crossbar_switch(const sc_core::sc_module_name& name, unsigned ports);
    ~crossbar_switch() override;

    unsigned ports() const { return static_cast<unsigned>(in.size()); }

    /// Who waits for whom, one line each.
    std::vector<std::string> waiting() const;
    /// What is at the other end of a port's cable, for messages.
    void name_peer(unsigned port, std::string what) { peers_[port] = std::move(what); }
    /// What to say about the whole network when a packet has been blocked for nres_ps.
    std::function<std::vector<std::string>()> explain;

    /// The most characters that a port's slack buffer has held, and its size.
    std::uint64_t highest_slack(unsigned port) const;
    std::uint64_t slack_size(unsigned port) const;
    /// How often the kernel woke this switch.
    std::uint64_t activations() const { return agenda_.activations(); }

private:
    struct input;
    struct output;
    /// In the order in which they are done when they fall on one instant.
    enum kind : unsigned {
        control,
        arrival,
        routed,
        tail,
        sunk,
        grant,
        launch,
        level,
        nres_in,
        nres_out,
        kinds
    };

    void forward(unsigned port, transfer& message, phase what, picoseconds in) override;
    void backward(unsigned port, transfer& message, phase what, picoseconds in) override;
    void act();
    void perform(unsigned what, unsigned port);
    void do_control(unsigned port);
    void do_arrival(unsigned port);
    void do_route(unsigned port);
    void do_tail(unsigned port);
    void do_grant(unsigned port);
    void start_routing(unsigned port);
    void finish(unsigned port);
    void sink(unsigned port);
    void ask_for_grant(unsigned port);
    unsigned choose(const output& among) const;
    void refresh_input(unsigned port);
    void refresh_output(unsigned port);
    void watch_blocked(unsigned what, unsigned port, bool blocked);
    [[noreturn]] void wedged();

    std::vector<std::unique_ptr<forward_adapter>> forward_adapters_;
    std::vector<std::unique_ptr<backward_adapter>> backward_adapters_;
    std::vector<std::unique_ptr<input>> inputs_;
    std::vector<std::unique_ptr<output>> outputs_;
    std::vector<std::string> peers_;
    agenda agenda_;
};

}  // namespace vinic::link
