// SPDX-License-Identifier: Apache-2.0

// Doorbells: words in the page of each VI and completion queue in use, looked at one page after the other, so
// that a doorbell waits the longer the more there are.
#pragma once

#include "firmware/bvia/send.h"

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

inline void receive_rung(vi& of, uint32_t word) {
    if (count_posted(of, of.receive, word) && of.state == abi::myvia::vi_error)
        flush_queue(of, of.receive, true);
}

// The word of the page, if it has changed.
inline bool changed(bell& at, uint32_t which, uint32_t& word) {
    word = at.words[which];
    if (word == at.seen[which]) return false;
    at.seen[which] = word;
    return true;
}

[[gnu::noinline]] inline void take_doorbells(bell& at) {
    using namespace abi::myvia;
    uint32_t word;
    if (at.index >= max_vis) {
        if (changed(at, 0, word)) arm_queue(at.index - max_vis, word);
        return;
    }
    vi& of = vi_at(at.index);
    if (changed(at, 0, word)) send_rung(of, word);
    if (changed(at, 1, word)) receive_rung(of, word);
    if (changed(at, 2, word)) arm(of, of.send, event_completion_send, word);
    if (changed(at, 3, word)) arm(of, of.receive, event_completion_receive, word);
}
static_assert(abi::myvia::doorbell_receive == abi::myvia::doorbell_send + 1 &&
              abi::myvia::doorbell_arm_send == abi::myvia::doorbell_send + 2 &&
              abi::myvia::doorbell_arm_receive == abi::myvia::doorbell_send + 3);

inline void take_posted(vi& of) {
    uint32_t word;
    if (changed(of.doorbells, 1, word)) receive_rung(of, word);
}

// What was rung before a command counts before it.
inline void drain_doorbells() {
    if (next_bell == &silent_bell) return;
    const bell* first = next_bell;
    bell* at = next_bell;
    do {
        take_doorbells(*at);
        at = at->next;
    } while (at != first);
}

}  // namespace vinic::bvia
