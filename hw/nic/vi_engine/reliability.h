// SPDX-License-Identifier: Apache-2.0
// Reliable connections. Packets carry sequence numbers; the receiver acknowledges, cumulatively, what it has
// placed in host memory, so that both reliable levels can use the same acknowledgement. Acknowledgements ride
// on data packets, leave after a delay, or at once when several are due or the sender asks. The sender keeps
// no copies: descriptors complete when they are acknowledged, and going back reads host memory again.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>

#include "hw/nic/vi_engine/completion_writer.h"
#include "hw/nic/vi_engine/control.h"
#include "hw/nic/vi_engine/descriptor_fetch.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/packet.h"
#include "hw/nic/vi_engine/send_engine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/nic/vi_engine/vi_context.h"
#include "hw/nic/vi_engine/vi_table.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class reliability : public sim::module {
public:
    reliability(const sc_core::sc_module_name& name, sequencer& order, vi_table& vis,
                descriptor_fetch& descriptors, completion_writer& completions, send_engine& out,
                std::uint64_t packet_bytes);

    sim::parameter<std::uint64_t> window_packets;
    sim::parameter<std::uint64_t> acknowledge_packets;
    sim::parameter<std::uint64_t> acknowledge_delay_ns;
    sim::parameter<std::uint64_t> acknowledge_clocks;
    sim::parameter<std::uint64_t> buffers;

    sim::counter<sim::unit::packets> acknowledgements{*this, "acknowledgements",
                                                      "packets that only acknowledge, or refuse"};
    sim::counter<sim::unit::events> went_back{*this, "went_back", "times that packets were sent again"};
    sim::counter<sim::unit::events> timeouts{*this, "timeouts", "times without any acknowledgement"};

    /// The VI may have something to send.
    std::function<void(vi_context&)> schedule;
    incident_sink raise;

    void set_timeout_ns(std::uint32_t ns) { timeout_ns_ = ns; }

    // Sender
    bool window_open(const vi_context& of) const {
        return of.next_sequence - of.unacknowledged < window_packets;
    }
    /// The next packet is the last that the window lets through.
    bool window_ends(const vi_context& of) const {
        return of.next_sequence - of.unacknowledged == window_packets - 1;
    }
    /// A packet has been made, `of.next_sequence` counted.
    void note_sent(vi_context& of);
    /// Takes up going back, if it can be now.
    bool go_back(vi_context& of);
    void acknowledged(vi_context& of, std::uint32_t sequence);
    void not_acknowledged(vi_context& of, std::uint32_t sequence, std::uint32_t status);

    // Receiver
    void acknowledge_now(vi_context& of);
    /// All that the peer has sent up to `sequence` is in host memory.
    void note_placed(vi_context& of, std::uint32_t sequence);
    /// A packet without anything to place has been accepted; earlier ones may still be on their way.
    void note_nothing_to_place(vi_context& of);

    /// A buffer for a short packet, which goes back when the packet has left.
    pool::wait buffer() { return free_.take(); }
    void released() { free_.give(); }

private:
    void acknowledge_later(vi_context& of);
    void count_acknowledgement(vi_context& of);
    std::shared_ptr<outgoing_packet> make_acknowledgement(vi_context& of);
    void look_at_timed();
    vi_context* next_due();
    machine acknowledge();
    machine delay();
    machine watch();

    sequencer& sequencer_;
    vi_table& vis_;
    descriptor_fetch& descriptors_;
    completion_writer& completions_;
    send_engine& out_;
    std::uint64_t packet_bytes_;
    std::uint64_t timeout_ns_ = std::numeric_limits<std::uint32_t>::max();  ///< until the driver says
    pool free_;
    std::deque<vi_context*> acknowledging_;
    bool delay_over_ = false;
    std::deque<vi_context*> timed_;
    condition due_;
    condition delay_starts_;
    condition watch_starts_;
    machine acknowledge_machine_;
    machine delay_machine_;
    machine watch_machine_;
};

}  // namespace vinic::nic
