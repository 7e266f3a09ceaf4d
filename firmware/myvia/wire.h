// SPDX-License-Identifier: Apache-2.0

// The way out: packets leave in the order in which they were finished, each when its payload is on the card.
#pragma once

#include "firmware/myvia/completion.h"

namespace vinic::myvia {

// Where the packet starts and ends for the send engine; all but its contents.
inline void address_packet(packet& of, const uint32_t* route, uint32_t route_first, uint32_t skip,
                           uint32_t payload_and_rdma_words) {
    of.route[0] = route[0];
    of.route[1] = route[1];
    of.first_word = hardware::sram_address(&of.route[route_first]);
    of.last_word = hardware::sram_address(of.words + header_words - 1 + payload_and_rdma_words);
    of.skip = skip;
}

inline void start_send_engine(packet* of) {
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

// Starts the next packet, if the engine is free and the packet is ready. On an unreliable connection a
// descriptor completes when its last packet leaves: its data has been accepted by the card.
inline void pump_wire() {
    while (on_wire == nullptr && wire_queue.head != nullptr) {
        packet* next = wire_queue.head;
        if (!payload_reads.passed(next->ready_at)) return;
        if (writes.space() < completion_blocks) {
            work |= work_wire;
            return;
        }
        wire_queue.pop();
        vi* owner = next->owner;
        if (owner != nullptr && owner->epoch != next->epoch) {
            release(next);
            continue;
        }
        if (next->loopback)
            loop_back(next);
        else
            start_send_engine(next);
        if (next->completes) complete_send(*owner);
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
