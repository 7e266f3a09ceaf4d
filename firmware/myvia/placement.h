// SPDX-License-Identifier: Apache-2.0

// Where received payload goes: into the segments of a receive descriptor, or to the address that an RDMA
// write names, page by page, straight from the packet buffer.
#pragma once

#include "firmware/myvia/reliability.h"

namespace vinic::myvia {

// Blocks that stay free for completions while payload is posted.
inline constexpr uint32_t reserved_blocks = 2 * completion_blocks;

inline segment_window receive_window;  // of the packet at the head of the queue

// A reliable connection that acknowledges what has been placed is told when the packet's buffer has been
// read.
[[gnu::always_inline]] inline uintptr_t when_placed(bool acknowledged, const packet& from) {
    return then(acknowledged ? action_placed : action_release, &from);
}

// Posts the write of the next `bytes` at most, to where the byte whose address has the low word `low` is; the
// packet's last block releases its buffer.
inline uint32_t place_bytes(const vi& of, const region& where, uint32_t low, uint32_t bytes, packet& from,
                            uint32_t body_word, uint32_t& placed) {
    placed = least(bytes, page_bytes - low % page_bytes);
    if (writes.space() <= reserved_blocks) {
        work |= work_receive;
        return step_blocked;
    }
    uint64_t physical;
    const uint32_t step = translate(where, low, physical);
    if (step != step_done) return step;
    const bool last = placed == from.remaining;
    const uint32_t body = hardware::sram_address(from.body() + body_word);
    const bool acknowledged = last && acknowledges_placement(of);
    writes.start(*writes.next, physical, body + from.length - from.remaining, placed,
                 last ? when_placed(acknowledged, from) : uintptr_t{action_none}, acknowledged);
    from.remaining -= placed;
    return step_done;
}

inline uint32_t place_in_segments(vi& of, descriptor& to, packet& from) {
    segment_cursor& at = of.receiving.at;
    while (from.remaining != 0) {
        uint32_t bytes, placed;
        uint32_t step =
            bytes_in_segment(of, to, receive_window, at, abi::vi_status_length_error, from.remaining, bytes);
        if (step != step_done) return step;
        step = place_bytes(of, *at.where, at.low, bytes, from, 0, placed);
        if (step != step_done) return step;
        at.advance(placed);
    }
    return step_done;
}

// The region must allow it, and so must the VI; nothing of a packet is written when a part of it may not be.
inline uint32_t place_remotely(vi& of, packet& from) {
    if (from.remaining == 0) return step_done;
    const uint64_t start =
        join(network(from.body()[0]), network(from.body()[1])) + network(from.words[header_offset]);
    const region* where = find_region(network(from.body()[2]), of.tag);
    if (where == nullptr || (where->rdma_enables & of.rdma_enables & 1) == 0 ||
        !contains(*where, start, from.length))
        return abi::vi_status_rdma_protection_error;
    while (from.remaining != 0) {
        uint32_t placed = 0;
        const uint64_t address = start + (from.length - from.remaining);
        const uint32_t step =
            place_bytes(of, *where, low_word(address), from.remaining, from, rdma_words, placed);
        if (step != step_done) return step;
    }
    return step_done;
}

}  // namespace vinic::myvia
