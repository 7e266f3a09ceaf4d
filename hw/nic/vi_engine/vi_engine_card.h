// SPDX-License-Identifier: Apache-2.0
// A VI engine in hardware, on its card: the wiring of its blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "hw/bus/master.h"
#include "hw/bus/pci_bus.h"
#include "hw/bus/target_port.h"
#include "hw/link/port.h"
#include "hw/nic/card.h"
#include "hw/nic/vi_engine/command_unit.h"
#include "hw/nic/vi_engine/completion_writer.h"
#include "hw/nic/vi_engine/control.h"
#include "hw/nic/vi_engine/control_machines.h"
#include "hw/nic/vi_engine/descriptor_fetch.h"
#include "hw/nic/vi_engine/doorbell_decoder.h"
#include "hw/nic/vi_engine/embedded_core.h"
#include "hw/nic/vi_engine/event_writer.h"
#include "hw/nic/vi_engine/framing.h"
#include "hw/nic/vi_engine/host_transfers.h"
#include "hw/nic/vi_engine/packet_maker.h"
#include "hw/nic/vi_engine/placement.h"
#include "hw/nic/vi_engine/receive_engine.h"
#include "hw/nic/vi_engine/register_window.h"
#include "hw/nic/vi_engine/reliability.h"
#include "hw/nic/vi_engine/send_engine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/nic/vi_engine/translation.h"
#include "hw/nic/vi_engine/vi_operations.h"
#include "hw/nic/vi_engine/vi_table.h"
#include "hw/sim/parameter.h"

namespace vinic::nic {

class vi_engine_card : public card, private link::port_client {
public:
    /// Who decides on connections, errors and sending again.
    enum class decision : std::uint8_t { machines, firmware };
    vi_engine_card(const sc_core::sc_module_name& name, const bus::bus_properties& bus, bus::requester_id id,
                   decision by);

    sim::parameter<std::uint64_t> clock_mhz;         // engine.clock_mhz; 0: the bus clock's multiple
    sim::parameter<std::uint64_t> clock_multiplier;  // engine.clock_multiplier

    sim::parameter<std::uint64_t> memory_clocks;  // engine.memory_clocks
    sim::parameter<std::string> dma_impl;         // dma.impl

    const bus::requester_id id;

    sequencer order;
    doorbell_decoder doorbells;     // nic.doorbells
    register_window pci;            // nic.pci
    bus::master master;             // nic.master
    host_transfers dma;             // nic.dma
    translation pages;              // nic.translation
    descriptor_fetch descriptors;   // nic.descriptors
    event_writer events;            // nic.events
    completion_writer completions;  // nic.completion
    vi_table vis;                   // nic.vis
    framing frames;                 // nic.framing
    send_engine send;               // nic.send
    receive_engine receive;         // nic.receive
    reliability reliable;           // nic.reliability
    packet_maker maker;             // nic.packets
    placement places;               // nic.placement

private:
    vi_operations operations_;
    const std::unique_ptr<embedded_core> core_;         ///< null: machines decide
    const std::unique_ptr<control_machines> machines_;  ///< null: the core decides
    control& control_;

public:
    command_unit commands;    // nic.commands
    link::port link;          // nic.link
    bus::target_port target;  // nic.target

    const sim::clock_domain& clock_domain() const override { return order.domain(); }
    unsigned attach(bus::pci_bus& to) override;
    std::uint64_t bar_bytes() const override { return abi::vi_engine::bar_bytes; }
    link::initiator_socket& link_out() override { return link.out; }
    link::target_socket& link_in() override { return link.in; }
    lanai_core* core() override { return core_ ? &core_->lanai : nullptr; }
    void hold() override {
        if (core_) core_->lanai.hold();
    }
    void finish() override {
        if (core_) core_->lanai.finish();
    }
    bool idles_for_ever() const override { return !core_ || core_->lanai.idles_for_ever(); }

    /// The engine stands still from now on, as in reset: what arrives is lost.
    void halt();
    /// On the wire, a whole window of the packets of a reliable connection.
    std::uint64_t window_bytes() const;

private:
    static sim::clock_domain make_clock(const vi_engine_card& of, const bus::bus_properties& bus);
    void wire();
    void ring(std::uint32_t page, std::uint32_t word, std::uint32_t data);
    bool note_posted(vi_context& of, ring_context& ring, std::uint32_t posted);

    void on_head(const link::packet_ptr&) override { halted_ ? link.take(sim::never) : receive.on_head(); }
    void on_take_limit() override {}
    void on_tail(const link::reception& came) override { receive.on_tail(came); }
    void on_part_sent() override {}
    void on_sent() override {
        order.input(rank::link, [this] { send.on_sent(); });
    }

    bool halted_ = false;
};

}  // namespace vinic::nic
