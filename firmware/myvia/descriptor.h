// SPDX-License-Identifier: Apache-2.0

// Descriptors: fetching slots of a ring, several at once, and reading their segments.
#pragma once

#include "firmware/myvia/vi.h"

namespace vinic::myvia {

// Fetches what is posted, as far as it is contiguous in the ring and in the cache and the cache has room.
inline void fetch_slots(vi& of, work_queue& queue, descriptor* slots, dma_action action) {
    if (queue.fetching != 0 || short_reads.space() == 0) return;
    const uint32_t in_cache = queue.fetched - queue.next;
    uint32_t count = queue.posted - queue.fetched;
    if (in_cache > of.cache_mask) return;
    const uint32_t cache_slot = queue.fetched & of.cache_mask;
    const uint32_t slots_in_cache = of.cache_mask + 1;
    if (count > 1) count = least(least(count, slots_in_cache - in_cache), slots_in_cache - cache_slot);
    if (count == 0) return;
    queue.fetching = count;
    short_reads.post(slot_address(queue, queue.fetched, of.ring_mask), &slots[cache_slot],
                     count * abi::myvia::slot_bytes, true, action, reinterpret_cast<uintptr_t>(&of));
}

inline void fetch_send_slots(vi& of) { fetch_slots(of, of.send, send_slots[of.index], action_send_slots); }
inline void fetch_receive_slots(vi& of) {
    fetch_slots(of, of.receive, receive_slots[of.index], action_receive_slots);
}

inline void decode_segment(const uint32_t* raw, segment& to) {
    const uint32_t low = program(raw[0]), high = program(raw[1]);
    to.address = join(high, low);
    to.handle = program(raw[2]);
    to.length = program(raw[3]);
}

inline uint32_t segment_count(const descriptor& of) { return of.segments_and_control & 0xFFFF; }
inline uint32_t control_bits(const descriptor& of) { return of.segments_and_control >> 16; }

// In place. Only what the number of segments makes necessary: a swap costs eleven instructions (facts A11).
inline void decode(descriptor& slot) {
    const uint32_t* raw = reinterpret_cast<const uint32_t*>(&slot);
    slot.segments_and_control = program(slot.segments_and_control);
    slot.length = program(slot.length);
    const uint32_t count = segment_count(slot);
    if (count == 0) return;
    decode_segment(raw + 8, slot.segments[0]);
    if (count == 1) return;
    decode_segment(raw + 12, slot.segments[1]);
    if (count == 2) return;
    const uint32_t low = program(raw[0]), high = program(raw[1]);
    slot.next = join(high, low);
    slot.next_handle = program(slot.next_handle);
}

// The slots that were fetched last have arrived. How many there are to look at.
inline uint32_t slots_arrived(work_queue& queue) {
    const uint32_t count = queue.discard ? 0 : queue.fetching;
    queue.fetching = queue.discard = 0;
    queue.fetched += count;
    return count;
}

// Finds out where the segment of a usual receive descriptor lies; this also warms the cache of translations.
inline void prepare_target(const vi& of, const descriptor& slot, receive_target& target) {
    target.bytes = 0;
    if (slot.segments_and_control != 1 || slot.reserved != 0 || slot.segments[0].length == 0) return;
    const segment& only = slot.segments[0];
    const region* where = find_region(only.handle, of.tag);
    if (where == nullptr || !contains(*where, only.address, only.length)) return;
    if (translate(*where, only.address, target.physical) != step_done) return;
    target.bytes = least(only.length, page_bytes - low_word(only.address) % page_bytes);
    target.generation = registrations;
}

// Nobody waits for receive descriptors, as a rule: all that can be done before a message comes is done now.
inline void receive_slots_arrived(vi& of) {
    work_queue& queue = of.receive;
    const uint32_t count = slots_arrived(queue);
    for (uint32_t i = queue.fetched - count; i != queue.fetched; ++i) {
        descriptor& slot = receive_slots[of.index][i & of.cache_mask];
        decode(slot);
        prepare_target(of, slot, receive_targets[of.index][i & of.cache_mask]);
    }
}

// Segment `index` of a descriptor. Segments beyond the slot's are behind the 64th byte of the program's
// descriptor (vipl.md 2), whose handle must be as good as that of any buffer.
inline uint32_t find_segment(const vi& of, descriptor& from, segment_window& window, uint32_t index,
                             segment& found) {
    if (index < abi::myvia::slot_segments) {
        found = from.segments[index];
        return step_done;
    }
    if (index - window.first < window.count) {
        decode_segment(window.raw[index - window.first], found);
        return step_done;
    }
    if (window.fetching != 0 || short_reads.space() == 0) return step_blocked;
    const uint64_t address = from.next + sizeof(abi::vi_control_segment) + index * 16;
    if (address % 16 != 0) return abi::vi_status_format_error;
    const uint32_t in_page = (page_bytes - low_word(address) % page_bytes) / 16;
    const uint32_t count = least(least(8, segment_count(from) - index), in_page);
    const region* where = find_region(from.next_handle, of.tag);
    if (where == nullptr || !contains(*where, address, count * 16)) return abi::vi_status_protection_error;
    uint64_t physical;
    if (translate(*where, address, physical) != step_done) return step_blocked;
    window.first = index;
    window.count = 0;
    window.fetching = count;
    short_reads.post(physical, window.raw, count * 16, true, action_segments,
                     reinterpret_cast<uintptr_t>(&window));
    return step_blocked;
}

inline void segments_arrived(segment_window& window) {
    window.count = window.stale ? 0 : window.fetching;
    window.fetching = window.stale = 0;
}

}  // namespace vinic::myvia
