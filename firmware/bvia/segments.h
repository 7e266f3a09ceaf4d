// SPDX-License-Identifier: Apache-2.0

// Segments of a descriptor: two stand in the slot, those beyond are fetched from the program's descriptor one
// by one (vipl.md 2), whose memory must be as good as that of any buffer.
#pragma once

#include "firmware/bvia/completion.h"

namespace vinic::bvia {

alignas(8) inline uint32_t fetched_segment[4];

// Status bits, or 0.
[[gnu::noinline]] inline uint32_t fetch_segment(const vi& of, const descriptor& from, uint32_t index,
                                                segment& found) {
    const uint64_t address = from.next + sizeof(abi::vi_control_segment) + index * sizeof(fetched_segment);
    if (address % sizeof(fetched_segment) != 0) return abi::vi_status_format_error;
    const region* where = find_region(from.next_handle, of.tag);
    if (where == nullptr || !contains(*where, address, sizeof(fetched_segment)))
        return abi::vi_status_protection_error;
    read_host(translate(*where, address), fetched_segment, sizeof(fetched_segment));
    decode_segment(fetched_segment, found);
    return 0;
}

[[gnu::always_inline]] inline uint32_t find_segment(const vi& of, const descriptor& from, uint32_t index,
                                                    segment& found) {
    if (index >= abi::myvia::slot_segments) return fetch_segment(of, from, index, found);
    found = from.segments[index];
    return 0;
}

// A place in the segments of a descriptor.
struct cursor {
    uint32_t& segment;
    uint32_t& offset;
};

// Moves `bytes` between the card and the segments from `at` on, page by page; the last transfer may still run
// at the end. Status bits, or 0.
[[gnu::always_inline]] inline uint32_t move_bytes(const vi& of, const descriptor& slot, cursor at,
                                                  uint32_t* local, uint32_t bytes, dma_direction direction) {
    char* card = reinterpret_cast<char*>(local);
    segment current;
    while (bytes != 0) {
        if (at.segment >= segment_count(slot)) return abi::vi_status_length_error;
        const uint32_t wrong = find_segment(of, slot, at.segment, current);
        if (wrong != 0) return wrong;
        if (current.length <= at.offset) {
            ++at.segment;
            at.offset = 0;
            continue;
        }
        const uint64_t address = current.address + at.offset;
        const uint32_t piece =
            least(least(current.length - at.offset, bytes), page_bytes - low_word(address) % page_bytes);
        const region* where = find_region(current.handle, of.tag);
        if (where == nullptr || !contains(*where, address, piece)) return abi::vi_status_protection_error;
        start_dma(translate(*where, address), card, piece, direction);
        card += piece;
        bytes -= piece;
        at.offset += piece;
    }
    return 0;
}

}  // namespace vinic::bvia
