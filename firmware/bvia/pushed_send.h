// SPDX-License-Identifier: Apache-2.0

// Messages that the host has pushed into the card, descriptor and payload, so that nothing need be fetched
// (myvia_card.h). Where the short way is not to be had, the doorbell is an ordinary one: the slot stands in
// the ring too.
#pragma once

#include "firmware/bvia/send.h"

namespace vinic::bvia {

struct alignas(page_bytes) push_area {
    abi::myvia::pushed_message entries[abi::myvia::push_entries];
};
static_assert(sizeof(push_area) == abi::myvia::push_area_bytes);
inline push_area push_areas[max_processes];

// One segment, one packet, a plain send; what the library promises is not relied on.
inline bool is_pushable(const vi& of, const descriptor& slot) {
    const uint32_t most = least(of.limit, abi::myvia::push_bytes);
    return (slot.control_and_count & ~(abi::vi_control_immediate << 16)) == 1 && slot.reserved == 0 &&
           slot.length == slot.segments[0].length && slot.length - 1 < most;
}

// The next slot of a connected VI, and nobody is before it. False: nothing has been done.
[[gnu::noinline]] inline bool send_pushed(vi& of, const abi::myvia::pushed_message& from) {
    if (first_scheduled != nullptr || !can_fill()) return false;
    descriptor& slot = of.send_slot;
    hardware::barrier();
    slot = from.slot;
    decode(slot);
    if (!is_pushable(of, slot)) return false;
    of.outgoing = {.begun = 0, .offset = 0, .segment = 0, .segment_offset = 0};
    uint32_t* payload = sent_packet().body();
    const uint32_t words = (slot.length + 3) / 4;
    for (uint32_t i = 0; i != words; ++i) payload[i] = from.payload[i];
    write_header(of, slot, slot.length, true);
    ++of.next_sequence;
    launch(of, payload + words - 1);
    if (of.state == abi::myvia::vi_connected)
        complete(of, of.send, false, slot.length, operation_status(control_bits(slot)));
    return true;
}

}  // namespace vinic::bvia
