// SPDX-License-Identifier: Apache-2.0

// The receive pipeline. A buffer is always armed; what arrives is queued and processed in order. A packet
// that must wait (for a descriptor, a translation, room for blocks) stays at the head of the queue.
#pragma once

#include "firmware/myvia/placement.h"

namespace vinic::myvia {

enum receive_step : uint32_t {
    packet_finished,  // its buffer is free
    packet_held,      // DMA still reads its buffer, and will release it
    packet_stalled
};

void poll_writes();  // main_loop.h

// Room in the channel of writes for all that one packet may complete: 16 sends by its acknowledgement, and
// its own descriptor.
inline constexpr uint32_t blocks_per_packet = (send_records_per_vi + 1) * completion_blocks;

// --- Ends of packets and messages

inline uint32_t flags_of(const packet& of) {
    return network(of.words[header_kind_flags_length]) >> 16 & 0xFF;
}
inline bool is_last(const packet& of) { return (flags_of(of) & abi::packet_last) != 0; }

// DMA has read the last of this packet's buffer.
inline void packet_placed(packet& of) {
    vi& receiver = vi_at(network(of.words[header_ends]) >> 16);
    if (receiver.state == abi::myvia::vi_connected && acknowledges_placement(receiver) &&
        receiver.key == network(of.words[header_key]))
        note_placed(receiver, network(of.words[header_sequence]), is_last(of));
    release(&of);
}

// Packets that were given up while DMA was reading them: free when the channel of writes has passed
// `ready_at`.
inline packet_fifo dropped_packets;

inline void run_dropped() {
    while (dropped_packets.head != nullptr && writes.passed(dropped_packets.head->ready_at))
        release(dropped_packets.pop());
    if (dropped_packets.head != nullptr) work |= work_writes;
}

// Gives up a packet, parts of which DMA may still be reading.
inline receive_step drop_packet(packet& of) {
    if (!of.begun || of.remaining == of.length || writes.tail == writes.head) return packet_finished;
    of.ready_at = writes.head;
    dropped_packets.push(&of);
    work |= work_writes;
    return packet_held;
}

// The slot at the head has been taken out of the card.
[[gnu::always_inline]] inline void next_receive_slot(vi& of) {
    of.target(of.receive.next).bytes = 0;
    ++of.receive.next;
}

[[gnu::always_inline]] inline void fetch_receive_slots_early(vi& of) {
    const work_queue& queue = of.receive;
    if (queue.posted != queue.fetched && queue.fetched - queue.next <= cached_slots / 2)
        fetch_receive_slots(of);
}

// Completes the receive descriptor in turn.
inline void complete_receive(vi& of, const packet& last, uint32_t length, uint32_t status) {
    of.receiving.kind = 0;
    next_receive_slot(of);
    if ((flags_of(last) & abi::packet_immediate) != 0)
        complete_immediately(of, network(last.words[header_immediate]), length, status);
    else
        complete(of, of.receive, true, length, status);
    fetch_receive_slots_early(of);
}

// A reliable connection breaks on the receiver's side, and the peer is told why.
inline void refuse_connection(vi& of, uint32_t status) {
    enter_error(of);
    of.refuse = refuse_finally;
    of.final_status = status;
    acknowledge_now(of);
}

// There is no receive descriptor. The message is dropped, and a reliable connection breaks.
inline void receive_queue_empty(vi& of) {
    of.receiving.kind = message_skipped;
    if (is_reliable(of)) refuse_connection(of, abi::vi_status_remote_descriptor_error);
    post_event(abi::myvia::event_error, of.index, vip_error_receive_queue_empty, 0);
}

// A message cannot be placed: `status` is for its receive descriptor, if it has one.
inline void message_failed(vi& of, const packet& at, uint32_t status) {
    const bool has_descriptor = of.receiving.kind == abi::packet_send;
    const bool will_have_one = !has_descriptor && (flags_of(at) & abi::packet_immediate) != 0;
    if (!is_reliable(of) || will_have_one) {
        of.receiving.status = status;
        if (!has_descriptor && !will_have_one)
            post_event(abi::myvia::event_error, of.index, vip_error_rdma_write_protection, 0);
        return;
    }
    if (has_descriptor) {
        const uint32_t slot = of.receive.next;
        complete_receive(of, at, of.receiving.bytes, status | abi::vi_status_op_receive);
        refuse_connection(of, abi::vi_status_remote_descriptor_error);
        post_event(abi::myvia::event_vi_error, of.index, 0, slot);
        return;
    }
    refuse_connection(of, abi::vi_status_rdma_protection_error);
    post_event(abi::myvia::event_error, of.index, vip_error_rdma_write_protection, 0);
}

// The last packet of an RDMA write with immediate data that could not be placed: the receive descriptor says
// it, not an asynchronous error (vipl.md 6.2), and the reliable connection breaks.
inline void write_failed(vi& of, const packet& last) {
    const uint32_t slot = of.receive.next;
    complete_receive(of, last, of.receiving.bytes, of.receiving.status | abi::vi_status_op_remote_rdma_write);
    refuse_connection(of, abi::vi_status_rdma_protection_error);
    post_event(abi::myvia::event_vi_error, of.index, 0, slot);
}

// The sender's next packet is not the one that follows: packets were lost. What has come of an unfinished
// message is void, and its descriptor will serve the next one.
inline void message_lost(vi& of) {
    if (of.receiving.kind == abi::packet_rdma_write)
        post_event(abi::myvia::event_error, of.index, vip_error_rdma_write_abort, 0);
    of.receiving.kind = 0;
}

// The last packet of a message has been placed, or has failed.
inline void end_of_message(vi& of, const packet& last) {
    receive_message& message = of.receiving;
    const uint32_t operation =
        message.kind == abi::packet_send ? abi::vi_status_op_receive : abi::vi_status_op_remote_rdma_write;
    if (message.kind == abi::packet_send || (flags_of(last) & abi::packet_immediate) != 0)
        complete_receive(of, last, message.bytes, message.status | operation);
    message.kind = 0;
}

// --- Acceptance

// The sequence number of a data packet. False: the packet is not the next one.
inline bool accept_sequence(vi& of, uint32_t sequence) {
    const int32_t ahead = static_cast<int32_t>(sequence - of.expected);
    if (ahead == 0) return true;
    if (!is_reliable(of)) {
        if (ahead < 0) return false;
        message_lost(of);
        of.expected = sequence;
        return true;
    }
    if (ahead > 0 && of.refuse != refuse_nothing) return false;
    if (ahead > 0) of.refuse = refuse_gap;
    acknowledge_now(of);
    return false;
}

// A receive descriptor for this packet's message. False: the packet must wait for it.
inline bool descriptor_at_hand(vi& of) {
    if (of.receive.next != of.receive.fetched) return true;
    fetch_receive_slots(of);
    if (has_tokens) return true;
    work |= short_reads.space() == 0 ? work_receive : 0u;
    return false;
}

// The first packet of a message opens it; others must continue it. False: the packet is of no use.
inline bool accept_message(vi& of, const packet& with, uint32_t kind) {
    receive_message& message = of.receiving;
    if ((flags_of(with) & abi::packet_first) == 0)
        return message.kind == kind && message.bytes == network(with.words[header_offset]);
    if (message.kind != 0 && message.kind != message_skipped) message_lost(of);
    message.kind = kind;
    message.bytes = message.status = 0;
    message.at.move_to(0, 0);
    return true;
}

inline receive_step place_packet(vi& of, packet& what, uint32_t kind) {
    descriptor& slot = of.receive_slot(of.receive.next);
    receive_message& message = of.receiving;
    if (message.status == 0) {
        const uint32_t step =
            kind == abi::packet_send ? place_in_segments(of, slot, what) : place_remotely(of, what);
        if (step == step_blocked) return packet_stalled;
        if (step != step_done) message_failed(of, what, step);
        if (of.state != abi::myvia::vi_connected) return drop_packet(what);
    }
    if (message.status != 0 && is_reliable(of) && is_last(what)) {
        write_failed(of, what);
        return drop_packet(what);
    }
    message.bytes += what.length;
    ++of.expected;
    of.refuse = refuse_nothing;
    const bool held = what.length != 0 && what.remaining == 0;
    if ((flags_of(what) & abi::packet_wants_acknowledge) != 0) of.urgent = 1;
    if (is_last(what)) end_of_message(of, what);
    if (is_reliable(of)) {
        if (held && acknowledges_placement(of))
            ++of.placing;
        else
            note_accepted(of, is_last(what));
    }
    return held ? packet_held : drop_packet(what);
}

inline receive_step receive_data(vi& of, packet& what, uint32_t kind) {
    if (what.begun) return place_packet(of, what, kind);
    if (is_reliable(of)) acknowledged(of, network(what.words[header_acknowledge]));
    if (!accept_sequence(of, network(what.words[header_sequence]))) return packet_finished;
    const uint32_t flags = flags_of(what);
    const bool opens = (flags & abi::packet_first) != 0;
    const bool consumes = kind == abi::packet_send
                              ? opens
                              : (flags & abi::packet_last) != 0 && (flags & abi::packet_immediate) != 0;
    if (consumes && of.receive.next != of.receive.posted && !descriptor_at_hand(of)) return packet_stalled;
    if (!accept_message(of, what, kind)) {
        ++of.expected;
        return packet_finished;
    }
    if (consumes && of.receive.next == of.receive.posted) {
        if (!is_reliable(of)) ++of.expected;
        receive_queue_empty(of);
        return packet_finished;
    }
    what.begun = 1;
    what.length = what.remaining = packet_length(what);
    clear(receive_window);
    if (kind == abi::packet_send && opens) {
        const uint32_t status = check_receive_format(of.receive_slot(of.receive.next), max_segments);
        if (status != 0) message_failed(of, what, status);
        if (of.state != abi::myvia::vi_connected) return packet_finished;
    }
    return place_packet(of, what, kind);
}

inline receive_step receive_packet(packet& what) {
    const uint32_t kind = packet_kind(what);
    if (kind == abi::packet_control) {
        control_packet_event(what.body(), packet_length(what));
        return packet_finished;
    }
    const uint32_t ends = network(what.words[header_ends]);
    vi& of = vi_at(ends >> 16);
    if (of.arriving_ends != ends || of.key != network(what.words[header_key]) ||
        of.state < abi::myvia::vi_connected)
        return drop_packet(what);
    if (of.state != abi::myvia::vi_connected) {
        if (of.refuse == refuse_finally && kind <= abi::packet_rdma_write) acknowledge_now(of);
        return drop_packet(what);
    }
    if (kind == abi::packet_send || kind == abi::packet_rdma_write) return receive_data(of, what, kind);
    if (!is_reliable(of)) return packet_finished;
    const uint32_t sequence = network(what.words[header_acknowledge]);
    if (kind == abi::packet_acknowledge)
        acknowledged(of, sequence);
    else if (kind == abi::packet_not_acknowledge)
        not_acknowledged(of, sequence, network(what.words[header_immediate]));
    return packet_finished;
}

// --- The usual message

// Nobody waits for receive descriptors, as a rule: all that can be done before a message comes is done now.
[[gnu::always_inline]] inline void receive_slots_arrived(vi& of) {
    work_queue& queue = of.receive;
    const uint32_t count = slots_arrived(queue, of.receive_slots);
    serve_payload();
    for (uint32_t i = queue.fetched - count; i != queue.fetched; ++i) {
        prepare_target(of, of.receive_slot(i), of.target(i));
        serve_wire();
    }
}

inline constexpr uint32_t usual_packet = abi::packet_send << 24 | (abi::packet_first | abi::packet_last)
                                                                      << 16;
inline constexpr uint32_t usual_flags = (abi::packet_immediate | abi::packet_wants_acknowledge) << 16;

// Zero for a send of one packet, else what its kind and flags have that is different.
[[gnu::always_inline]] inline uint32_t kind_beside_usual(const packet& what) {
    return (network(what.words[header_kind_flags_length]) & ~(usual_flags | 0xFFFF)) ^ usual_packet;
}
// A send that is not the first packet of its message.
[[gnu::always_inline]] inline bool continues(uint32_t beside_usual) {
    return (beside_usual & ~(abi::packet_last << 16)) == abi::packet_first << 16;
}

// What a reliable connection asks for besides, when the payload is on its way to memory.
[[gnu::noinline]] inline void express_receive_reliably(vi& of, const packet& what) {
    of.refuse = refuse_nothing;
    if (acknowledges_placement(of))
        ++of.placing;
    else
        note_accepted(of, is_last(what));
    if ((flags_of(what) & abi::packet_wants_acknowledge) != 0) of.urgent = 1;
    acknowledged(of, network(what.words[header_acknowledge]));
}

// The descriptor in turn completes with a message of one packet.
[[gnu::always_inline]] inline void complete_express(vi& of, const packet& what, uint32_t length) {
    if ((network(what.words[header_kind_flags_length]) & abi::packet_immediate << 16) != 0)
        complete_immediately(of, network(what.words[header_immediate]), length, abi::vi_status_op_receive);
    else
        complete(of, of.receive, true, length, abi::vi_status_op_receive);
    ++of.expected;
    next_receive_slot(of);
}

// Zero if the packet is this VI's next, of its connection, and a message of that kind is under way, 0: none.
[[gnu::always_inline]] inline uint32_t out_of_turn(const vi& of, const packet& what, uint32_t kind) {
    const uint32_t* header = what.words;
    return (of.arriving_ends ^ network(header[header_ends])) | (of.key ^ network(header[header_key])) |
           (of.expected ^ network(header[header_sequence])) | (of.receiving.kind ^ kind);
}

// A message without payload, for which every descriptor of good form will do.
[[gnu::noinline]] inline bool express_receive_empty(packet& what) {
    vi& of = vi_at(network(what.words[header_ends]) >> 16);
    work_queue& queue = of.receive;
    if (out_of_turn(of, what, 0) != 0 || queue.next == queue.fetched ||
        check_receive_format(of.receive_slot(queue.next), max_segments) != 0 ||
        !writes.has_room(blocks_per_packet + completion_blocks))  // the wire may take some
        return false;
    serve_wire();
    complete_express(of, what, 0);
    if (is_reliable(of)) {
        of.refuse = refuse_nothing;
        if ((flags_of(what) & abi::packet_wants_acknowledge) != 0) of.urgent = 1;
        acknowledged(of, network(what.words[header_acknowledge]));
        note_accepted(of, is_last(what));
    }
    serve_wire();
    fetch_receive_slots_early(of);
    release(&what);
    return true;
}

// A whole message in one packet for a descriptor whose target is known: placed and completed with the fewest
// instructions. Its effects are those of receive_packet, to which all else is left. False: nothing has been
// done.
[[gnu::always_inline]] inline bool express_receive(packet& what, uint32_t length) {
    vi& of = vi_at(network(what.words[header_ends]) >> 16);
    const receive_target& target = of.target(of.receive.next);
    if ((out_of_turn(of, what, 0) | (target.generation ^ registrations)) != 0) return false;
    if (length - 1 >= target.bytes) return false;
    if (!writes.has_room(blocks_per_packet)) return false;
    const bool acknowledged = acknowledges_placement(of);
    writes.start(*writes.next, join(target.physical_high, target.physical_low),
                 hardware::sram_address(what.body()), length, when_placed(acknowledged, what), acknowledged);
    complete_express(of, what, length);
    if (is_reliable(of)) express_receive_reliably(of, what);
    fetch_receive_slots_early(of);
    return true;
}

// A packet inside a message, or its last, for a piece of a segment and page that is known: placed with the
// fewest instructions. Its effects are those of receive_packet, to which all else is left. False: nothing has
// been done but to ask for a translation.
[[gnu::noinline]] inline bool express_continue(packet& what, uint32_t length) {
    vi& of = vi_at(network(what.words[header_ends]) >> 16);
    receive_message& message = of.receiving;
    segment_cursor& at = message.at;
    if ((out_of_turn(of, what, abi::packet_send) | message.status |
         (message.bytes ^ network(what.words[header_offset]))) != 0)
        return false;
    if (!at.is_open() || length - 1 >= least(at.left, page_bytes - at.low % page_bytes)) return false;
    if (length > bytes_of_region(at) || !writes.has_room(blocks_per_packet)) return false;
    uint64_t physical;
    if (translate(*at.where, at.low, physical) != step_done) return false;
    const bool acknowledged = acknowledges_placement(of);
    writes.start(*writes.next, physical, hardware::sram_address(what.body()), length,
                 when_placed(acknowledged, what), acknowledged);
    at.advance(length);
    message.bytes += length;
    ++of.expected;
    if (is_reliable(of)) express_receive_reliably(of, what);
    if (is_last(what)) end_of_message(of, what);
    return true;
}

// The short ways of a packet that had to wait.
[[gnu::noinline]] inline bool express_queued(packet& what) {
    if (what.begun) return false;
    const uint32_t other = kind_beside_usual(what);
    return other == 0 ? express_receive(what, packet_length(what))
                      : continues(other) && express_continue(what, packet_length(what));
}

// The packet at the head of the queue; the main loop looks round before the next.
inline void run_receive() {
    packet* head = arrival_queue.head;
    if (head == nullptr) return;
    if (writes.space() < blocks_per_packet) {
        poll_writes();
        if (writes.space() < blocks_per_packet) {
            work |= work_receive;
            return;
        }
    }
    const receive_step step = express_queued(*head) ? packet_held : receive_packet(*head);
    if (step == packet_stalled) return;
    arrival_queue.pop();
    if (step == packet_finished) release(head);
    if (arrival_queue.head != nullptr) work |= work_receive;
}

// --- From the link

// The data ends with the CRC-32's remainder, which is 0 when all is well; the CRC-8's, which finds no more,
// is not looked at, and then comes the engine's rounding.
inline uint32_t remainder(const packet& of, uint32_t bytes) { return of.words[bytes / 4]; }
inline uint32_t beyond_data(const packet& of, uint32_t bytes, uint32_t end) {
    return end - (hardware::sram_address(of.words) + sizeof(uint32_t) + 1) - bytes;
}

// Takes what the receive engine has finished and drops what is damaged.
[[gnu::noinline]] inline void take_arrival(packet* arrived, uint32_t end) {
    const uint32_t length = packet_length(*arrived);
    uint32_t bytes = 4 * header_words + (length + 3) / 4 * 4;
    if (packet_kind(*arrived) == abi::packet_rdma_write) bytes += 4 * rdma_words;
    const bool damaged = discarding || length > abi::packet_payload_max ||
                         beyond_data(*arrived, bytes, end) >= 8 || remainder(*arrived, bytes) != 0 ||
                         arrived->words[header_type] != network(abi::packet_type_vi);
    discarding = 0;
    if (damaged) return release(arrived);
    arrived->begun = 0;
    if (arrival_queue.head == nullptr && continues(kind_beside_usual(*arrived)) &&
        express_continue(*arrived, length))
        return;
    arrival_queue.push(arrived);
    work |= work_receive;
}

// The packet is intact, of the usual form, and its turn has come. All of take_arrival's checks.
[[gnu::always_inline]] inline bool usual_arrival(const packet& arrived, uint32_t length, uint32_t end) {
    const uint32_t bytes = 4 * header_words + (length + 3) / 4 * 4;
    if (beyond_data(arrived, bytes, end) >= 8) return false;
    return (remainder(arrived, bytes) | discarding | reinterpret_cast<uintptr_t>(arrival_queue.head) |
            kind_beside_usual(arrived) | (arrived.words[header_type] ^ network(abi::packet_type_vi))) == 0;
}

// The next buffer is armed at once.
[[gnu::always_inline]] inline void packet_arrived() {
    packet* arrived = armed_buffer;
    hardware::store(hardware::ISR, hardware::ISR_RECV);
    const uint32_t end = hardware::load(hardware::RMP);
    if (arrived == nullptr) return;
    packet* next = free_packets[pool_receive].pop();
    armed_buffer = nullptr;
    if (next != nullptr) arm_receive(next);
    hardware::barrier();
    const uint32_t length = packet_length(*arrived);
    if (!usual_arrival(*arrived, length, end) ||
        (!express_receive(*arrived, length) && (length != 0 || !express_receive_empty(*arrived))))
        take_arrival(arrived, end);
    if (free_packets[pool_receive].head == nullptr) work |= work_writes;  // before the last one is in use
}

// The buffer is full and the packet has not ended: nothing that long is ours. Reads it to its end.
inline void packet_too_long() {
    hardware::store(hardware::ISR, hardware::ISR_BUFF);
    if (armed_buffer == nullptr) return;
    discarding = 1;
    arm_receive(armed_buffer);
}

}  // namespace vinic::myvia
