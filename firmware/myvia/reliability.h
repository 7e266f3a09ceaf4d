// SPDX-License-Identifier: Apache-2.0

// Reliable connections. Packets carry sequence numbers; the receiver acknowledges, cumulatively, what it has
// accepted (reliable delivery) or placed in host memory (reliable reception; vipl.md 6.1). Acknowledgements
// ride on data packets, leave after a delay, or at once when several are due or the sender asks. The sender
// keeps no copies: descriptors complete when they are acknowledged, and going back reads host memory again.
#pragma once

#include "firmware/myvia/state.h"
#include "firmware/myvia/wire.h"

namespace vinic::myvia {

using abi::myvia::send_window;
inline constexpr uint32_t acknowledgements_at_once = send_window / 2;  // do not wait for the timer
inline constexpr uint32_t acknowledge_delay_ticks = 16;  // 8 us: about the time of an answer (calibration.md)

inline uint32_t acknowledge_timer, retransmit_timer;  // whether they run

// What a receiver refuses.
enum refusal : uint32_t { refuse_nothing, refuse_gap, refuse_gap_sent, refuse_finally };

inline void acknowledge_later(vi& of) {
    if (!of.acknowledging) {
        of.acknowledging = 1;
        acknowledging_vis.push(&of);
    }
    if (of.urgent) {
        work |= work_acknowledge;
    } else if (!acknowledge_timer) {
        acknowledge_timer = 1;
        hardware::store(hardware::ISR, hardware::ISR_TIME0);
        hardware::store(hardware::IT0, acknowledge_delay_ticks);
    }
}

inline void acknowledge_now(vi& of) {
    of.urgent = 1;
    acknowledge_later(of);
}

inline bool send_acknowledgement(vi& of) {
    packet* to_send = free_packets[pool_short].pop();
    if (to_send == nullptr) return false;
    const bool refuses = of.refuse == refuse_gap || of.refuse == refuse_finally;
    uint32_t* header = to_send->words;
    header[header_kind_flags_length] =
        kind_word(refuses ? abi::packet_not_acknowledge : abi::packet_acknowledge, 0, 0);
    header[header_ends] = network(of.ends);
    header[header_key] = network(of.key);
    header[header_sequence] = network(of.next_sequence);
    header[header_acknowledge] = network(refuses ? of.expected : of.placed);
    header[header_offset] = 0;
    header[header_immediate] = network(of.refuse == refuse_finally ? of.final_status : 0);
    if (of.refuse == refuse_gap) of.refuse = refuse_gap_sent;
    of.acknowledgements = of.urgent = 0;
    belongs_to_none(*to_send, of.loopback != 0);
    to_send->completes = 0;
    to_send->ready_at = payload_reads.tail;
    set_route(*to_send, of.route, of.route_first, of.route_skip);
    set_end(*to_send, 0);
    wire_queue.push(to_send);
    pump_wire();
    return true;
}

// A message is under way, and nothing that the peer does keeps its next packet back: that will acknowledge.
inline bool will_send(const vi& of) { return of.obstacles == obstacle_message && of.sending.error == 0; }

// Sends the acknowledgements that are urgent, or all that are due.
inline void run_acknowledgements(bool all) {
    vi* last = acknowledging_vis.tail;
    while (acknowledging_vis.head != nullptr) {
        vi& of = *acknowledging_vis.pop();
        const bool due = of.urgent || (all && of.acknowledgements != 0 && !will_send(of));
        if (due && !send_acknowledgement(of)) of.urgent = 1;
        of.acknowledging = 0;
        if (of.urgent || of.acknowledgements != 0) {
            of.acknowledging = 1;
            acknowledging_vis.push(&of);
        }
        if (&of == last) break;
    }
    if (acknowledging_vis.head == nullptr || acknowledge_timer) return;
    acknowledge_timer = 1;
    hardware::store(hardware::ISR, hardware::ISR_TIME0);
    hardware::store(hardware::IT0, acknowledge_delay_ticks);
}

// A packet that others of its message follow waits for them.
inline void count_acknowledgement(vi& of, bool last) {
    ++of.acknowledgements;
    if (of.acknowledgements >= acknowledgements_at_once) of.urgent = 1;
    if (last || of.urgent) acknowledge_later(of);
}

inline bool acknowledges_placement(const vi& of) { return of.reliability == abi::vi_reliable_reception; }

// All that the peer has sent up to `sequence` is in host memory.
inline void note_placed(vi& of, uint32_t sequence, bool last) {
    of.placed = --of.placing == 0 ? of.expected : sequence + 1;
    count_acknowledgement(of, last);
}

// A packet has been accepted whose placement nobody waits for; earlier ones may still be on their way to
// memory.
inline void note_accepted(vi& of, bool last) {
    if (of.placing == 0) of.placed = of.expected;
    count_acknowledgement(of, last);
}

// --- Sender

inline void start_retransmit_timer() {
    retransmit_timer = 1;
    hardware::store(hardware::ISR, hardware::ISR_TIME1);
    hardware::store(hardware::IT1, card_interface.retransmit_ticks);
}

// A packet of this VI is in flight.
inline void time_packets(vi& of) {
    if (of.timed) return;
    of.timed = 1;
    of.tries = 0;
    of.mark = of.unacknowledged - 1;
    timed_vis.push(&of);
    if (!retransmit_timer) start_retransmit_timer();
}

constexpr uint32_t packets_of(uint32_t length) {
    return length == 0 ? 1 : (length + abi::packet_payload_max - 1) / abi::packet_payload_max;
}

// The peer has everything before `sequence`.
[[gnu::always_inline]] inline void acknowledged(vi& of, uint32_t sequence) {
    const uint32_t count = sequence - of.unacknowledged;
    if (count == 0 || count > of.sequence_end - of.unacknowledged) return;
    of.unacknowledged = sequence;
    of.obstacles &= ~obstacle_window;
    of.tries = 0;
    if (static_cast<int32_t>(sequence - of.next_sequence) > 0) {
        // What is being sent again has arrived after all; its descriptor may be about to complete.
        of.obstacles |= obstacle_go_back;
        abandon_packet(of);
    }
    while (of.send.completed != of.started) {
        const send_record& record = record_of(of, of.send.completed);
        if (static_cast<int32_t>(sequence - record.end_sequence) < 0) break;
        complete(of, of.send, false, record.length, record.status);
    }
    if (of.send.fetched != of.send.next || of.obstacles != 0) schedule(of);
}

// Goes back to the oldest packet that is not acknowledged. False: a fetch is under way, whose arrival will
// schedule the VI again.
inline bool go_back(vi& of) {
    work_queue& queue = of.send;
    if (queue.fetching != 0) return false;
    of.obstacles = 0;
    of.sending.error = 0;
    queue.next = queue.fetched = queue.completed;
    of.next_sequence = of.unacknowledged;
    of.resume_offset = 0;
    if (queue.completed == of.started) return true;
    const uint32_t arrived = of.unacknowledged - record_of(of, queue.completed).first_sequence;
    of.resume_offset = arrived * abi::packet_payload_max;
    return true;
}

// The connection is of no more use: the oldest descriptor says why, the rest is flushed.
inline void break_connection(vi& of, uint32_t status) {
    if (status != 0 && of.send.completed != of.started) {
        const send_record& record = record_of(of, of.send.completed);
        complete(of, of.send, false, record.length, record.status | status);
    }
    enter_error(of);
}

inline void retransmit(vi& of) {
    if (++of.tries > card_interface.retransmit_limit) {
        break_connection(of, abi::vi_status_transport_error);
        post_event(abi::myvia::event_transport_lost, of.index, vip_error_connection_lost, 0);
        return;
    }
    of.obstacles |= obstacle_go_back;
    schedule(of);
}

inline void retransmit_timer_expired() {
    retransmit_timer = 0;
    vi* last = timed_vis.tail;
    while (timed_vis.head != nullptr) {
        vi& of = *timed_vis.pop();
        of.timed = 0;
        if (of.state == abi::myvia::vi_connected && of.unacknowledged != of.sequence_end) {
            if (of.mark == of.unacknowledged)
                retransmit(of);
            else
                of.mark = of.unacknowledged;
            of.timed = 1;
            timed_vis.push(&of);
        }
        if (&of == last) break;
    }
    if (timed_vis.head != nullptr) start_retransmit_timer();
}

inline void acknowledge_timer_expired() {
    acknowledge_timer = 0;
    run_acknowledgements(true);
}

// The peer asks for packets again, or tells why the connection is broken.
inline void not_acknowledged(vi& of, uint32_t sequence, uint32_t status) {
    acknowledged(of, sequence);
    if (status == 0) {
        of.obstacles |= obstacle_go_back;
        schedule(of);
        return;
    }
    if (of.reliability == abi::vi_reliable_reception) {
        break_connection(of, status & abi::vi_status_error_mask);
        post_event(abi::myvia::event_vi_error, of.index, 0, of.send.completed - 1);
        return;
    }
    break_connection(of, 0);
    post_event(abi::myvia::event_error, of.index, vip_error_connection_lost, 0);
}

}  // namespace vinic::myvia
