// SPDX-License-Identifier: Apache-2.0
// The receive machine: whose packet it is, whether it is the next one, which descriptor it is for, and where
// its payload goes: into the segments of the descriptor, or to the address that an RDMA write names.
#pragma once

#include <cstdint>
#include <memory>

#include "hw/nic/vi_engine/completion_writer.h"
#include "hw/nic/vi_engine/control.h"
#include "hw/nic/vi_engine/descriptor_fetch.h"
#include "hw/nic/vi_engine/event_writer.h"
#include "hw/nic/vi_engine/host_transfers.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/packet.h"
#include "hw/nic/vi_engine/receive_engine.h"
#include "hw/nic/vi_engine/reliability.h"
#include "hw/nic/vi_engine/segment_reader.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/nic/vi_engine/translation.h"
#include "hw/nic/vi_engine/vi_table.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class placement : public sim::module {
public:
    placement(const sc_core::sc_module_name& name, sequencer& order, vi_table& vis,
              descriptor_fetch& descriptors, translation& pages, host_transfers& dma,
              completion_writer& completions, event_writer& events, reliability& reliable,
              receive_engine& in);

    sim::parameter<std::uint64_t> match_clocks;

    sim::counter<sim::unit::packets> placed{*this, "placed", "data packets placed"};
    sim::counter<sim::unit::packets> ignored{*this, "ignored", "packets of no connection, or out of order"};

    sim::span_probe placing{*this, "placing", "a packet: from its turn to the start of its last write"};

    incident_sink raise;
    /// A descriptor has come, or will not: what waits for one looks again.
    void descriptor_changed() { descriptors_changed_.notify(); }

private:
    using packet_ptr = std::shared_ptr<arrived_packet>;

    machine run();
    step<bool> receive(packet_ptr what);
    step<bool> receive_data(vi_context& of, packet_ptr what);
    step<bool> place(vi_context& of, packet_ptr what);
    bool accept_sequence(vi_context& of, std::uint32_t sequence);
    bool accept_message(vi_context& of, const arrived_packet& with);
    step<bool> descriptor_at_hand(vi_context& of, std::uint64_t epoch);
    step<std::uint32_t> place_in_segments(vi_context& of, packet_ptr what);
    step<std::uint32_t> place_remotely(vi_context& of, packet_ptr what);
    step<std::uint32_t> write_piece(vi_context& of, packet_ptr what, translation::request piece,
                                    std::uint32_t offset, std::uint32_t refusal_status);
    void written(const packet_ptr& what);
    void settle(const packet_ptr& what);

    void complete_receive(vi_context& of, const arrived_packet& last, std::uint32_t length,
                          std::uint32_t status);
    void queue_empty(vi_context& of);
    void message_failed(vi_context& of, const arrived_packet& at, std::uint32_t status);
    void write_failed(vi_context& of, const arrived_packet& last);
    void message_lost(vi_context& of);
    void end_of_message(vi_context& of, const arrived_packet& last);

    sequencer& sequencer_;
    vi_table& vis_;
    descriptor_fetch& descriptors_;
    translation& pages_;
    host_transfers& dma_;
    completion_writer& completions_;
    event_writer& events_;
    reliability& reliable_;
    receive_engine& in_;
    segment_reader segments_;
    condition descriptors_changed_;
    machine machine_;
};

}  // namespace vinic::nic
