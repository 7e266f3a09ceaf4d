// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/reliability.h"

#include <algorithm>
#include <utility>

namespace vinic::nic {

reliability::reliability(const sc_core::sc_module_name& name, sequencer& order, vi_table& vis,
                         descriptor_fetch& descriptors, completion_writer& completions, send_engine& out,
                         std::uint64_t packet_bytes)
    : module(name),
      window_packets(*this, {.name = "window_packets",
                             .unit = "packets",
                             .value = 16,
                             .min = 1,
                             .max = 1024,
                             .help = "packets in flight on a reliable connection"}),
      acknowledge_packets(*this, {.name = "acknowledge_packets",
                                  .unit = "packets",
                                  .value = 4,
                                  .min = 1,
                                  .max = 1024,
                                  .help = "so many placed packets are acknowledged at once"}),
      acknowledge_delay_ns(*this,
                           {.name = "acknowledge_delay_ns",
                            .unit = "ns",
                            .value = 8000,
                            .min = 1,
                            .max = 10'000'000,
                            .help = "fewer are acknowledged after this time, if no packet took it along"}),
      acknowledge_clocks(*this, {.name = "acknowledge_clocks",
                                 .unit = "clocks",
                                 .value = 6,
                                 .max = 1000,
                                 .help = "making an acknowledgement, engine clocks"}),
      buffers(*this, {.name = "buffers",
                      .unit = "packets",
                      .value = 8,
                      .min = 1,
                      .max = 1024,
                      .help = "acknowledgements and control packets that may wait for the wire"}),
      sequencer_(order),
      vis_(vis),
      descriptors_(descriptors),
      completions_(completions),
      out_(out),
      packet_bytes_(packet_bytes),
      free_(order, buffers),
      due_(order),
      delay_starts_(order),
      watch_starts_(order),
      acknowledge_machine_(order.start(rank::reliability, [this] { return acknowledge(); })),
      delay_machine_(order.start(rank::reliability, [this] { return delay(); })),
      watch_machine_(order.start(rank::reliability, [this] { return watch(); })) {}

// --- Receiver: acknowledgements

void reliability::acknowledge_later(vi_context& of) {
    if (!of.acknowledging) {
        of.acknowledging = true;
        acknowledging_.push_back(&of);
    }
    if (of.urgent)
        due_.notify();
    else
        delay_starts_.notify();
}

void reliability::acknowledge_now(vi_context& of) {
    of.urgent = true;
    acknowledge_later(of);
}

void reliability::count_acknowledgement(vi_context& of) {
    if (++of.acknowledgements >= acknowledge_packets) of.urgent = true;
    acknowledge_later(of);
}

void reliability::note_placed(vi_context& of, std::uint32_t sequence) {
    of.placed = --of.placing == 0 ? of.expected : sequence + 1;
    count_acknowledgement(of);
}

void reliability::note_nothing_to_place(vi_context& of) {
    if (of.placing == 0) of.placed = of.expected;
    count_acknowledgement(of);
}

/// The first VI whose acknowledgement is to leave now; those that owe none any more are forgotten.
vi_context* reliability::next_due() {
    std::erase_if(acknowledging_, [](vi_context* of) {
        of->acknowledging = of->urgent || of->acknowledgements != 0;
        return !of->acknowledging;
    });
    const auto found = std::ranges::find_if(
        acknowledging_, [this](const vi_context* of) { return of->urgent || delay_over_; });
    if (found == acknowledging_.end()) return nullptr;
    vi_context* next = *found;
    acknowledging_.erase(found);
    next->acknowledging = false;
    return next;
}

machine reliability::acknowledge() {
    for (;;) {
        vi_context* of = next_due();
        if (of == nullptr) {
            delay_over_ = false;
            if (!acknowledging_.empty()) delay_starts_.notify();
            co_await due_.changed();
            continue;
        }
        of->urgent = true;
        co_await sequencer_.clocks(acknowledge_clocks, 1);
        co_await free_.take();
        if (!of->urgent && of->acknowledgements == 0) {  // a data packet took it along, or the VI is gone
            free_.give();
            continue;
        }
        acknowledgements.add();
        out_.put(make_acknowledgement(*of));
    }
}

std::shared_ptr<outgoing_packet> reliability::make_acknowledgement(vi_context& of) {
    const bool refuses = of.refuses == refusal::gap || of.refuses == refusal::all;
    auto made = std::make_shared<outgoing_packet>();
    abi::packet_header& h = made->head.header;
    h.kind = refuses ? abi::packet_not_acknowledge : abi::packet_acknowledge;
    h.destination_vi = static_cast<std::uint16_t>(of.remote);
    h.source_vi = static_cast<std::uint16_t>(of.index);
    h.connection_key = of.key;
    h.sequence = of.next_sequence;
    h.acknowledge = refuses ? of.expected : of.placed;
    h.immediate = of.refuses == refusal::all ? of.final_status : 0;
    made->route = of.route;
    made->loopback = of.loopback;
    if (of.refuses == refusal::gap) of.refuses = refusal::gap_told;
    of.acknowledgements = 0;
    of.urgent = false;
    return made;
}

machine reliability::delay() {
    for (;;) {
        co_await delay_starts_.changed();
        co_await sequencer_.clocks(sequencer_.domain().edge_at_or_after(acknowledge_delay_ns * 1000));
        delay_over_ = true;
        due_.notify();
    }
}

// --- Sender

void reliability::note_sent(vi_context& of) {
    of.acknowledgements = 0;
    if (before(of.sequence_end, of.next_sequence)) of.sequence_end = of.next_sequence;
    if (of.timed) return;
    of.timed = true;
    of.tries = 0;
    of.mark = of.unacknowledged - 1;
    timed_.push_back(&of);
    watch_starts_.notify();
}

void reliability::acknowledged(vi_context& of, std::uint32_t sequence) {
    const std::uint32_t count = sequence - of.unacknowledged;
    if (count == 0 || count > of.sequence_end - of.unacknowledged) return;
    of.unacknowledged = sequence;
    of.tries = 0;
    // What is being sent again has arrived after all; its descriptor may be about to complete.
    if (before(of.next_sequence, sequence)) {
        of.go_back = true;
        of.send_epoch = vis_.new_epoch();
    }
    while (!of.records.empty() && !before(sequence, of.records.front().end_sequence))
        completions_.complete_send(of);
    schedule(of);
}

/// Not while descriptors are on their way, whose arrival schedules the VI again.
bool reliability::go_back(vi_context& of) {
    if (of.send.fetching != 0) return false;
    went_back.add();
    of.go_back = false;
    of.sending = {};
    of.send.next = of.send.fetched = of.send.completed;
    of.next_sequence = of.unacknowledged;
    of.resume_offset = 0;
    if (!of.records.empty())
        of.resume_offset = static_cast<std::uint32_t>(
            (of.unacknowledged - of.records.front().first_sequence) * packet_bytes_);
    return true;
}

void reliability::not_acknowledged(vi_context& of, std::uint32_t sequence, std::uint32_t status) {
    acknowledged(of, sequence);
    raise(of, status == 0 ? abi::xuni::event_asked_again : abi::xuni::event_peer_refused, status);
}

// --- Time

void reliability::look_at_timed() {
    std::deque<vi_context*> still;
    for (vi_context* of : std::exchange(timed_, {})) {
        of->timed = false;
        if (!of->connected() || of->unacknowledged == of->sequence_end) continue;
        if (of->mark == of->unacknowledged) {
            timeouts.add();
            raise(*of, abi::xuni::event_time_over, of->unacknowledged);
        }
        of->mark = of->unacknowledged;
        of->timed = true;
        still.push_back(of);
    }
    timed_.insert(timed_.begin(), still.begin(), still.end());
}

machine reliability::watch() {
    for (;;) {
        while (timed_.empty()) co_await watch_starts_.changed();
        co_await sequencer_.clocks(sequencer_.domain().edge_at_or_after(timeout_ns_ * 1000));
        look_at_timed();
    }
}

}  // namespace vinic::nic
