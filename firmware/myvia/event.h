// SPDX-License-Identifier: Apache-2.0

// Events for the kernel agent: entries of a ring in host memory, each followed by an interrupt. What finds no
// room waits in a queue here; a control packet does not wait: the network may lose those.
#pragma once

#include "firmware/myvia/card.h"
#include "firmware/myvia/dma.h"

namespace vinic::myvia {

struct event_words {
    uint32_t kind_and_vi, argument, argument2;
    uint32_t payload[28];
    uint32_t valid;
};
static_assert(sizeof(event_words) == sizeof(abi::myvia::event_entry));

struct waiting_event {
    uint32_t kind_and_vi, argument, argument2;
};

inline constexpr uint32_t event_buffers = 16;
inline constexpr uint32_t waiting_events_max = 256;

struct event_queue {
    uint32_t index, pass;     // of the next entry in the ring
    uint32_t written;         // free running, as card_interface.event_taken
    uint32_t started, ended;  // DMA of buffers
    uint32_t waiting_head, waiting_tail;
    uint32_t lost;  // for want of room here: more than 256 waiting
    waiting_event waiting[waiting_events_max];
    alignas(8) event_words buffers[event_buffers];
};
inline event_queue events;

inline bool event_room() {
    return events.started - events.ended < event_buffers && writes.space() > 8 &&
           events.written - card_interface.event_taken < card_interface.host_event_entries;
}

// The caller has made sure of room.
inline void write_event(const waiting_event& what, const uint32_t* payload, uint32_t payload_words) {
    event_words& buffer = events.buffers[events.started % event_buffers];
    buffer.kind_and_vi = network(what.kind_and_vi);
    buffer.argument = network(what.argument);
    buffer.argument2 = network(what.argument2);
    for (uint32_t i = 0; i != payload_words; ++i) buffer.payload[i] = payload[i];
    buffer.valid = network(events.pass);
    const uint64_t ring = join(card_interface.host_event_ring_high, card_interface.host_event_ring_low);
    writes.start(*writes.next, ring + events.index * sizeof(event_words), hardware::sram_address(&buffer),
                 sizeof(event_words), action_interrupt, true);
    ++events.started;
    ++events.written;
    if (++events.index == card_interface.host_event_entries) {
        events.index = 0;
        events.pass = 3 - events.pass;
    }
}

inline void post_event(uint32_t kind, uint32_t vi_or_queue, uint32_t argument, uint32_t argument2) {
    const waiting_event what{kind << 16 | vi_or_queue, argument, argument2};
    if (events.waiting_head == events.waiting_tail && event_room()) return write_event(what, nullptr, 0);
    if (events.waiting_head - events.waiting_tail == waiting_events_max) {
        ++events.lost;
        return;
    }
    events.waiting[events.waiting_head++ % waiting_events_max] = what;
    work |= work_events;
}

inline void run_events() {
    while (events.waiting_head != events.waiting_tail) {
        if (!event_room()) {
            work |= work_events | work_writes;
            return;
        }
        write_event(events.waiting[events.waiting_tail++ % waiting_events_max], nullptr, 0);
    }
}

inline void control_packet_event(const uint32_t* payload, uint32_t bytes) {
    if (bytes > sizeof(event_words::payload) || events.waiting_head != events.waiting_tail || !event_room())
        return;
    write_event({abi::myvia::event_control_packet << 16, bytes, 0}, payload, (bytes + 3) / 4);
}

inline void event_written() {
    ++events.ended;
    hardware::store(hardware::ISR, hardware::ISR_HOST_SIG);
}

inline void initialise_events() {
    events.index = events.written = events.started = events.ended = 0;
    events.waiting_head = events.waiting_tail = events.lost = 0;
    events.pass = 1;
}

}  // namespace vinic::myvia
