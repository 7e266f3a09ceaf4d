// SPDX-License-Identifier: Apache-2.0

// A virtual interface on the card: its two work queues, what it is sending and receiving, and its connection.
#pragma once

#include "firmware/myvia/packet.h"
#include "firmware/myvia/translation.h"

namespace vinic::myvia {

inline constexpr uint32_t no_process = 0xFFFFFFFF;  // of a VI that is not in use

inline constexpr uint32_t cached_slots = 4;  // slot n stands in place n % 4

// Numbers of slots are free running: completed <= next <= fetched <= posted.
struct work_queue {
    uint32_t ring_high, ring_low;  // no ring crosses a boundary of 4 GiB
    uint32_t oldest_low;           // low word of the address of slot `completed`
    uint32_t posted;
    uint32_t fetched;  // on the card
    uint32_t next;     // the next to start
    uint32_t completed;
    uint32_t fetching;  // on their way
    uint32_t wanted;    // of these; 0: not any more
    uint32_t armed;     // an event is due for the next completion
    uint32_t completion_queue;
};

inline uint32_t slot_low(const work_queue& queue, uint32_t slot, uint32_t ring_mask) {
    return queue.ring_low + (slot & ring_mask) * abi::myvia::slot_bytes;
}
inline uint64_t slot_address(const work_queue& queue, uint32_t slot, uint32_t ring_mask) {
    return join(queue.ring_high, slot_low(queue, slot, ring_mask));
}

// Where a VI's usual send found its payload last: a registered piece of a page, with all checks done. A
// cache of one entry for each VI, good as long as no registration has changed.
struct source_window {
    uint32_t handle, address_high;
    uint32_t generation;
    uint32_t low, span;  // virtual addresses
    uint32_t physical_high;
    uint32_t to_physical;  // from the low word of a virtual address to that of a physical one
};

// Where in a descriptor's segments a message is. The region of the segment is looked up once, as long as no
// registration has changed.
struct segment_cursor {
    uint32_t segment, offset;  // of the next byte
    const region* where;       // it lies in, if `left` is not 0
    uint32_t generation;
    uint32_t low;   // low word of its virtual address
    uint32_t left;  // bytes to the end of the segment; 0: not looked up

    void move_to(uint32_t to_segment, uint32_t to_offset) {
        segment = to_segment;
        offset = to_offset;
        left = 0;
    }
    bool is_open() const { return left != 0 && generation == registrations; }
    void advance(uint32_t bytes) {
        offset += bytes;
        low += bytes;
        left -= bytes;
    }
};

struct send_message {
    uint32_t checked;          // all segments are
    uint32_t error;            // status bits that it completes with when its turn comes
    uint32_t offset;           // bytes that packets have been made of
    uint32_t checked_segment;  // checked up to here, and the sum of their lengths
    uint32_t sum;
    segment_cursor at;  // where `offset` is
};

struct receive_message {
    uint32_t kind;    // packet_send, packet_rdma_write, 0: none; message_skipped, message_refused
    uint32_t bytes;   // that have come
    uint32_t status;  // error bits that it completes with
    segment_cursor at;
};
inline constexpr uint32_t message_skipped = 0xFF;
inline constexpr uint32_t message_refused = 0xFE;  // not connected

// Where the whole of a receive descriptor's only segment lies, found out when the descriptor came. Good as
// long as no registration has changed since, also for the next descriptor of that segment in this place.
struct receive_target {
    abi::myvia::slot_segment segment;
    uint32_t physical_high, physical_low;
    uint32_t generation;
    uint32_t bytes;  // up to the end of the segment or its page; 0: not known, or the slot is not here
};

// Two shifts take the place of a constant, which costs a load, and its use.
template <typename type>
[[gnu::always_inline]] inline type& place_of(type (&places)[cached_slots], uint32_t number) {
    static_assert(cached_slots == 4);
    const uint32_t offset = opaque(number << 30) / ((1u << 30) / sizeof(type));
    return *opaque(reinterpret_cast<type*>(reinterpret_cast<char*>(places) + offset));
}

// Why a VI's next descriptor may not be started. None of them: a new message may begin.
enum send_obstacle : uint32_t {
    obstacle_disconnected = 1u << 0,
    obstacle_message = 1u << 1,  // one is under way
    obstacle_go_back = 1u << 2,  // all from `unacknowledged` on is to be sent again
    obstacle_window = 1u << 3    // too many packets are not acknowledged
};

// Slots that the library wrote (variant::token_slots).
inline constexpr bool has_tokens = variant::token_slots != 0;
inline constexpr uint32_t token_places = has_tokens ? variant::token_slots : 1;
struct alignas(page_bytes) token_page {
    descriptor send[token_places];
    descriptor receive[token_places];
};
static_assert(sizeof(token_page) == page_bytes);
inline token_page token_pages[has_tokens ? max_vis : 1];

// A power of two in size: indexing is a shift, not a multiplication.
struct alignas(1024) vi {
    uint32_t index, state, process, tag, reliability, max_transfer, rdma_enables;
    uint32_t ring_mask, cache_mask;
    uint32_t bell;   // `process` while connected, else no_process
    uint32_t epoch;  // of the connection; no two ever have the same
    // Connection
    uint32_t ends, key, limit;
    uint32_t packet_limit;   // of a message of one packet
    uint32_t arriving_ends;  // as they stand in packets of the peer
    uint32_t route[2], route_first, route_skip, loopback;
    work_queue send, receive;
    // Sending
    uint32_t obstacles;  // send_obstacle
    uint32_t scheduled;
    vi* next_scheduled;
    packet* building;
    send_message sending;
    source_window source;
    uint32_t next_sequence;
    // Sending on a reliable connection
    uint32_t unacknowledged;  // the oldest sequence number in flight
    uint32_t sequence_end;    // one beyond the highest that was ever sent
    uint32_t started;         // one beyond the highest slot that was ever started
    uint32_t resume_offset;   // of the next message to start
    uint32_t timed, tries, mark;
    vi* next_timed;
    // Receiving
    receive_message receiving;
    uint32_t expected, placed, placing;
    uint32_t acknowledgements;  // packets that were placed and not yet acknowledged
    uint32_t urgent;            // an acknowledgement is to leave at once
    uint32_t refuse;            // packet_not_acknowledge is due, or was sent for this gap: see reliability.h
    uint32_t final_status;      // the connection broke: what the peer is told
    uint32_t acknowledging;
    vi* next_acknowledging;
    // Flushing
    uint32_t flushing;     // flush_bit
    uint32_t flush_after;  // position of payload_reads
    vi* next_flushing;
    // Slots on the card
    alignas(8) descriptor send_slots[cached_slots];
    descriptor receive_slots[cached_slots];
    receive_target receive_targets[cached_slots];

