// SPDX-License-Identifier: Apache-2.0

// Doorbells: a page of SRAM for each open process, polled in turn.
#pragma once

#include "firmware/myvia/send.h"

namespace vinic::myvia {

struct process {
    volatile abi::myvia::doorbell* next;
    uint32_t index;
    uint32_t open;
    uint32_t taken;     // free running
    uint32_t reported;  // the count that the host was told
    uint64_t host_page;
};
inline process processes[max_processes];
inline process* open_processes[max_processes];
inline uint32_t open_count;

struct doorbell_page {
    volatile abi::myvia::doorbell ring[abi::myvia::doorbells_per_page];
};
alignas(abi::myvia::doorbell_page_bytes) inline doorbell_page doorbell_pages[max_processes];

inline uint32_t credit_words[16];

inline void report_taken(process& of) {
    while (credits.done() != nullptr) {
    }
    if (credits.space() == 0) return;
    uint32_t& word = credit_words[credits.head % 16];
    word = network(of.taken);
    credits.post(of.host_page, &word, sizeof(word));
    of.reported = of.taken;
}

inline void vi_overrun(vi& of) {
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

inline void send_doorbell(vi& of, uint32_t posted) {
    if (!note_posted(of, of.send, posted)) return;
    if (of.state != abi::myvia::vi_connected) return flush(of, flush_sends);
    // The usual case is that the card waits for this descriptor: fetched at once, without a turn for it.
    if (of.send.next == of.send.fetched) fetch_send_slots(of);
    if (of.send.fetching == 0) schedule(of);
}

inline void receive_doorbell(vi& of, uint32_t posted) {
    if (!note_posted(of, of.receive, posted)) return;
    if (of.state == abi::myvia::vi_error) return flush(of, flush_receives);
    if (of.receive.fetched - of.receive.next <= cached_slots / 2) fetch_receive_slots(of);
}

inline void arm(vi& of, work_queue& queue, uint32_t kind, uint32_t seen) {
    queue.armed = queue.completed == seen;
    if (!queue.armed) post_event(kind, of.index, 0, queue.completed - 1);
}

inline void arm_queue(uint32_t index, uint32_t seen, const process& by) {
    if (index >= max_completion_queues) return;
    completion_queue& queue = completion_queues[index];
    if (queue.entries == 0 || queue.process != by.index) return;
    queue.armed = queue.produced == seen;
    if (!queue.armed) post_event(abi::myvia::event_completion_queue, index, 0, 0);
}

// A process may ring for its own VIs and queues only; anything else has no effect.
inline void handle_doorbell(const process& by, uint32_t what, uint32_t data) {
    using namespace abi::myvia;
    const uint32_t operation = what >> 16 & 0x7FFF;
    const uint32_t index = what & 0xFFFF;
    if (operation == doorbell_arm_queue) return arm_queue(index, data, by);
    if (index >= max_vis) return;
    vi& of = vis[index];
    if (of.state == vi_unused || of.process != by.index) return;
    if (operation == doorbell_send) return send_doorbell(of, data);
    if (operation == doorbell_receive) return receive_doorbell(of, data);
    if (operation == doorbell_arm_send) return arm(of, of.send, event_completion_send, data);
    if (operation == doorbell_arm_receive) return arm(of, of.receive, event_completion_receive, data);
}

inline void take_doorbell(process& from, uint32_t what) {
    volatile abi::myvia::doorbell* entry = from.next;
    const uint32_t data = entry->data;
    entry->what = 0;
    ++from.taken;
    from.next =
        from.taken % abi::myvia::doorbells_per_page != 0 ? entry + 1 : doorbell_pages[from.index].ring;
    handle_doorbell(from, what, data);
    if (from.taken - from.reported >= abi::myvia::doorbells_per_page / 4) report_taken(from);
}

// At most one of each process.
inline void poll_doorbells() {
    for (uint32_t i = 0; i != open_count; ++i) {
        process& from = *open_processes[i];
        const uint32_t what = from.next->what;
        if (what != 0) take_doorbell(from, what);
    }
}

}  // namespace vinic::myvia
