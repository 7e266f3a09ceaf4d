// SPDX-License-Identifier: Apache-2.0

// Where received payload goes: into the segments of a receive descriptor, or to the address that an RDMA
// write names, page by page, straight from the packet buffer.
#pragma once

#include "firmware/myvia/reliability.h"

namespace vinic::myvia {

// Blocks that stay free for completions while payload is posted.
inline constexpr uint32_t reserved_blocks = 2 * completion_blocks;

inline segment_window receive_window;  // of the packet at the head of the queue

// Posts the write of the next `bytes` at most; the packet's last block releases its buffer.
inline uint32_t place_bytes(const region& where, uint64_t address, uint32_t bytes, packet& from,
                            uint32_t body_word, uint32_t& placed) {
    placed = least(bytes, page_bytes - low_word(address) % page_bytes);
    if (writes.space() <= reserved_blocks) {
        work |= work_receive;
        return step_blocked;
    }
    uint64_t physical;
    const uint32_t step = translate(where, address, physical);
    if (step != step_done) return step;
    const bool last = placed == from.remaining;
    const uint32_t body = hardware::sram_address(from.body() + body_word);
    writes.start(*writes.next, physical, body + from.length - from.remaining, placed,
                 last ? then(action_placed, &from) : uintptr_t{action_none}, last);
    from.remaining -= placed;
    return step_done;
}

inline uint32_t place_in_segments(vi& of, descriptor& to, packet& from) {
    receive_message& message = of.receiving;
    segment current;
    while (from.remaining != 0) {
        if (message.segment >= segment_count(to)) return abi::vi_status_length_error;
        uint32_t step = find_segment(of, to, receive_window, message.segment, current);
        if (step != step_done) return step;
        if (current.length <= message.segment_offset) {
            ++message.segment;
            message.segment_offset = 0;
            continue;
        }
        const uint64_t address = current.address + message.segment_offset;
        const uint32_t bytes = least(current.length - message.segment_offset, from.remaining);
        const region* where = find_region(current.handle, of.tag);
        if (where == nullptr || !contains(*where, address, bytes)) return abi::vi_status_protection_error;
        uint32_t placed = 0;
        step = place_bytes(*where, address, bytes, from, 0, placed);
        if (step != step_done) return step;
        message.segment_offset += placed;
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
        const uint32_t step = place_bytes(*where, address, from.remaining, from, rdma_words, placed);
        if (step != step_done) return step;
    }
    return step_done;
}

}  // namespace vinic::myvia
