// SPDX-License-Identifier: Apache-2.0

// VIs, completion queues, and the doorbell page that each has in SRAM, mapped into the process that it
// belongs to (myvia_card.h, doorbells_in_vi_pages).
#pragma once

#include "firmware/bvia/packet.h"
#include "firmware/bvia/translation.h"
#include "firmware/common/descriptor.h"

namespace vinic::bvia {

inline constexpr uint32_t rings = 4;  // words of a page that are looked at
// A page that is polled: those of all VIs and queues in use are in one circle.
struct bell {
    bell* next;
    const volatile uint32_t* words;
    uint32_t seen[rings];
    uint32_t index;  // of the VI, or max_vis and that of the queue
};

// Numbers of slots are free running. The card works on one slot at a time, that of number `completed`.
struct work_queue {
    uint32_t ring;
    uint32_t posted;
    uint32_t completed;
    uint32_t armed;  // an event is due for the next completion
    uint32_t completion_queue;
};

struct send_message {
    uint32_t begun;
    uint32_t offset;                   // bytes that packets have been made of
    uint32_t segment, segment_offset;  // where that is
};

struct receive_message {
    uint32_t kind;    // packet_send, packet_rdma_write, 0: none; message_skipped
    uint32_t bytes;   // that have come
    uint32_t status;  // error bits that it completes with
    uint32_t segment, segment_offset;
};
inline constexpr uint32_t message_skipped = 0xFF;

inline constexpr uint32_t no_process = 0xFFFFFFFF;  // of a VI that is not in use

struct alignas(512) vi {
    uint32_t index, state, process, tag, max_transfer, rdma_enables, ring_mask;
    // Connection
    uint32_t ends, arriving_ends, key, limit;
    uint32_t route[2], route_first, route_skip, loopback;
    work_queue send, receive;
    send_message outgoing;
    receive_message incoming;
    uint32_t next_sequence, expected;
    uint32_t scheduled;
    vi* next_scheduled;
    bell doorbells;
    alignas(8) descriptor send_slot;  // number send.completed, when outgoing.begun
    descriptor receive_slot;          // number receive.completed, when receive_cached
    uint32_t receive_cached;
};
inline vi vis[max_vis];
inline vi& vi_at(uint32_t index) { return *opaque(&vis[index % max_vis]); }

struct completion_queue {
    uint32_t ring;
    uint32_t entries;  // 0: unused
    uint32_t index, pass;
    uint32_t produced;  // free running
    uint32_t armed;
    uint32_t process;
    bell doorbells;
};
inline completion_queue completion_queues[max_completion_queues];

inline uint32_t slot_address(const vi& of, const work_queue& queue) {
    return queue.ring + (queue.completed & of.ring_mask) * abi::myvia::slot_bytes;
}

}  // namespace vinic::bvia
