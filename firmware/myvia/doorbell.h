// SPDX-License-Identifier: Apache-2.0

// What a doorbell makes the card do, and the processes that ring. Where doorbells are found is a policy that
// the image is built with: pages of SRAM that the firmware polls (doorbell_pages.h), or the hardware's FIFO
// (doorbell_fifo.h). It has
//
//   look()            what the main loop loads: 0 when nothing has rung
//   take(what)        takes the doorbell that look() found
//   poll_others()     those that look() does not see
//   drain()           takes all that has rung
//   open(), list()    a process has opened; the set of open processes has changed
//   wake_bit          the bit of the ISR that doorbells set, which then says nothing else; 0: none
#pragma once

#include "firmware/myvia/send.h"

namespace vinic::myvia {

struct process {
    uint32_t index;
    uint32_t open;
    uint32_t taken;     // free running, counted by quarters of what may stand there
    uint32_t reported;  // the count that the host was told
    uint64_t host_page;
    volatile abi::myvia::doorbell* next;  // in its page, while another process opens or closes
    uint32_t left;                        // doorbells until a quarter has been taken from the FIFO
};
inline process processes[max_processes];
inline process* open_processes[max_processes];
inline uint32_t open_count;
inline constexpr uint32_t quarter = abi::myvia::doorbells_per_page / 4;

inline uint32_t credit_words[16];

inline void report_taken(process& of) {
    while (dma_entry* entry = credits.done()) credits.drop(*entry);
    if (credits.space() == 0) {
        work |= work_credits;
        return;
    }
    uint32_t& word = credit_words[credits.head % 16];
    word = network(of.taken);
    credits.post(of.host_page, &word, sizeof(word));
    of.reported = of.taken;
}

inline void report_all() {
    for (uint32_t i = 0; i != open_count; ++i)
        if (open_processes[i]->taken != open_processes[i]->reported) report_taken(*open_processes[i]);
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

[[gnu::noinline]] inline void send_doorbell(vi& of, uint32_t posted) {
    if (!note_posted(of, of.send, posted)) return;
    if (of.state != abi::myvia::vi_connected) return flush(of, flush_sends);
    // The usual case is that the card waits for this descriptor: fetched at once, without a turn for it.
    if (of.send.next == of.send.fetched) fetch_send_slots(of);
    if (of.send.fetching == 0) schedule(of);
}

// One descriptor for a connected VI that has none left to start, and it is on the card: the message starts.
// The effects are those of send_doorbell. False: it is not so, and nothing has been done.
[[gnu::always_inline]] inline bool express_token(vi& of, uint32_t posted) {
    work_queue& queue = of.send;
    const uint32_t slot = queue.posted;
    if (posted - 1 != slot || slot - queue.completed > of.ring_mask) return false;
    if (((queue.next ^ slot) | reinterpret_cast<uintptr_t>(scheduled_vis.head)) != 0) return false;
    queue.posted = queue.fetched = posted;
    if (!express_send(of) && !try_express_send(of)) schedule(of);
    return true;
}

// One descriptor for a connected VI that has none left to start: its slot is fetched. The effects are those
// of send_doorbell. False: it is not so, and nothing has been done.
[[gnu::always_inline]] inline bool express_doorbell(vi& of, uint32_t posted) {
    if constexpr (has_tokens) return express_token(of, posted);
    work_queue& queue = of.send;
    const uint32_t slot = queue.posted;
    if (posted - 1 != slot || slot - queue.completed > of.ring_mask) return false;
    if (((queue.next ^ slot) | queue.fetching) != 0) {
        if ((queue.fetching | of.scheduled) == 0) return false;
        queue.posted = posted;
        return true;
    }
    if (short_reads.full()) return false;
    const uint32_t low = slot_low(queue, slot, of.ring_mask);
    short_reads.post(join(queue.ring_high, low), &of.send_slot(slot), abi::myvia::slot_bytes,
                     then(action_send_slots, &of));
    queue.posted = posted;
    queue.fetching = queue.wanted = 1;
    return true;
}

// The same for a receive descriptor: it follows one that is on the card, and there is room for it.
[[gnu::always_inline]] inline bool express_receive_doorbell(vi& of, uint32_t posted) {
    work_queue& queue = of.receive;
    const uint32_t slot = queue.posted;
    if ((((posted - 1) ^ slot) | (queue.fetched ^ slot) | queue.fetching) != 0) return false;
    if (slot - queue.completed > of.ring_mask || slot - queue.next > of.cache_mask / 2) return false;
    if constexpr (has_tokens) {
        queue.posted = queue.fetched = posted;
        serve_payload();
        prepare_target(of, of.receive_slot(slot), of.target(slot));
        return true;
    }
    if (short_reads.full()) return false;
    const uint32_t low = slot_low(queue, slot, of.ring_mask);
    short_reads.post(join(queue.ring_high, low), &of.receive_slot(slot), abi::myvia::slot_bytes,
                     then(action_receive_slots, &of));
    queue.posted = posted;
    queue.fetching = queue.wanted = 1;
    return true;
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

[[gnu::noinline]] inline void arm_queue(uint32_t index, uint32_t seen, uint32_t by) {
    if (index >= max_completion_queues) return;
    completion_queue& queue = completion_queues[index];
    if (queue.entries == 0 || queue.process != by) return;
    queue.armed = queue.produced == seen;
    if (!queue.armed) post_event(abi::myvia::event_completion_queue, index, 0, 0);
}

// Doorbells of a VI in use that are none of the short ways.
[[gnu::always_inline]] inline void operate(vi& of, uint32_t operation, uint32_t data) {
    using namespace abi::myvia;
    if (operation == doorbell_receive) return receive_doorbell(of, data);
    if (operation == doorbell_send) return send_doorbell(of, data);
    if (operation == doorbell_arm_send) return arm(of, of.send, event_completion_send, data);
    if (operation == doorbell_arm_receive) return arm(of, of.receive, event_completion_receive, data);
}

}  // namespace vinic::myvia
