// SPDX-License-Identifier: Apache-2.0

// Packet buffers. One form for all: route, header and body stand without gap, so a packet to send starts at
// the last words of the route, and a packet that arrives (its route is gone) at the header.
#pragma once

#include "firmware/common/packet_header.h"
#include "firmware/myvia/card.h"
#include "firmware/myvia/fifo.h"
#include "firmware/myvia/hardware.h"

namespace vinic::myvia {

struct vi;

inline constexpr uint32_t body_words = rdma_words + abi::packet_payload_max / 4;

// Segments 2 and up of a descriptor, as they stand in the program's memory.
struct alignas(8) segment_window {
    uint32_t first;     // number of the first segment here
    uint32_t count;     // how many are here
    uint32_t fetching;  // how many are on their way
    uint32_t stale;     // those on their way are not wanted any more
    alignas(8) uint32_t raw[8][4];
};

inline void clear(segment_window& window) {
    window.count = 0;
    window.stale = window.fetching;
}

enum packet_pool : uint32_t { pool_receive, pool_send, pool_short };

struct alignas(8) packet {
    packet* link;
    uint32_t pool;
    // Sending:
    vi* owner;                             // none: not of a connection
    uint32_t epoch;                        // of the owner, at that time, or void_epoch
    const uint32_t* current_epoch;         // the packet goes to the wire if the same stands there then
    uint32_t ready_at;                     // position of payload_reads from which on the payload is here
    uint32_t completes;                    // the owner's oldest descriptor completes when this packet leaves
    uint32_t first_word, last_word, skip;  // for SMP, SMLT and SA
    segment_window window;
    uint32_t length;     // bytes of payload
    uint32_t remaining;  // sending: still to fetch; receiving: still to place
    uint32_t begun;      // fetching or placing has begun: all checks of the packet are over

    alignas(8) uint32_t route[2];
    uint32_t words[header_words + body_words + 2];  // header, body, CRCs and what the engine rounds up to

    uint32_t* body() { return words + header_words; }
};
using packet_fifo = fifo<packet, &packet::link>;

inline constexpr uint32_t void_epoch = 0;
inline constexpr uint32_t no_owner_epoch = 1;       // of packets that are not of a connection
inline const uint32_t loopback_epoch = 0xFFFFFFFF;  // of no packet: what does not meet the link

inline constexpr uint32_t send_buffers = 8;
inline constexpr uint32_t receive_buffers = 16;
inline constexpr uint32_t short_buffers = 8;  // acknowledgements and control packets, never payload by DMA

inline packet packets[receive_buffers + send_buffers + short_buffers];
// By pool. The last that was used is taken first: it still holds its connection's header (wire.h).
inline stack<packet, &packet::link> free_packets[3];

inline packet_fifo wire_queue;     // in the order in which they leave
inline packet* on_wire;            // what the send engine works on
inline packet* on_deck;            // the head of wire_queue, when it waits for nothing but the engine
inline uint32_t engine_done;       // it has done so, but the packet's descriptor could not complete yet
inline packet_fifo arrival_queue;  // received, not yet processed
inline packet* armed_buffer;       // where the receive engine writes
inline uint32_t discarding;        // the packet that arrives is longer than any may be

inline uint32_t packet_length(const packet& of) {
    return network(of.words[header_kind_flags_length]) & 0xFFFF;
}
inline uint32_t packet_kind(const packet& of) { return network(of.words[header_kind_flags_length]) >> 24; }

// The CRC-32 covers all that a packet has behind its route.
inline void arm_receive(packet* into) {
    armed_buffer = into;
    hardware::store(hardware::RMC, hardware::sram_address(into->words));
    hardware::store(hardware::RML, hardware::sram_address(into->words + header_words + body_words + 1));
}

inline void initialise_packets() {
    uint32_t i = 0;
    for (auto& pool : free_packets) pool.clear();
    for (packet& one : packets) {
        one.pool = i < receive_buffers                  ? pool_receive
                   : i < receive_buffers + send_buffers ? pool_send
                                                        : pool_short;
        one.words[header_type] = network(abi::packet_type_vi);
        one.epoch = void_epoch;
        free_packets[one.pool].push(&one);
        ++i;
    }
    wire_queue.clear();
    arrival_queue.clear();
    on_wire = on_deck = nullptr;
    engine_done = 0;
    discarding = 0;
    arm_receive(free_packets[pool_receive].pop());
}

}  // namespace vinic::myvia
