// SPDX-License-Identifier: Apache-2.0

// Doorbells: a page of SRAM for each open process, polled in turn.
#pragma once

#include "firmware/myvia/send.h"

namespace vinic::myvia {

struct process {
    uint32_t index;
    uint32_t open;
    uint32_t taken;     // free running
    uint32_t reported;  // the count that the host was told
    uint64_t host_page;
};
inline process processes[max_processes];
inline process* open_processes[max_processes];
inline volatile abi::myvia::doorbell*
    next_doorbells[max_processes];  // of the open processes, in the same order
inline uint32_t open_count;

struct doorbell_page {
    volatile abi::myvia::doorbell ring[abi::myvia::doorbells_per_page];
};
alignas(abi::myvia::doorbell_page_bytes) inline doorbell_page doorbell_pages[max_processes];

inline uint32_t credit_words[16];

[[gnu::noinline]] inline void report_taken(process& of) {
    while (credits.done() != nullptr) {
    }
    if (credits.space() == 0) return;
    uint32_t& word = credit_words[credits.head % 16];
    word = network(of.taken);
    credits.post(of.host_page, &word, sizeof(word));
    of.reported = of.taken;
}

[[gnu::noinline]] inline void vi_overrun(vi& of) {
    post_event(abi::myvia::event_error, of.index, vip_error_vi_overrun, 0);
    if (of.state == abi::myvia::vi_connected) enter_error(of);
}

inline bool note_posted(vi& of, work_queue& queue, uint32_t posted) {
    if (static_cast<int32_t>(posted - queue.posted) < 0 || posted - queue.completed > of.ring_mask + 1) {
        vi_overrun(of);
        return false;
    }
    queue.posted = posted;
    return true;
}

[[gnu::always_inline]] inline void send_doorbell(vi& of, uint32_t posted) {
    if (!note_posted(of, of.send, posted)) return;
    if (of.state != abi::myvia::vi_connected) return flush(of, flush_sends);
    // The usual case is that the card waits for this descriptor: fetched at once, without a turn for it.
    if (of.send.next == of.send.fetched) fetch_send_slots(of);
    if (of.send.fetching == 0) schedule(of);
}

[[gnu::noinline]] inline void receive_doorbell(vi& of, uint32_t posted) {
    if (!note_posted(of, of.receive, posted)) return;
    if (of.state == abi::myvia::vi_error) return flush(of, flush_receives);
    if (of.receive.fetched - of.receive.next <= cached_slots / 2) fetch_receive_slots(of);
}

[[gnu::noinline]] inline void arm(vi& of, work_queue& queue, uint32_t kind, uint32_t seen) {
    queue.armed = queue.completed == seen;
    if (!queue.armed) post_event(kind, of.index, 0, queue.completed - 1);
}

[[gnu::noinline]] inline void arm_queue(uint32_t index, uint32_t seen, const process& by) {
    if (index >= max_completion_queues) return;
    completion_queue& queue = completion_queues[index];
    if (queue.entries == 0 || queue.process != by.index) return;
    queue.armed = queue.produced == seen;
    if (!queue.armed) post_event(abi::myvia::event_completion_queue, index, 0, 0);
}

[[gnu::noinline]] inline void rare_doorbell(const process& by, uint32_t operation, uint32_t index,
                                            uint32_t data) {
    using namespace abi::myvia;
    if (operation == doorbell_arm_queue) return arm_queue(index, data, by);
    if (index >= max_vis || vi_at(index).process != by.index) return;
    vi& of = vi_at(index);
    if (operation == doorbell_arm_send) return arm(of, of.send, event_completion_send, data);
    if (operation == doorbell_arm_receive) return arm(of, of.receive, event_completion_receive, data);
}

// A process may ring for its own VIs and queues only; anything else has no effect.
[[gnu::always_inline]] inline void handle_doorbell(const process& by, uint32_t what, uint32_t data) {
    using namespace abi::myvia;
    const uint32_t operation = what >> 16;
    const uint32_t index = what & 0xFFFF;
    if (index < max_vis) {
        vi& of = vi_at(index);
        if (of.process == by.index) {
            if (operation == (doorbell_valid >> 16 | doorbell_send)) return send_doorbell(of, data);
            if (operation == (doorbell_valid >> 16 | doorbell_receive)) return receive_doorbell(of, data);
        }
    }
    rare_doorbell(by, operation & 0x7FFF, index, data);
}

[[gnu::noinline]] inline void take_doorbell(uint32_t number, uint32_t what) {
    process& from = *open_processes[number];
    volatile abi::myvia::doorbell* entry = next_doorbells[number];
    const uint32_t data = entry->data;
    entry->what = 0;
    ++from.taken;
    const bool wraps = from.taken % abi::myvia::doorbells_per_page == 0;
    next_doorbells[number] = wraps ? doorbell_pages[from.index].ring : entry + 1;
    handle_doorbell(from, what, data);
    if (from.taken - from.reported >= abi::myvia::doorbells_per_page / 4) report_taken(from);
}

// At most one of each process. One process is the usual case; when none is open, the first place holds a
// doorbell that never rings.
inline volatile abi::myvia::doorbell silent_doorbell;

[[gnu::noinline]] inline void poll_other_doorbells() {
    for (uint32_t number = 1; number != open_count; ++number) {
        const uint32_t what = next_doorbells[number]->what;
        if (what != 0) take_doorbell(number, what);
    }
}

[[gnu::always_inline]] inline void poll_doorbells() {
    const uint32_t what = next_doorbells[0]->what;
    if (what != 0) take_doorbell(0, what);
    if (open_count > 1) poll_other_doorbells();
}

}  // namespace vinic::myvia
