// SPDX-License-Identifier: Apache-2.0
// The send machine: VIs that have something to send take turns, packet by packet. A packet is made by checks
// of its descriptor and segments, the start of the reads of its payload, and its header; then the next one is
// made while the payload comes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "hw/nic/vi_engine/completion_writer.h"
#include "hw/nic/vi_engine/control.h"
#include "hw/nic/vi_engine/descriptor_fetch.h"
#include "hw/nic/vi_engine/framing.h"
#include "hw/nic/vi_engine/host_transfers.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/packet.h"
#include "hw/nic/vi_engine/reliability.h"
#include "hw/nic/vi_engine/segment_reader.h"
#include "hw/nic/vi_engine/send_engine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/nic/vi_engine/translation.h"
#include "hw/nic/vi_engine/vi_context.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class packet_maker : public sim::module {
public:
    packet_maker(const sc_core::sc_module_name& name, sequencer& order, descriptor_fetch& descriptors,
                 translation& pages, host_transfers& dma, completion_writer& completions,
                 reliability& reliable, framing& frames, send_engine& out);

    sim::parameter<std::uint64_t> schedule_clocks;
    sim::parameter<std::uint64_t> header_clocks;
    sim::parameter<std::uint64_t> buffers;

    sim::counter<sim::unit::packets> packets{*this, "packets", "packets of messages made"};
    sim::counter<sim::unit::messages> messages{*this, "messages",
                                               "messages of which the last packet was made"};

    sim::span_probe making{*this, "making", "a packet: from its turn to its header"};

    incident_sink raise;
    /// The VI may have something to send.
    void schedule(vi_context& of);
    /// The buffer of one of its packets is free.
    void released() { free_.give(); }

private:
    machine run();
    step<bool> advance(vi_context& of);
    std::uint32_t check_format(const vi_context& of, const abi::vi_engine::slot& from) const;
    step<std::uint32_t> check_segments(vi_context& of, const abi::vi_engine::slot& from);
    bool fail(vi_context& of, const abi::vi_engine::slot& from);
    step<bool> make(vi_context& of, const abi::vi_engine::slot& from);
    step<std::uint32_t> fetch_payload(vi_context& of, const abi::vi_engine::slot& from,
                                      outgoing_packet& into);
    step<std::uint32_t> read_piece(vi_context& of, const abi::vi_data_segment& piece, outgoing_packet& into,
                                   std::size_t offset);
    void write_header(const vi_context& of, const abi::vi_engine::slot& from, outgoing_packet& into) const;
    bool finish(vi_context& of, const abi::vi_engine::slot& from, std::shared_ptr<outgoing_packet> made);
    void record(vi_context& of, const abi::vi_engine::slot& from);

    sequencer& sequencer_;
    descriptor_fetch& descriptors_;
    translation& pages_;
    host_transfers& dma_;
    completion_writer& completions_;
    reliability& reliable_;
    framing& framing_;
    send_engine& out_;
    segment_reader segments_;
    pool free_;
    std::uint64_t made_ = 0;
    std::deque<vi_context*> scheduled_;
    condition work_;
    machine machine_;
};

}  // namespace vinic::nic
