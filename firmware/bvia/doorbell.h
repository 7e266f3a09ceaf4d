// SPDX-License-Identifier: Apache-2.0

// What a doorbell makes the card do. Where doorbells are found is the variant's: doorbell_pages.h,
// doorbell_queue.h.
#pragma once

#include "firmware/bvia/pushed_send.h"

namespace vinic::bvia {

// Adds what the word says: the count, modulo 2^16, of slots posted so far. A word that an earlier one of
// another thread overwrote for a moment counts backwards, and says nothing.
inline bool count_posted(vi& of, work_queue& queue, uint32_t word) {
    const auto fresh = static_cast<int16_t>(word - queue.posted);
    if (fresh <= 0) return false;
    if (queue.posted + static_cast<uint32_t>(fresh) - queue.completed <= of.ring_mask + 1) {
        queue.posted += static_cast<uint32_t>(fresh);
        return true;
    }
    post_event(abi::myvia::event_error, of.index, vip_error_vi_overrun, 0);
    if (of.state == abi::myvia::vi_connected) leave_connection(of, abi::myvia::vi_error);
    return false;
}

inline void arm(vi& of, work_queue& queue, uint32_t kind, uint32_t word) {
    queue.armed = static_cast<uint16_t>(word ^ queue.completed) == 0;
    if (!queue.armed) post_event(kind, of.index, 0, queue.completed - 1);
}

inline void arm_queue(uint32_t index, uint32_t word) {
    completion_queue& queue = completion_queues[index];
    queue.armed = static_cast<uint16_t>(word ^ queue.produced) == 0;
    if (!queue.armed) post_event(abi::myvia::event_completion_queue, index, 0, 0);
}

inline void send_rung(vi& of, uint32_t word) {
    if (!count_posted(of, of.send, word)) return;
    if (of.state == abi::myvia::vi_connected)
        schedule(of);
    else
        flush_queue(of, of.send, false);
}

// The same, and the message of the last slot stands in that entry of the VI's process.
[[gnu::noinline]] inline void pushed_rung(vi& of, uint32_t entry, uint32_t word) {
    const uint32_t before = of.send.posted;
    if (!count_posted(of, of.send, word)) return;
    if (of.state != abi::myvia::vi_connected) return flush_queue(of, of.send, false);
    const bool next = of.send.posted == before + 1 && before == of.send.completed;
    if (!next || entry >= abi::myvia::push_entries || !send_pushed(of, push_areas[of.process].entries[entry]))
        schedule(of);
}

inline void receive_rung(vi& of, uint32_t word) {
    if (!count_posted(of, of.receive, word)) return;
    if (of.state == abi::myvia::vi_error)
        flush_queue(of, of.receive, true);
    else
        fetch_receive_slot_early(of);
}

}  // namespace vinic::bvia