    descriptor& send_slot(uint32_t number) {
        return has_tokens ? token_pages[index].send[number % token_places] : place_of(send_slots, number);
    }
    descriptor& receive_slot(uint32_t number) {
        return has_tokens ? token_pages[index].receive[number % token_places]
                          : place_of(receive_slots, number);
    }
    receive_target& target(uint32_t number) { return place_of(receive_targets, number); }
};

static_assert(!card_is_big_endian || sizeof(vi) == 1024);

inline vi vis[max_vis];
inline uint32_t epochs;  // connections so far

// What a started send descriptor completes with.
struct send_record {
    uint32_t length;
    uint32_t status;
    uint32_t first_sequence, end_sequence;  // of its packets; the end is one beyond the last
};
inline constexpr uint32_t send_records_per_vi = 16;
inline send_record send_records[max_vis][send_records_per_vi];

inline send_record& record_of(vi& of, uint32_t slot) {
    return *opaque(&send_records[of.index][slot % send_records_per_vi]);
}

inline vi& vi_at(uint32_t index) { return *opaque(&vis[index % max_vis]); }

inline bool is_reliable(const vi& of) { return of.reliability != abi::vi_unreliable; }

inline fifo<vi, &vi::next_scheduled> scheduled_vis;
inline fifo<vi, &vi::next_timed> timed_vis;
inline fifo<vi, &vi::next_acknowledging> acknowledging_vis;
inline fifo<vi, &vi::next_flushing> flushing_vis;

inline void schedule(vi& of) {
    work |= work_send;
    if (of.scheduled) return;
    of.scheduled = 1;
    scheduled_vis.push(&of);
}

// A buffer of any pool is free: whoever waits for one goes on.
inline void release(packet* of) {
    const uint32_t pool = of->pool;
    if (pool == pool_receive && armed_buffer == nullptr) return arm_receive(of);
    free_packets[pool].push(of);
    if (pool == pool_send && scheduled_vis.head != nullptr) work |= work_send;
    if (pool == pool_short && acknowledging_vis.head != nullptr) work |= work_acknowledge;
}

enum flush_bit : uint32_t { flush_sends = 1, flush_receives = 2 };

inline void flush(vi& of, uint32_t queues) {
    work |= work_flush;
    of.flush_after = payload_reads.head;
    if (of.flushing == 0) flushing_vis.push(&of);
    of.flushing |= queues;
}

}  // namespace vinic::myvia
