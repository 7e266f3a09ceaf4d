// SPDX-License-Identifier: Apache-2.0

// Descriptors: fetching slots of a ring, several at once, and reading their segments.
#pragma once

#include "firmware/myvia/vi.h"

namespace vinic::myvia {

// Fetches what is posted, as far as it is contiguous in the ring and in the cache and the cache has room.
[[gnu::noinline]] inline void fetch_slots(vi& of, work_queue& queue, descriptor* slots, dma_action action) {
    if (queue.fetching != 0 || short_reads.full()) return;
    const uint32_t in_cache = queue.fetched - queue.next;
    uint32_t count = queue.posted - queue.fetched;
    if (in_cache > of.cache_mask) return;
    const uint32_t slots_in_cache = of.cache_mask + 1;
    if (has_tokens) {  // they are here: as many are looked at
        queue.fetched += least(count, slots_in_cache - in_cache);
        return;
    }
    const uint32_t to_the_end = slots_in_cache - (queue.fetched & of.cache_mask);
    if (count > 1) count = least(least(count, slots_in_cache - in_cache), to_the_end);
    if (count == 0) return;
    queue.fetching = queue.wanted = count;
    short_reads.post(slot_address(queue, queue.fetched, of.ring_mask), &slots[queue.fetched % cached_slots],
                     count * abi::myvia::slot_bytes, then(action, &of));
}

inline void fetch_send_slots(vi& of) { fetch_slots(of, of.send, of.send_slots, action_send_slots); }
void prepare_targets(vi& of, uint32_t first);
inline void fetch_receive_slots(vi& of) {
    const uint32_t first = of.receive.fetched;
    fetch_slots(of, of.receive, of.receive_slots, action_receive_slots);
    if (has_tokens) prepare_targets(of, first);
}

// The slots that were fetched last have arrived, `wanted` of them to be looked at.
[[gnu::always_inline]] inline uint32_t slots_arrived(work_queue& queue, descriptor* slots) {
    const uint32_t count = queue.wanted;
    queue.fetching = 0;
    for (uint32_t i = 0; !card_is_big_endian && i != count; ++i)
        decode(slots[(queue.fetched + i) % cached_slots]);
    queue.fetched += count;
    return count;
}

inline constexpr uint32_t immediate_bit = abi::vi_control_immediate << 16;  // of control_and_count

// Finds out where the segment of a usual receive descriptor lies; this also warms the cache of translations.
[[gnu::noinline]] inline bool find_target(const vi& of, const descriptor& slot, receive_target& target) {
    const segment& only = slot.segments[0];
    if ((slot.control_and_count & ~immediate_bit) != 1 || slot.reserved != 0 || only.length == 0)
        return false;
    const region* where = find_region(only.handle, of.tag);
    if (where == nullptr || !contains(*where, only.address, only.length)) return false;
    uint64_t physical;
    if (translate(*where, low_word(only.address), physical) != step_done) return false;
    target.segment = only;
    target.physical_high = high_word(physical);
    target.physical_low = low_word(physical);
    target.generation = registrations;
    return true;
}

// A program that posts its buffers in turn brings each back to the same place: often nothing has changed.
[[gnu::always_inline]] inline void prepare_target(const vi& of, const descriptor& slot,
                                                  receive_target& target) {
    const segment &only = slot.segments[0], &known = target.segment;
    const uint32_t low = low_word(only.address);
    const uint32_t changed = ((slot.control_and_count & ~immediate_bit) ^ 1) | slot.reserved |
                             (known.handle ^ only.handle) | (known.length ^ only.length) |
                             (high_word(known.address) ^ high_word(only.address)) |
                             (low_word(known.address) ^ low) | (target.generation ^ registrations);
    if (changed == 0 || find_target(of, slot, target))
        target.bytes = least(only.length, page_bytes - low % page_bytes);
}

// Of the slots from number `first` on.
[[gnu::noinline]] inline void prepare_targets(vi& of, uint32_t first) {
    for (uint32_t i = first; i != of.receive.fetched; ++i)
        prepare_target(of, of.receive_slot(i), of.target(i));
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
    if (window.fetching != 0) return step_blocked;
    if (short_reads.full()) {
        work |= work_send | work_receive;
        return step_blocked;
    }
    const uint64_t address = from.next + sizeof(abi::vi_control_segment) + index * 16;
    if (address % 16 != 0) return abi::vi_status_format_error;
    const uint32_t in_page = (page_bytes - low_word(address) % page_bytes) / 16;
    const uint32_t count = least(least(8, segment_count(from) - index), in_page);
    const region* where = find_region(from.next_handle, of.tag);
    if (where == nullptr || !contains(*where, address, count * 16)) return abi::vi_status_protection_error;
    uint64_t physical;
    if (translate(*where, low_word(address), physical) != step_done) return step_blocked;
    window.first = index;
    window.count = 0;
    window.fetching = count;
    short_reads.post(physical, window.raw, count * 16, then(action_segments, &window));
    return step_blocked;
}

inline void segments_arrived(segment_window& window) {
    window.count = window.stale ? 0 : window.fetching;
    window.fetching = window.stale = 0;
}

// Looks up where the next byte of a message is. `beyond`: the status of a message that is longer than its
// segments.
[[gnu::noinline]] inline uint32_t open_segment(const vi& of, descriptor& from, segment_window& window,
                                               segment_cursor& at, uint32_t beyond) {
    segment current;
    while (true) {
        if (at.segment >= segment_count(from)) return beyond;
        const uint32_t step = find_segment(of, from, window, at.segment, current);
        if (step != step_done) return step;
        if (at.offset < current.length) break;
        at.move_to(at.segment + 1, 0);
    }
    const uint64_t address = current.address + at.offset;
    const region* where = find_region(current.handle, of.tag);
    if (where == nullptr || !contains(*where, address, 1)) return abi::vi_status_protection_error;
    at.where = where;
    at.generation = registrations;
    at.low = low_word(address);
    at.left = current.length - at.offset;
    return step_done;
}

// From the next byte to the end of its region. The segment may be longer.
inline uint32_t bytes_of_region(const segment_cursor& at) {
    return at.where->length - (at.low - low_word(at.where->address));
}

// The next of `wanted` bytes of a message: those that the cursor's segment has. They lie in its region.
[[gnu::always_inline]] inline uint32_t bytes_in_segment(const vi& of, descriptor& from,
                                                        segment_window& window, segment_cursor& at,
                                                        uint32_t beyond, uint32_t wanted, uint32_t& bytes) {
    if (!at.is_open()) {
        const uint32_t step = open_segment(of, from, window, at, beyond);
        if (step != step_done) return step;
    }
    bytes = least(at.left, wanted);
    return when(bytes > bytes_of_region(at), abi::vi_status_protection_error);
}

}  // namespace vinic::myvia
