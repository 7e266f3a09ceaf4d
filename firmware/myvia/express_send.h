// SPDX-License-Identifier: Apache-2.0

// The usual send, with the fewest instructions between descriptor and payload: one packet from one segment in
// one page, without immediate data, of which everything is at hand. Its effects are those of the pipeline in
// send.h, to which all else is left.
#pragma once

#include "firmware/myvia/reliability.h"

namespace vinic::myvia {

// The last packet of the message is finished.
inline void end_message(vi& of) {
    work_queue& queue = of.send;
    ++queue.next;
    if (static_cast<int32_t>(queue.next - of.started) > 0) of.started = queue.next;
    if (queue.posted != queue.fetched && queue.fetched - queue.next <= cached_slots / 2) fetch_send_slots(of);
}

[[gnu::noinline]] inline bool refill_source(vi& of, const uint32_t* raw, uint32_t length) {
    source_window& window = of.source;
    const region* where = find_region(program(raw[10]), of.tag);
    const uint64_t address = join(program(raw[9]), program(raw[8]));
    uint64_t physical;
    if (where == nullptr || !contains(*where, address, length) || raw[9] != where->program_address_high ||
        low_word(address) % page_bytes + length > page_bytes ||
        translate(*where, address, physical) != step_done)
        return false;
    const uint32_t before =
        least(low_word(address) % page_bytes, low_word(address) - low_word(where->address));
    const uint32_t region_left = where->length - (low_word(address) - low_word(where->address));
    const uint32_t behind = least(page_bytes - low_word(address) % page_bytes, region_left);
    window.program_handle = raw[10];
    window.program_address_high = raw[9];
    window.generation = registrations;
    window.low = low_word(address) - before;
    window.span = before + behind;
    window.physical_high = high_word(physical);
    window.physical_low = low_word(physical) - before;
    return true;
}

// Where the payload stands, or false. `raw` is the slot as it came: words in the program's byte order.
[[gnu::always_inline]] inline bool express_source(vi& of, const uint32_t* raw, uint32_t length,
                                                  uint64_t& physical) {
    const source_window& window = of.source;
    const uint32_t differs = (window.program_handle ^ raw[10]) | (window.program_address_high ^ raw[9]) |
                             (window.generation ^ registrations);
    uint32_t offset = program(raw[8]) - window.low;
    if (differs != 0 || length > window.span || offset > window.span - length) {
        if (!refill_source(of, raw, length)) return false;
        offset = program(raw[8]) - window.low;
    }
    physical = join(window.physical_high, window.physical_low + offset);
    return true;
}

[[gnu::always_inline]] inline void express_packet(vi& of, packet& made, uint32_t length) {
    uint32_t* header = made.words;
    header[header_type] = network(abi::packet_type_vi);
    header[header_kind_flags_length] =
        kind_word(abi::packet_send, abi::packet_first | abi::packet_last, length);
    header[header_ends] = network(of.ends);
    header[header_key] = network(of.key);
    header[header_sequence] = network(of.next_sequence++);
    header[header_acknowledge] = network(of.placed);
    header[header_offset] = 0;
    header[header_immediate] = 0;
    address_packet(made, of.route, of.route_first, of.route_skip, (length + 3) / 4);
    made.owner = &of;
    made.epoch = of.epoch;
    made.loopback = of.loopback;
    made.ready_at = payload_reads.head;
    wire_queue.push(&made);
}

// The next descriptor of this VI, which has no message under way. False: nothing has been done.
[[gnu::noinline]] inline bool express_send(vi& of) {
    work_queue& queue = of.send;
    packet* made = free_packets[pool_send].head;
    if (!of.express || of.sending.active || queue.next == queue.fetched || made == nullptr ||
        payload_reads.space() == 0 || queue.next - queue.completed >= send_records_per_vi)
        return false;
    const uint32_t* raw =
        reinterpret_cast<const uint32_t*>(opaque(&send_slots[of.index][queue.next & of.cache_mask]));
    if (raw[3] != program(1) || (raw[4] | (raw[6] ^ raw[11]) | program_high_half(raw[6])) != 0) return false;
    const uint32_t length = program_low_half(raw[6]);
    uint64_t physical;
    if (length - 1 >= least(of.limit, abi::packet_payload_max) || !express_source(of, raw, length, physical))
        return false;
    made->words[header_words + (length - 1) / 4] = 0;
    payload_reads.post(physical, made->body(), length);
    free_packets[pool_send].pop();
    *opaque(&record_of(of, queue.next)) = {raw[5], length, abi::vi_status_op_send, of.next_sequence};
    express_packet(of, *made, length);
    made->completes = 1;
    of.unacknowledged = of.next_sequence;
    end_message(of);
    return true;
}

}  // namespace vinic::myvia
