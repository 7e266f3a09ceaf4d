// SPDX-License-Identifier: Apache-2.0

// Messages that the host has pushed into the card, descriptor and payload, so that nothing need be fetched
// (myvia_card.h). Their effects are those of the usual send in express_send.h; where that is not to be had,
// the doorbell is an ordinary one: the slot stands in the ring too.
#pragma once

#include "firmware/myvia/doorbell.h"

namespace vinic::myvia {

struct alignas(page_bytes) push_area {
    abi::myvia::pushed_message entries[abi::myvia::push_entries];
};
static_assert(sizeof(push_area) == abi::myvia::push_area_bytes);
inline push_area push_areas[max_processes];

// Whole words: the body of a packet has room for them.
[[gnu::always_inline]] inline void copy_payload(packet& to, const uint32_t* from, uint32_t bytes) {
    uint32_t* into = to.body();
    uint32_t words = (bytes + 3) / 4;
    for (; words >= 4; words -= 4, from += 4, into += 4) {
        const uint32_t a = from[0], b = from[1], c = from[2], d = from[3];
        into[0] = a;
        into[1] = b;
        into[2] = c;
        into[3] = d;
    }
    for (; words != 0; --words) *into++ = *from++;
}

// The next descriptor of a connected VI of that process, of which nothing else is under way to the wire.
[[gnu::noinline]] inline void pushed_doorbell(vi& of, uint32_t by, uint32_t entry, uint32_t posted) {
    work_queue& queue = of.send;
    const uint32_t slot = queue.posted;
    const abi::myvia::pushed_message& pushed = *opaque(&push_areas[by].entries[entry]);
    hardware::barrier();
    const uint32_t control_and_count = network(pushed.slot.control_and_count);
    const uint32_t length = network(pushed.slot.length);
    const uint32_t unusual = ((control_and_count & ~immediate_bit) ^ 1) | pushed.slot.reserved |
                             (length ^ network(pushed.slot.segments[0].length)) | ((posted - 1) ^ slot) |
                             (queue.next ^ slot) | queue.fetching | of.obstacles | of.scheduled |
                             (of.bell ^ by);
    packet* made = free_packets[pool_send].head;
    if (unusual != 0 || made == nullptr || slot - queue.completed > of.ring_mask ||
        length - 1 >= least(of.packet_limit, abi::myvia::push_bytes))
        return send_doorbell(of, posted);
    descriptor& from = of.send_slot(slot);
    from.control_and_count = control_and_count;
    from.immediate = network(pushed.slot.immediate);
    queue.posted = queue.fetched = posted;
    copy_payload(*made, pushed.payload, length);
    free_packets[pool_send].head = made->link;
    express_packet(of, from, *made, length);
    note_sent(of, *made, true);
    end_message(of);
    pump_wire();
}

// A doorbell of a VI in use that is none of the short ways.
[[gnu::always_inline]] inline void handle_operation(vi& of, uint32_t by, uint32_t operation, uint32_t data) {
    const uint32_t entry = operation - abi::myvia::doorbell_send_pushed;
    if (entry < abi::myvia::push_entries) return pushed_doorbell(of, by, entry, data);
    operate(of, operation, data);
}

}  // namespace vinic::myvia
