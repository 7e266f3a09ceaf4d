// SPDX-License-Identifier: Apache-2.0

// Doorbells: a page of SRAM for each open process, polled in turn.
#pragma once

#include "firmware/myvia/send.h"

namespace vinic::myvia {

struct process {
    uint32_t index;
    uint32_t open;
    uint32_t taken;     // free running, counted by quarters of the page
    uint32_t reported;  // the count that the host was told
    uint64_t host_page;
    volatile abi::myvia::doorbell* next;  // while another process opens or closes
};
inline process processes[max_processes];
inline process* open_processes[max_processes];
inline uint32_t open_count;

// Where the next doorbell of each open process will ring. One process is the usual case; when none is open,
// the first place holds a doorbell that never rings.
struct bell {
    volatile abi::myvia::doorbell* next;
    uint32_t process;
};
inline bell bells[max_processes];
inline volatile abi::myvia::doorbell silent_doorbell;

struct doorbell_page {
    volatile abi::myvia::doorbell ring[abi::myvia::doorbells_per_page];
};
alignas(abi::myvia::doorbell_page_bytes) inline doorbell_page doorbell_pages[max_processes];

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

inline constexpr uint32_t quarter = abi::myvia::doorbells_per_page / 4;

// A quarter of the page has been taken; the page may be over.
[[gnu::noinline]] inline void quarter_taken(uint32_t number) {
    process& of = *open_processes[number];
    of.taken += quarter;
    if (of.taken % abi::myvia::doorbells_per_page == 0) bells[number].next = doorbell_pages[of.index].ring;
    report_taken(of);
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

// One descriptor for a connected VI that has none left to start: its slot is fetched. The effects are those
// of send_doorbell. False: it is not so, and nothing has been done.
[[gnu::always_inline]] inline bool express_doorbell(vi& of, uint32_t posted) {
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

// A process may ring for its own VIs and queues only; anything else has no effect.
[[gnu::noinline]] inline void handle_doorbell(uint32_t by, uint32_t what, uint32_t data) {
    using namespace abi::myvia;
    const uint32_t receives = what ^ (doorbell_valid | doorbell_receive << 16);
    if (receives < max_vis && vi_at(receives).bell == by && express_receive_doorbell(vi_at(receives), data))
        return;
    const uint32_t operation = what >> 16 & 0x7FFF;
    const uint32_t index = what & 0xFFFF;
    if (operation == doorbell_arm_queue) return arm_queue(index, data, by);
    if (index >= max_vis || vi_at(index).process != by) return;
    vi& of = vi_at(index);
    if (operation == doorbell_receive) return receive_doorbell(of, data);
    if (operation == doorbell_send) return send_doorbell(of, data);
    if (operation == doorbell_arm_send) return arm(of, of.send, event_completion_send, data);
    if (operation == doorbell_arm_receive) return arm(of, of.receive, event_completion_receive, data);
}

[[gnu::always_inline]] inline void take_doorbell(uint32_t number, uint32_t what) {
    using namespace abi::myvia;
    volatile doorbell* entry = bells[number].next;
    const uint32_t by = bells[number].process;
    const uint32_t data = entry->data;
    entry->what = 0;
    ++entry;
    bells[number].next = entry;
    const uint32_t sends = what ^ (doorbell_valid | doorbell_send << 16);
    if (sends < max_vis && vi_at(sends).bell == by && express_doorbell(vi_at(sends), data)) [[likely]] {
    } else {
        handle_doorbell(by, what, data);
    }
    if (reinterpret_cast<uintptr_t>(entry) % (quarter * sizeof(doorbell)) == 0) quarter_taken(number);
}

// One doorbell of a process. False: it has not rung.
[[gnu::noinline]] inline bool poll_doorbell(uint32_t number) {
    const uint32_t what = bells[number].next->what;
    if (what != 0) take_doorbell(number, what);
    return what != 0;
}

// At most one of each process.
inline void poll_other_doorbells() {
    for (uint32_t number = 1; number < open_count; ++number) poll_doorbell(number);
}

// What was rung before a command counts before it.
inline void drain_doorbells() {
    for (uint32_t number = 0; number < open_count; ++number)
        for (uint32_t i = 0; i != abi::myvia::doorbells_per_page && poll_doorbell(number); ++i) {
        }
}

}  // namespace vinic::myvia
