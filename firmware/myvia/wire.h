// SPDX-License-Identifier: Apache-2.0

// The way out: packets leave in the order in which they were finished, each when its payload is on the card.
#pragma once

#include "firmware/myvia/completion.h"

namespace vinic::myvia {

// Where the packet starts for the send engine, and where it ends.
inline void set_route(packet& of, const uint32_t* route, uint32_t route_first, uint32_t skip) {
    of.route[0] = route[0];
    of.route[1] = route[1];
    of.first_word = hardware::sram_address(&of.route[route_first]);
    of.skip = skip;
}

[[gnu::always_inline]] inline void set_end(packet& of, uint32_t payload_and_rdma_words) {
    of.last_word = hardware::sram_address(of.words + header_words - 1) + 4 * payload_and_rdma_words;
}

inline void belongs_to_none(packet& of, bool loopback) {
    of.owner = nullptr;
    of.epoch = no_owner_epoch;
    of.current_epoch = loopback ? &loopback_epoch : &of.epoch;
}

// All that is the same in every packet of a connection. No two connections have the same epoch, so a buffer
// that was this connection's before still holds it.
[[gnu::noinline]] inline void address_anew(packet& to_send, vi& of) {
    to_send.owner = &of;
    to_send.epoch = of.epoch;
    to_send.current_epoch = of.loopback ? &loopback_epoch : &of.epoch;
    to_send.words[header_ends] = network(of.ends);
    to_send.words[header_key] = network(of.key);
    set_route(to_send, of.route, of.route_first, of.route_skip);
}

[[gnu::always_inline]] inline void address_packet(packet& to_send, vi& of) {
    if (to_send.epoch != of.epoch) address_anew(to_send, of);
}

[[gnu::always_inline]] inline void start_send_engine(packet* of) {
    const uint32_t first = of->first_word, skip = of->skip, last = of->last_word;
    hardware::barrier();
    hardware::store(hardware::SMP, first);
    hardware::store(hardware::SA, skip);
    hardware::store(hardware::SMC, hardware::sram_address(of->words));
    hardware::store(hardware::SMLT, last);
    on_wire = of;
}

inline bool is_void(const packet& of) { return of.owner != nullptr && of.owner->epoch != of.epoch; }

// On an unreliable connection a descriptor completes when its last packet leaves: its data has been accepted
// by the card. Without room for that, the packet stays on the wire, as it were.
[[gnu::noinline]] inline void complete_on_wire() {
    packet& left = *on_wire;
    if (writes.space() < completion_blocks) {
        work |= work_wire | work_writes;
        return;
    }
    left.completes = 0;
    if (!is_void(left)) complete_send(*left.owner);
}

// The packet at the head is ready, but it is void, or does not meet the link: the receive pipeline takes it
// as it stands. False: no room.
[[gnu::noinline]] inline bool take_aside(packet* next) {
    if (writes.space() < completion_blocks) {
        work |= work_wire | work_writes;
        return false;
    }
    wire_queue.drop_head();
    if (is_void(*next)) {
        release(next);
        return true;
    }
    next->begun = 0;
    arrival_queue.push(next);
    work |= work_receive;
    if (next->completes) complete_send(*next->owner);
    return true;
}

// While the engine works: whether the next packet may follow it without another look.
inline void look_ahead() {
    packet* next = wire_queue.head;
    if (next != nullptr && !on_wire->completes && payload_reads.passed(next->ready_at) &&
        next->epoch == *next->current_epoch)
        on_deck = next;
}

// Starts the next packet, if the engine is free and the packet is ready.
[[gnu::always_inline]] inline void pump_wire() {
    for (;;) {
        packet* next = wire_queue.head;
        if (next == nullptr) return;
        if (on_wire != nullptr) return look_ahead();
        const uint32_t ready_at = next->ready_at, epoch = next->epoch, current_epoch = *next->current_epoch;
        if (!payload_reads.passed(ready_at)) return;
        if (epoch == current_epoch) [[likely]] {
            start_send_engine(next);
            wire_queue.drop_head();
            if (next->completes) complete_on_wire();
            return;
        }
        if (!take_aside(next)) return;
    }
}

[[gnu::noinline]] inline void send_engine_stopped() {
    packet* sent = on_wire;
    if (sent == nullptr) return;
    if (sent->completes) complete_on_wire();
    engine_done = sent->completes;
    if (engine_done) return;
    on_wire = nullptr;
    pump_wire();
    release(sent);
    if (scheduled_vis.head != nullptr) work |= work_send;
}

// The packet on deck has followed `sent` onto the wire.
[[gnu::noinline]] inline void send_engine_went_on(packet* sent) {
    wire_queue.drop_head();
    on_deck = nullptr;
    release(sent);
    if (scheduled_vis.head != nullptr) work |= work_send;
    if (on_wire->completes) complete_on_wire();
    look_ahead();
}

// The link stands still until the next packet starts; all else comes after that.
[[gnu::always_inline]] inline void send_engine_done() {
    hardware::store(hardware::ISR, hardware::ISR_SEND);
    packet* next = on_deck;
    packet* sent = on_wire;
    if (next == nullptr) return send_engine_stopped();
    start_send_engine(next);
    send_engine_went_on(sent);
}

// In the midst of long work: a link that stands still costs bandwidth.
[[gnu::always_inline]] inline void serve_wire() {
    if ((hardware::load(hardware::ISR) & hardware::ISR_SEND) != 0) send_engine_done();
}

// Payload that has come: the packet that waits for it may be the next.
[[gnu::always_inline]] inline void take_payload() {
    while (dma_entry* entry = payload_reads.done()) {
        payload_reads.drop(*entry);
        pump_wire();
    }
}
[[gnu::noinline]] inline void take_payload_now() { take_payload(); }

// In the midst of work that nobody waits for: a payload that somebody waits for.
[[gnu::always_inline]] inline void serve_payload() {
    if (payload_reads.has_done()) take_payload_now();
}

// There may be room again.
[[gnu::noinline]] inline void run_wire() {
    if (engine_done) return send_engine_stopped();
    if (on_wire != nullptr && on_wire->completes) complete_on_wire();
    pump_wire();
}

}  // namespace vinic::myvia
