// SPDX-License-Identifier: Apache-2.0

// What comes from the network: one packet at a time, from its buffer to the program's memory. The descriptor
// is fetched when the first packet of its message is there.
#pragma once

#include "firmware/bvia/segments.h"

namespace vinic::bvia {

void take_posted(vi& of);  // doorbell_pages.h, doorbell_queue.h

inline void fetch_receive_slot(vi& of) {
    read_host(slot_address(of, of.receive), &of.receive_slot, abi::myvia::slot_bytes);
    decode(of.receive_slot);
    of.receive_cached = 1;
}

inline void fetch_receive_slot_early(vi& of) {
    if (variant::caches_descriptors && !of.receive_cached && of.receive.posted != of.receive.completed)
        fetch_receive_slot(of);
}

// Completes the receive descriptor in turn.
inline void complete_receive(vi& of, const uint32_t* last, uint32_t status) {
    of.receive_cached = 0;
    if ((packet_flags(last) & abi::packet_immediate) != 0)
        complete_immediately(of, network(last[header_immediate]), of.incoming.bytes, status);
    else
        complete(of, of.receive, true, of.incoming.bytes, status);
}

// Packets were lost: what has come of an unfinished message is void, and its descriptor serves the next one.
inline void message_lost(vi& of) {
    if (of.incoming.kind == abi::packet_rdma_write)
        post_event(abi::myvia::event_error, of.index, vip_error_rdma_write_abort, 0);
    of.incoming.kind = 0;
}

// A message cannot be placed: its descriptor says so, or an asynchronous error.
inline void message_failed(vi& of, const uint32_t* at, uint32_t status) {
    of.incoming.status = status;
    if (of.incoming.kind != abi::packet_send && (packet_flags(at) & abi::packet_immediate) == 0)
        post_event(abi::myvia::event_error, of.index, vip_error_rdma_write_protection, 0);
}

// The region must allow it, and so must the VI; nothing of a packet is written when a part of it may not be.
inline uint32_t place_remotely(const vi& of, uint32_t* words, uint32_t length) {
    const uint32_t* to = words + header_words;
    uint64_t address = join(network(to[0]), network(to[1])) + network(words[header_offset]);
    const region* where = find_region(network(to[2]), of.tag);
    if (where == nullptr || (where->rdma_enables & of.rdma_enables & 1) == 0 ||
        !contains(*where, address, length))
        return abi::vi_status_rdma_protection_error;
    const char* from = reinterpret_cast<const char*>(to + rdma_words);
    while (length != 0) {
        const uint32_t piece = least(length, page_bytes - low_word(address) % page_bytes);
        start_dma(translate(*where, address), from, piece, to_host);
        from += piece;
        address += piece;
        length -= piece;
    }
    return 0;
}

inline void place_packet(vi& of, uint32_t* words, uint32_t kind) {
    receive_message& message = of.incoming;
    const uint32_t length = packet_length(words);
    if (message.status == 0 && length != 0) {
        const uint32_t wrong =
            kind == abi::packet_send
                ? move_bytes(of, of.receive_slot, {message.segment, message.segment_offset},
                             words + header_words, length, to_host)
                : place_remotely(of, words, length);
        if (wrong != 0) message_failed(of, words, wrong);
    }
    message.bytes += length;
    if ((packet_flags(words) & abi::packet_last) == 0) return;
    if (kind == abi::packet_send)
        complete_receive(of, words, message.status | abi::vi_status_op_receive);
    else if ((packet_flags(words) & abi::packet_immediate) != 0)
        complete_receive(of, words, message.status | abi::vi_status_op_remote_rdma_write);
    message.kind = 0;
    fetch_receive_slot_early(of);
}

// The first packet of a message opens it; others must continue it. False: the packet is of no use.
inline bool accept_message(vi& of, const uint32_t* words, uint32_t kind) {
    receive_message& message = of.incoming;
    if ((packet_flags(words) & abi::packet_first) == 0)
        return message.kind == kind && message.bytes == network(words[header_offset]);
    if (message.kind != 0 && message.kind != message_skipped) message_lost(of);
    message = {.kind = kind, .bytes = 0, .status = 0, .segment = 0, .segment_offset = 0};
    return true;
}

inline bool accept_sequence(vi& of, uint32_t sequence) {
    const int32_t ahead = static_cast<int32_t>(sequence - of.expected);
    if (ahead < 0) return false;
    if (ahead > 0) message_lost(of);
    of.expected = sequence + 1;
    return true;
}

// Its doorbell may have rung and not been seen yet.
inline bool has_descriptor(vi& of) {
    if (of.receive.posted == of.receive.completed) take_posted(of);
    return of.receive.posted != of.receive.completed;
}

inline void receive_data(vi& of, uint32_t* words, uint32_t kind) {
    if (!accept_sequence(of, network(words[header_sequence])) || !accept_message(of, words, kind)) return;
    const uint32_t flags = packet_flags(words);
    const bool opens = kind == abi::packet_send && (flags & abi::packet_first) != 0;
    const bool consumes = kind == abi::packet_send
                              ? opens
                              : (flags & abi::packet_last) != 0 && (flags & abi::packet_immediate) != 0;
    if (consumes && !has_descriptor(of)) {
        of.incoming.kind = message_skipped;
        return post_event(abi::myvia::event_error, of.index, vip_error_receive_queue_empty, 0);
    }
    if (opens) {
        if (!variant::caches_descriptors || !of.receive_cached) fetch_receive_slot(of);
        const uint32_t wrong = check_receive_format(of.receive_slot, max_segments);
        if (wrong != 0) message_failed(of, words, wrong);
    }
    place_packet(of, words, kind);
}

[[gnu::noinline]] inline void receive_packet(uint32_t* words) {
    const uint32_t kind = packet_kind(words);
    if (kind == abi::packet_control) return control_packet_event(words + header_words, packet_length(words));
    if (kind != abi::packet_send && kind != abi::packet_rdma_write) return;
    const uint32_t ends = network(words[header_ends]);
    vi& of = vi_at(ends >> 16);
    if (of.state != abi::myvia::vi_connected || of.arriving_ends != ends ||
        of.key != network(words[header_key]))
        return;
    receive_data(of, words, kind);
}

// The oldest packet that has come.
inline void run_receive() {
    const uint32_t buffer = oldest_arrival();
    if (is_intact(buffer)) receive_packet(received_packets[buffer].words);
    finish_dma();  // it reads the buffer
    release_arrival();
}

}  // namespace vinic::bvia
