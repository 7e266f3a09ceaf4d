// SPDX-License-Identifier: Apache-2.0

// The way out: packets leave in the order in which they were finished, each when its payload is on the card.
#pragma once

#include "firmware/myvia/completion.h"

namespace vinic::myvia {

// Where the packet starts and ends for the send engine; all but its contents.
[[gnu::always_inline]] inline void address_packet(packet& of, const uint32_t* route, uint32_t route_first,
                                                  uint32_t skip, uint32_t payload_and_rdma_words) {
    of.route[0] = route[0];
    of.route[1] = route[1];
    of.first_word = hardware::sram_address(&of.route[route_first]);
    of.last_word = hardware::sram_address(of.words + header_words - 1 + payload_and_rdma_words);
    of.skip = skip;
}

[[gnu::always_inline]] inline void start_send_engine(packet* of) {
    on_wire = of;
    hardware::barrier();
    hardware::store(hardware::SMP, of->first_word);
    hardware::store(hardware::SA, of->skip);
    hardware::store(hardware::SMLT, of->last_word);
}

// A packet to the card itself does not meet the link: the receive pipeline takes it as it stands.
inline void loop_back(packet* of) {
    of->begun = 0;
    arrival_queue.push(of);
    work |= work_receive;
}

// The packet at the head is ready, but it is void, or does not meet the link.
[[gnu::noinline]] inline void take_aside(packet* next) {
    if (next->owner != nullptr && next->owner->epoch != next->epoch) return release(next);
    loop_back(next);
    if (next->completes) complete_send(*next->owner);
}

// Starts the next packet, if the engine is free and the packet is ready. On an unreliable connection a
// descriptor completes when its last packet leaves: its data has been accepted by the card.
inline void pump_wire() {
    while (packet* next = wire_queue.head) {
        if (on_wire != nullptr || !payload_reads.passed(next->ready_at)) return;
        if (writes.space() < completion_blocks) {
            work |= work_wire;
            return;
        }
        wire_queue.pop();
        if (next->loopback || (next->owner != nullptr && next->owner->epoch != next->epoch)) {
            take_aside(next);
            continue;
        }
        start_send_engine(next);
        if (next->completes) complete_send(*next->owner);
        return;
    }
}

inline void send_engine_done() {
    packet* sent = on_wire;
    if (sent == nullptr) return;
    on_wire = nullptr;
    pump_wire();
    release(sent);
}

}  // namespace vinic::myvia
