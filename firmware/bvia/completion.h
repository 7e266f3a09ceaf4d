// SPDX-License-Identifier: Apache-2.0

// What the card writes into host memory besides payload: completions of slots, entries of completion queues,
// events of the kernel agent. The engine does one transfer after the other, so their order is that of here.
#pragma once

#include "firmware/bvia/vi.h"

namespace vinic::bvia {

// --- Events

struct event_words {
    uint32_t kind_and_vi, argument, argument2;
    uint32_t payload[28];
    uint32_t valid;
};
static_assert(sizeof(event_words) == sizeof(abi::myvia::event_entry));

struct waiting_event {
    uint32_t kind_and_vi, argument, argument2;
};
inline constexpr uint32_t waiting_events_max = 64;

struct event_queue {
    uint32_t index, pass;  // of the next entry in the ring
    uint32_t written;      // free running, as card_interface.event_taken
    uint32_t waiting_head, waiting_tail;
    waiting_event waiting[waiting_events_max];
    alignas(8) event_words buffer;
};
inline event_queue events;

inline bool event_room() {
    return events.written - card_interface.event_taken < card_interface.host_event_entries;
}

inline void write_event(const waiting_event& what, const uint32_t* payload, uint32_t payload_words) {
    finish_dma();
    events.buffer.kind_and_vi = network(what.kind_and_vi);
    events.buffer.argument = network(what.argument);
    events.buffer.argument2 = network(what.argument2);
    for (uint32_t i = 0; i != payload_words; ++i) events.buffer.payload[i] = payload[i];
    events.buffer.valid = network(events.pass);
    start_dma(card_interface.host_event_ring_low + events.index * sizeof(event_words), &events.buffer,
              sizeof(event_words), to_host);
    ++events.written;
    if (++events.index == card_interface.host_event_entries) {
        events.index = 0;
        events.pass = 3 - events.pass;
    }
    finish_dma();
    hardware::store(hardware::ISR, hardware::ISR_HOST_SIG);
}

// What finds no room waits; beyond that it is lost.
[[gnu::noinline]] inline void post_event(uint32_t kind, uint32_t vi_or_queue, uint32_t argument,
                                         uint32_t argument2) {
    const waiting_event what{kind << 16 | vi_or_queue, argument, argument2};
    if (events.waiting_head == events.waiting_tail && event_room()) return write_event(what, nullptr, 0);
    if (events.waiting_head - events.waiting_tail != waiting_events_max)
        events.waiting[events.waiting_head++ % waiting_events_max] = what;
}

inline void run_events() {
    while (events.waiting_head != events.waiting_tail && event_room())
        write_event(events.waiting[events.waiting_tail++ % waiting_events_max], nullptr, 0);
}

// The network may lose control packets.
inline void control_packet_event(const uint32_t* payload, uint32_t bytes) {
    if (bytes > sizeof(event_words::payload) || events.waiting_head != events.waiting_tail || !event_room())
        return;
    write_event({abi::myvia::event_control_packet << 16, bytes, 0}, payload, (bytes + 3) / 4);
}

// --- Completions

// Two, of which the engine may still be reading one.
struct alignas(8) completion_words {
    uint32_t words[4];
};
inline completion_words completion_buffers[2];
inline uint32_t completion_buffer;

inline uint32_t* next_completion_words() {
    completion_buffer ^= 1;
    return completion_buffers[completion_buffer].words;
}

inline void write_queue_entry(uint32_t number, uint32_t vi_and_queue) {
    completion_queue& queue = completion_queues[number];
    uint32_t* words = next_completion_words();
    words[0] = network(vi_and_queue);
    words[1] = network(queue.pass);
    start_dma(queue.ring + queue.index * sizeof(abi::myvia::completion_entry), words,
              sizeof(abi::myvia::completion_entry), to_host);
    ++queue.produced;
    if (++queue.index == queue.entries) {
        queue.index = 0;
        queue.pass = 3 - queue.pass;
    }
    if (!queue.armed) return;
    queue.armed = 0;
    post_event(abi::myvia::event_completion_queue, number, 0, 0);
}

[[gnu::noinline]] inline void slot_completed(vi& of, work_queue& queue, bool receives) {
    const uint32_t slot = queue.completed++;
    if (queue.completion_queue != abi::myvia::no_queue)
        write_queue_entry(queue.completion_queue,
                          of.index | (receives ? abi::myvia::completion_receive : 0u));
    if (!queue.armed) return;
    queue.armed = 0;
    post_event(receives ? abi::myvia::event_completion_receive : abi::myvia::event_completion_send, of.index,
               0, slot);
}

// Completes the oldest slot: length and status. What the host finds in its other words is what it posted.
inline void complete(vi& of, work_queue& queue, bool receives, uint32_t length, uint32_t status) {
    uint32_t* words = next_completion_words();
    words[0] = network(length);
    words[1] = network(status | abi::vi_status_done);
    start_dma(slot_address(of, queue) + offsetof(abi::vi_control_segment, length), words, 8, to_host);
    slot_completed(of, queue, receives);
}

// The same for the oldest receive descriptor, with the immediate data that came.
inline void complete_immediately(vi& of, uint32_t immediate, uint32_t length, uint32_t status) {
    uint32_t* words = next_completion_words();
    words[0] = network(immediate);
    words[1] = network(length);
    words[2] = network(status | abi::vi_status_immediate | abi::vi_status_done);
    start_dma(slot_address(of, of.receive) + offsetof(abi::vi_control_segment, immediate_data), words, 12,
              to_host);
    slot_completed(of, of.receive, true);
}

// The same for a slot that the card may never have read: the status word only.
inline void complete_flushed(vi& of, work_queue& queue, bool receives) {
    uint32_t* words = next_completion_words();
    words[0] = network(abi::vi_status_done | abi::vi_status_flushed_error |
                       (receives ? abi::vi_status_op_receive : abi::vi_status_op_send));
    start_dma(slot_address(of, queue) + offsetof(abi::vi_control_segment, status), words, 4, to_host);
    slot_completed(of, queue, receives);
}

inline void flush_queue(vi& of, work_queue& queue, bool receives) {
    while (queue.completed != queue.posted) complete_flushed(of, queue, receives);
}

// The VI leaves the connected state; what it has begun is void.
inline void stop_connection(vi& of, uint32_t state) {
    of.state = state;
    of.outgoing.begun = 0;
    of.incoming.kind = 0;
    of.receive_cached = 0;
}

inline void leave_connection(vi& of, uint32_t state) {
    stop_connection(of, state);
    flush_queue(of, of.send, false);
    flush_queue(of, of.receive, true);
}

}  // namespace vinic::bvia
