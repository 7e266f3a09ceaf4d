// SPDX-License-Identifier: Apache-2.0

// Sending, step by step: fetch the descriptor, check it, fetch the payload into the one buffer, send. The
// next packet begins when that one has left. VIs take turns, packet by packet.
#pragma once

#include "firmware/bvia/receive.h"

namespace vinic::bvia {

inline vi* first_scheduled;
inline vi* last_scheduled;

inline void schedule(vi& of) {
    if (of.scheduled) return;
    of.scheduled = 1;
    of.next_scheduled = nullptr;
    if (first_scheduled == nullptr)
        first_scheduled = &of;
    else
        last_scheduled->next_scheduled = &of;
    last_scheduled = &of;
}

// All segments: handles, ranges, and that their lengths add up. The rest of the check of a message of one
// segment and one packet is that of move_bytes.
inline uint32_t check_segments(const vi& of, const descriptor& from) {
    const uint32_t first = first_data_segment(from);
    if (segment_count(from) == first + 1 && from.length <= abi::packet_payload_max)
        return when(from.segments[first].length != from.length, abi::vi_status_format_error);
    uint32_t sum = 0;
    segment current;
    for (uint32_t i = first; i < segment_count(from); ++i) {
        const uint32_t wrong = find_segment(of, from, i, current);
        if (wrong != 0) return wrong;
        if (current.length > from.length - sum) return abi::vi_status_format_error;
        if (current.length == 0) continue;
        const region* where = find_region(current.handle, of.tag);
        if (where == nullptr || !contains(*where, current.address, current.length))
            return abi::vi_status_protection_error;
        sum += current.length;
    }
    return when(sum != from.length, abi::vi_status_format_error);
}

// Takes up the next descriptor. False: it is in error, and has been completed.
inline bool begin_message(vi& of) {
    read_host(slot_address(of, of.send), &of.send_slot, abi::myvia::slot_bytes);
    decode(of.send_slot);
    const descriptor& slot = of.send_slot;
    uint32_t wrong = check_send_format(slot, of.limit, max_segments);
    if (wrong == 0) wrong = check_segments(of, slot);
    if (wrong != 0) {
        complete(of, of.send, false, slot.length, wrong | operation_status(control_bits(slot)));
        return false;
    }
    of.outgoing = {.begun = 1, .offset = 0, .segment = first_data_segment(slot), .segment_offset = 0};
    return true;
}

inline void write_header(const vi& of, const descriptor& from, uint32_t length, bool last) {
    const uint32_t control = control_bits(from);
    const bool rdma = (control & abi::vi_op_rdma_write) != 0;
    uint32_t flags = when(of.outgoing.offset == 0, abi::packet_first) | when(last, abi::packet_last);
    if ((control & abi::vi_control_immediate) != 0) flags |= abi::packet_immediate;
    packet& made = sent_packet();
    uint32_t* header = made.words;
    made.route[0] = of.route[0];
    made.route[1] = of.route[1];
    header[header_type] = network(abi::packet_type_vi);
    header[header_kind_flags_length] =
        kind_word(rdma ? abi::packet_rdma_write : abi::packet_send, flags, length);
    header[header_ends] = network(of.ends);
    header[header_key] = network(of.key);
    header[header_sequence] = network(of.next_sequence);
    header[header_acknowledge] = 0;
    header[header_offset] = network(of.outgoing.offset);
    header[header_immediate] = network(from.immediate);
    if (!rdma) return;
    uint32_t* body = made.body();
    body[0] = network(high_word(from.segments[0].address));
    body[1] = network(low_word(from.segments[0].address));
    body[2] = network(from.segments[0].handle);
    body[3] = 0;
}

// The packet in `sent_packet` is whole.
inline void launch(vi& of, const uint32_t* last_word) {
    if (of.loopback)
        receive_packet(sent_packet().words);
    else
        give_to_wire(of.route_first, of.route_skip, last_word);
}

// One packet; a buffer is free. The descriptor completes when the last one is on its way.
inline void send_packet(vi& of) {
    const descriptor& slot = of.send_slot;
    send_message& message = of.outgoing;
    const uint32_t length = least(slot.length - message.offset, abi::packet_payload_max);
    const bool last = message.offset + length == slot.length;
    const uint32_t body_word = first_data_segment(slot) * rdma_words;
    uint32_t* payload = sent_packet().body() + body_word;
    if (length % 4 != 0) payload[length / 4] = 0;  // the wire carries whole words
    const uint32_t wrong =
        move_bytes(of, slot, {message.segment, message.segment_offset}, payload, length, to_card);
    if (wrong != 0) {  // its registration ended meanwhile
        message.begun = 0;
        return complete(of, of.send, false, slot.length, wrong | operation_status(control_bits(slot)));
    }
    write_header(of, slot, length, last);
    message.offset += length;
    ++of.next_sequence;
    finish_dma();
    launch(of, payload + (length + 3) / 4 - 1);
    if (!last || of.state != abi::myvia::vi_connected) return;
    message.begun = 0;
    complete(of, of.send, false, slot.length, operation_status(control_bits(slot)));
}

// One packet of the VI whose turn it is; a buffer is free.
inline void run_send() {
    vi& of = *first_scheduled;
    first_scheduled = of.next_scheduled;
    of.scheduled = 0;
    if (of.state != abi::myvia::vi_connected || of.send.posted == of.send.completed) return;
    if (of.outgoing.begun || begin_message(of)) send_packet(of);
    if (of.send.posted != of.send.completed) schedule(of);
}

}  // namespace vinic::bvia
