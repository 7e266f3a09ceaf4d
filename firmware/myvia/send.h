// SPDX-License-Identifier: Apache-2.0

// The send pipeline. Each step takes what resources there are and stops where one is missing; the arrival of
// that resource brings the VI back. Several packets are under way at once: one on the wire, others waiting
// for it or for their payload. VIs take turns, packet by packet.
#pragma once

#include "firmware/myvia/express_send.h"

namespace vinic::myvia {

enum send_step : uint32_t { send_idle, send_blocked, send_more };

// --- Checks (vipl.md 3, 6.2)

// All segments: handles, ranges, and that their lengths add up. Sets the cursor to where `offset` is.
inline uint32_t check_segments(const vi& of, send_message& message, descriptor& from,
                               segment_window& window) {
    const uint32_t count = segment_count(from);
    segment current;
    while (message.checked_segment < count) {
        const uint32_t step = find_segment(of, from, window, message.checked_segment, current);
        if (step != step_done) return step;
        if (current.length > from.length - message.sum) return abi::vi_status_format_error;
        if (current.length != 0) {
            const region* where = find_region(current.handle, of.tag);
            if (where == nullptr || !contains(*where, current.address, current.length))
                return abi::vi_status_protection_error;
            if (message.sum <= message.offset && message.offset - message.sum < current.length)
                message.at.move_to(message.checked_segment, message.offset - message.sum);
            message.sum += current.length;
        }
        ++message.checked_segment;
    }
    return when(message.sum != from.length, abi::vi_status_format_error);
}

// --- Messages

// Takes up the next descriptor, if one is there. False: there is none, or the card waits for
// acknowledgements.
inline send_step begin_message(vi& of) {
    work_queue& queue = of.send;
    if (queue.next == queue.posted) return send_idle;
    if (queue.next == queue.fetched) {
        fetch_send_slots(of);
        if (!has_tokens) return queue.fetching != 0 ? send_idle : send_blocked;
    }
    if (queue.next - queue.completed >= send_records_per_vi) return send_idle;
    const descriptor& from = of.send_slot(queue.next);
    send_message& message = of.sending;
    of.obstacles |= obstacle_message;
    message.checked = 0;
    message.offset = of.resume_offset;
    message.checked_segment = first_data_segment(from);
    message.sum = 0;
    message.at.move_to(message.checked_segment, 0);
    of.resume_offset = 0;
    message.error = check_send_format(from, of.limit, max_segments);
    return send_more;
}

// A descriptor in error completes when those before it have. On an unreliable connection the next one
// follows; a reliable one breaks.
inline send_step fail_message(vi& of, const descriptor& from) {
    work_queue& queue = of.send;
    if (queue.completed != queue.next) return send_idle;
    if (writes.space() < completion_blocks) {
        work |= work_send | work_writes;
        return send_blocked;
    }
    const uint32_t status = of.sending.error | operation_status(control_bits(from));
    of.obstacles &= ~obstacle_message;
    of.sending.error = 0;
    const uint32_t slot = queue.next++;
    of.started = queue.next;
    complete(of, queue, false, from.length, status);
    if (!is_reliable(of)) return send_more;
    enter_error(of);
    post_event(abi::myvia::event_vi_error, of.index, 0, slot);
    return send_idle;
}

// --- Packets

// Posts the reads of the payload, page by page, segment by segment.
inline uint32_t fetch_payload(vi& of, descriptor& from, packet& into, uint32_t body_word) {
    segment_cursor& at = of.sending.at;
    while (into.remaining != 0) {
        uint32_t bytes;
        uint32_t step =
            bytes_in_segment(of, from, into.window, at, abi::vi_status_format_error, into.remaining, bytes);
        if (step != step_done) return step;
        if (payload_reads.space() <= express_blocks) return step_blocked;
        bytes = least(bytes, page_bytes - at.low % page_bytes);
        uint64_t physical;
        step = translate(*at.where, at.low, physical);
        if (step != step_done) return step;
        const uint32_t body = hardware::sram_address(into.body() + body_word);
        payload_reads.start(*payload_reads.next, physical, body + into.length - into.remaining, bytes,
                            action_none);
        into.remaining -= bytes;
        at.advance(bytes);
    }
    return step_done;
}

inline void write_header(vi& of, const descriptor& from, packet& into) {
    const uint32_t control = control_bits(from);
    const bool rdma = (control & abi::vi_op_rdma_write) != 0;
    const uint32_t offset = of.sending.offset;
    uint32_t flags = when(offset == 0, abi::packet_first);
    if (offset + into.length == from.length) flags |= abi::packet_last;
    if ((control & abi::vi_control_immediate) != 0) flags |= abi::packet_immediate;
    flags |= window_flags(of);
    uint32_t* header = into.words;
    header[header_kind_flags_length] =
        kind_word(rdma ? abi::packet_rdma_write : abi::packet_send, flags, into.length);
    header[header_sequence] = network(of.next_sequence);
    header[header_acknowledge] = network(of.placed);
    header[header_offset] = network(offset);
    header[header_immediate] = network(from.immediate);
    if (rdma) {
        into.body()[0] = network(high_word(from.segments[0].address));
        into.body()[1] = network(low_word(from.segments[0].address));
        into.body()[2] = network(from.segments[0].handle);
        into.body()[3] = 0;
    }
}

// The payload is on its way: the rest of the packet, and its place in the queue for the wire.
inline send_step finish_packet(vi& of, const descriptor& from, packet* finished, uint32_t body_word) {
    write_header(of, from, *finished);
    set_end(*finished, body_word + (finished->length + 3) / 4);
    finished->ready_at = payload_reads.head;
    of.building = nullptr;
    of.sending.offset += finished->length;
    ++of.next_sequence;
    const bool last = of.sending.offset == from.length;
    note_sent(of, *finished, last);
    if (last) {
        of.obstacles &= ~obstacle_message;
        end_message(of);
    }
    wire_queue.push(finished);
    pump_wire();
    return !last || of.send.next != of.send.posted ? send_more : send_idle;
}

// A buffer for the next packet of the message, with the message's segments checked once.
inline uint32_t prepare_packet(vi& of, descriptor& from) {
    packet* into = of.building;
    send_message& message = of.sending;
    if (into == nullptr) {
        into = free_packets[pool_send].pop();
        if (into == nullptr) return step_blocked;
        of.building = into;
        address_packet(*into, of);
        into->begun = 0;
        clear(into->window);
    }
    if (!message.checked) {
        const uint32_t step = check_segments(of, message, from, into->window);
        if (step != step_done) return step;
        message.checked = 1;
        const uint32_t first = of.next_sequence - message.offset / abi::packet_payload_max;
        record_of(of, of.send.next) = {from.length, operation_status(control_bits(from)), first,
                                       first + packets_of(from.length)};
    }
    return step_done;
}

inline uint32_t build_packet(vi& of, descriptor& from, uint32_t body_word) {
    const uint32_t step = prepare_packet(of, from);
    if (step != step_done) return step;
    packet& into = *of.building;
    if (!into.begun) {
        into.begun = 1;
        into.length = into.remaining = least(from.length - of.sending.offset, abi::packet_payload_max);
        // The wire carries whole words: zeros behind the payload's last byte.
        if (into.length % 4 != 0) into.body()[body_word + into.length / 4] = 0;
    }
    return fetch_payload(of, from, into, body_word);
}

// One packet of this VI, or as much of it as can be done now.
inline send_step advance_send(vi& of) {
    if (of.state != abi::myvia::vi_connected) return send_idle;
    if ((of.obstacles & obstacle_go_back) != 0 && of.building == nullptr && !go_back(of)) return send_idle;
    if ((of.obstacles & obstacle_message) == 0) {
        if (free_packets[pool_send].head == nullptr) return send_blocked;
        if (try_express_send(of)) return of.send.next != of.send.posted ? send_more : send_idle;
        const send_step step = begin_message(of);
        if (step != send_more) return step;
    }
    descriptor& from = of.send_slot(of.send.next);
    if (of.sending.error != 0) return fail_message(of, from);
    if (of.building == nullptr && (of.obstacles & obstacle_window) != 0) return send_idle;
    const uint32_t body_word = first_data_segment(from) * rdma_words;
    const uint32_t step = build_packet(of, from, body_word);
    if (step == step_blocked) return send_blocked;
    if (step == step_done) return finish_packet(of, from, of.building, body_word);
    of.sending.error = step;
    abandon_packet(of);
    return fail_message(of, from);
}

// Two packets wait for the engine, the first for nothing else. More are made when the next one has left: the
// engine, just started, will not wait for that then.
inline bool enough_for_the_wire() {
    const packet* first = on_deck;
    return first != nullptr && first->link != nullptr;
}

// VIs that have something to send take turns: the next that can go on sends a packet, and the main loop looks
// round before another does.
inline void run_send() {
    if (enough_for_the_wire()) return;
    vi* blocked = nullptr;
    while (vi* of = scheduled_vis.head) {
        if (of == blocked) return;
        scheduled_vis.pop();
        of->scheduled = 0;
        const send_step step = advance_send(*of);
        if (step != send_idle && !of->scheduled) {
            of->scheduled = 1;
            scheduled_vis.push(of);
        }
        if (step != send_blocked) break;
        if (blocked == nullptr) blocked = of;
    }
    if (scheduled_vis.head != nullptr) work |= work_send;
}

}  // namespace vinic::myvia
