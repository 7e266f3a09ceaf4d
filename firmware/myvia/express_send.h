// SPDX-License-Identifier: Apache-2.0

// The usual send, with the fewest instructions between descriptor and payload: one packet from one segment in
// one page, of which everything is at hand. Its effects are those of the pipeline in send.h, to which all
// else is left. The read of the payload starts as soon as it is known; the packet is made while it runs.
#pragma once

#include "firmware/myvia/reliability.h"

namespace vinic::myvia {

// Blocks of `payload_reads` that the pipeline leaves to short messages: each has a buffer, and one block.
inline constexpr uint32_t express_blocks = send_buffers;

// The last packet of the message is finished.
[[gnu::always_inline]] inline void end_message(vi& of) {
    work_queue& queue = of.send;
    ++queue.next;
    if (queue.posted == queue.fetched) return;
    serve_wire();
    if (queue.fetched - queue.next <= cached_slots / 2) fetch_send_slots(of);
}

// A packet has been finished, the last of its message or not.
[[gnu::always_inline]] inline void note_sent(vi& of, packet& finished, bool last) {
    const uint32_t next = of.next_sequence;
    finished.completes = 0;
    if (is_reliable(of)) {
        if (static_cast<int32_t>(next - of.sequence_end) > 0) of.sequence_end = next;
        if (next - of.unacknowledged >= send_window) of.obstacles |= obstacle_window;
        if (last && static_cast<int32_t>(of.send.next + 1 - of.started) > 0) of.started = of.send.next + 1;
        of.acknowledgements = 0;
        if (!of.timed) time_packets(of);
    } else {
        of.unacknowledged = next;
        finished.completes = last;
    }
}

// The last packet that the window lets through asks for an acknowledgement.
inline uint32_t window_flags(const vi& of) {
    return when(of.next_sequence - of.unacknowledged == send_window - 1, abi::packet_wants_acknowledge);
}

// Zero for a descriptor of the usual form whose segment's region and upper address are the window's.
[[gnu::always_inline]] inline uint32_t unusual(const source_window& window, const descriptor& from) {
    const segment& only = from.segments[0];
    return ((from.control_and_count & ~immediate_bit) ^ 1) | from.reserved | (from.length ^ only.length) |
           (window.handle ^ only.handle) | (window.address_high ^ high_word(only.address)) |
           (window.generation ^ registrations);
}

// Whether the window holds all of it: negative if not. No sum overflows, since no message of one packet and
// no window is longer than a page.
[[gnu::always_inline]] inline int32_t room_in_window(const source_window& window, const descriptor& from) {
    const uint32_t offset = low_word(from.segments[0].address) - window.low;
    return static_cast<int32_t>(offset | (window.span - from.length - offset));
}

// Another window, where the payload of this descriptor is. False: it is not the usual one.
[[gnu::noinline]] inline bool refill_source(vi& of, const descriptor& from) {
    source_window& window = of.source;
    const segment& only = from.segments[0];
    const uint64_t address = only.address;
    const uint32_t in_page = low_word(address) % page_bytes;
    if ((((from.control_and_count & ~immediate_bit) ^ 1) | from.reserved | (from.length ^ only.length)) != 0)
        return false;
    const region* where = find_region(only.handle, of.tag);
    uint64_t physical;
    if (where == nullptr || !contains(*where, address, only.length) ||
        high_word(address) != high_word(where->address) || in_page + only.length > page_bytes ||
        translate(*where, low_word(address), physical) != step_done)
        return false;
    const uint32_t in_region = low_word(address) - low_word(where->address);
    const uint32_t before = least(in_page, in_region);
    window.handle = only.handle;
    window.address_high = high_word(address);
    window.generation = registrations;
    window.low = low_word(address) - before;
    window.span = before + least(page_bytes - in_page, where->length - in_region);
    window.physical_high = high_word(physical);
    window.to_physical = low_word(physical) - low_word(address);
    return true;
}

[[gnu::always_inline]] inline void express_packet(vi& of, const descriptor& from, packet& made,
                                                  uint32_t length) {
    const uint32_t sequence = of.next_sequence;
    const uint32_t immediate = from.control_and_count & immediate_bit;
    record_of(of, of.send.next) = {length, abi::vi_status_op_send, sequence, sequence + 1};
    address_packet(made, of);
    uint32_t* header = made.words;
    // The bit of the descriptor, moved to where the packet has its own.
    static_assert(immediate_bit == abi::packet_immediate << 16);
    header[header_kind_flags_length] =
        network(length | immediate | (window_flags(of) << 16) |
                (abi::packet_send << 24 | (abi::packet_first | abi::packet_last) << 16));
    header[header_sequence] = network(sequence);
    header[header_acknowledge] = network(of.placed);
    header[header_offset] = 0;
    header[header_immediate] = network(from.immediate);
    set_end(made, (length + 3) / 4);
    made.ready_at = payload_reads.head;
    wire_queue.push(&made);
    of.next_sequence = sequence + 1;
}

// A message without payload, with no segment or one of length 0: nothing is read, and its packet is ready.
[[gnu::noinline]] inline bool express_empty_send(vi& of, const descriptor& from, packet& made) {
    const uint32_t count = from.control_and_count & ~immediate_bit;
    if (count > 1 || from.reserved != 0 || (count == 1 && from.segments[0].length != 0)) return false;
    free_packets[pool_send].head = made.link;
    express_packet(of, from, made, 0);
    note_sent(of, made, true);
    end_message(of);
    pump_wire();
    return true;
}

// The window holds the payload.
[[gnu::always_inline]] inline void send_from_window(vi& of, const descriptor& from, packet& made,
                                                    uint32_t length) {
    made.words[header_words + (length - 1) / 4] = 0;
    payload_reads.post(
        join(of.source.physical_high, low_word(from.segments[0].address) + of.source.to_physical),
        made.body(), length);
    free_packets[pool_send].head = made.link;
    express_packet(of, from, made, length);
    note_sent(of, made, true);
    end_message(of);
}

// The next descriptor of this VI, which is on the card. False: nothing has been done.
[[gnu::always_inline]] inline bool express_send(vi& of) {
    static_assert(send_buffers <= send_records_per_vi && send_window <= send_records_per_vi);
    work_queue& queue = of.send;
    packet* made = free_packets[pool_send].head;
    if (of.obstacles != 0) return false;
    if (made == nullptr) return false;
    const descriptor& from = of.send_slot(queue.next);
    const uint32_t length = from.length;
    if (length - 1 >= of.packet_limit) return length == 0 && express_empty_send(of, from, *made);
    if (unusual(of.source, from) != 0) return false;
    if (room_in_window(of.source, from) < 0) return false;
    send_from_window(of, from, *made, length);
    return true;
}

// The same; the window may be moved.
[[gnu::noinline]] inline bool try_express_send(vi& of) {
    serve_wire();
    if (of.send.next == of.send.fetched || of.obstacles != 0 || free_packets[pool_send].head == nullptr)
        return false;
    const descriptor& from = of.send_slot(of.send.next);
    const uint32_t length = from.length;
    if (length - 1 >= of.packet_limit)
        return length == 0 && express_empty_send(of, from, *free_packets[pool_send].head);
    if (unusual(of.source, from) != 0 || room_in_window(of.source, from) < 0) {
        if (!refill_source(of, from)) return false;
        serve_wire();
    }
    send_from_window(of, from, *free_packets[pool_send].head, length);
    return true;
}

}  // namespace vinic::myvia
