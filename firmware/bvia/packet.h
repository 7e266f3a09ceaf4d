// SPDX-License-Identifier: Apache-2.0

// Packet buffers: one or two to send from, a few to receive into, filled and emptied in turn. Packets carry
// the CRC-8 of the network only: this chip makes no CRC-32.
#pragma once

#include "firmware/bvia/hardware.h"
#include "firmware/common/packet_header.h"

namespace vinic::bvia {

inline constexpr uint32_t body_words = rdma_words + abi::packet_payload_max / 4;

struct alignas(8) packet {
    uint32_t route[2];
    uint32_t words[header_words + body_words + 2];  // header, body, the CRC-8 and what it is rounded up to

    uint32_t* body() { return words + header_words; }
};

inline packet sent_packets[variant::send_buffers];
inline uint32_t second_is_next;  // of two: which is to be filled
inline uint32_t sending;         // the send engine works
inline uint32_t waits_for_wire;  // a full buffer is not sent yet

static_assert(variant::send_buffers == 1 || variant::send_buffers == 2);
inline packet& sent_packet() {
    return variant::send_buffers == 2 && second_is_next ? sent_packets[variant::send_buffers - 1]
                                                        : sent_packets[0];
}
inline bool can_fill() { return variant::send_buffers == 1 ? sending == 0 : waits_for_wire == 0; }

// For SMP, SA and SMLT.
struct send_order {
    uint32_t first_word, skip, last_word;
};
inline send_order waiting_order;

inline constexpr uint32_t receive_buffers = 4;
inline packet received_packets[receive_buffers];
inline uint32_t received_ends[receive_buffers];  // where the engine came to
inline uint32_t armed;                           // buffer that the engine fills, unless all are full
inline uint32_t arrived;                         // buffers that wait to be emptied: those before `armed`
inline uint32_t discarding;                      // the packet that arrives is longer than any may be

inline uint32_t packet_kind(const uint32_t* words) { return network(words[header_kind_flags_length]) >> 24; }
inline uint32_t packet_flags(const uint32_t* words) {
    return network(words[header_kind_flags_length]) >> 16 & 0xFF;
}
inline uint32_t packet_length(const uint32_t* words) {
    return network(words[header_kind_flags_length]) & 0xFFFF;
}

inline void arm_receive() {
    packet& into = received_packets[armed];
    hardware::store(hardware::RMP, hardware::sram_address(into.words));
    hardware::store(hardware::RML, hardware::sram_address(into.words + header_words + body_words + 1));
}

// A packet has come; the next buffer is armed, if one is free.
inline void take_arrival() {
    hardware::store(hardware::ISR, hardware::ISR_RECV);
    received_ends[armed] = hardware::load(hardware::RMP);
    armed = (armed + 1) % receive_buffers;
    if (++arrived != receive_buffers) arm_receive();
}

inline uint32_t oldest_arrival() { return (armed - arrived) % receive_buffers; }

inline void release_arrival() {
    if (arrived-- == receive_buffers) arm_receive();
}

// The buffer is full and the packet has not ended: nothing that long is ours. Reads it to its end.
inline void packet_too_long() {
    hardware::store(hardware::ISR, hardware::ISR_BUFF);
    discarding = 1;
    arm_receive();
}

// Whole, and as its header says. Behind the data stands the remainder of the CRC-8, 0 when all is well.
inline bool is_intact(uint32_t buffer) {
    const uint32_t* words = received_packets[buffer].words;
    const bool whole = discarding == 0;
    discarding = 0;
    uint32_t bytes = 4 * header_words + (packet_length(words) + 3) / 4 * 4;
    if (packet_kind(words) == abi::packet_rdma_write) bytes += 4 * rdma_words;
    return whole && words[header_type] == network(abi::packet_type_vi) &&
           packet_length(words) <= abi::packet_payload_max &&
           received_ends[buffer] == hardware::sram_address(words) + bytes + 4 &&
           network(words[bytes / 4]) >> 24 == 0;
}

inline void start_send_engine(const send_order& what) {
    sending = 1;
    hardware::barrier();
    hardware::store(hardware::SMP, what.first_word);
    hardware::store(hardware::SA, what.skip);
    hardware::store(hardware::SMLT, what.last_word);
}

// The packet in `sent_packet`, whose last word is `last`, is complete.
inline void give_to_wire(uint32_t route_first, uint32_t skip, const uint32_t* last) {
    const send_order order = {hardware::sram_address(&sent_packet().route[route_first]), skip,
                              hardware::sram_address(last)};
    second_is_next ^= 1;
    if (variant::send_buffers == 1 || !sending) return start_send_engine(order);
    waiting_order = order;
    waits_for_wire = 1;
}

inline void send_engine_done() {
    hardware::store(hardware::ISR, hardware::ISR_SEND);
    sending = 0;
    if (variant::send_buffers == 1 || !waits_for_wire) return;
    waits_for_wire = 0;
    start_send_engine(waiting_order);
}

}  // namespace vinic::bvia
