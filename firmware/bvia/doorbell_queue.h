// SPDX-License-Identifier: Apache-2.0

// Doorbells in a queue for each process, which all its VIs and completion queues share: a page of SRAM that
// the process fills (myvia_card.h). One place is looked at, whatever the number of VIs.
#pragma once

#include "firmware/bvia/doorbell.h"

namespace vinic::bvia {

struct process {
    process* behind;  // in the circle of those that are open
    volatile abi::myvia::doorbell* next;
    uint32_t index, open;
    uint32_t taken;  // free running
    uint32_t host_page;
};
inline process processes[max_processes];
inline process nobody;  // the only one in the circle when none is open
inline volatile abi::myvia::doorbell silent_doorbell;
inline process* next_process;  // whose queue is to be looked at

struct doorbell_page {
    volatile abi::myvia::doorbell ring[abi::myvia::doorbells_per_page];
};
alignas(abi::myvia::doorbell_page_bytes) inline doorbell_page doorbell_page_of[max_processes];

inline constexpr uint32_t quarter = abi::myvia::doorbells_per_page / 4;

// The process learns each quarter of the page how many of its doorbells have been taken.
inline void count_taken(process& of) {
    if (++of.taken % quarter != 0) return;
    if (of.taken % abi::myvia::doorbells_per_page == 0) of.next = doorbell_page_of[of.index].ring;
    uint32_t* words = next_completion_words();
    words[0] = network(of.taken);
    start_dma(of.host_page, words, sizeof(uint32_t), to_host);
}

// A process may ring for its own VIs and queues only; anything else has no effect.
inline void handle_doorbell(uint32_t by, uint32_t what, uint32_t data) {
    using namespace abi::myvia;
    const uint32_t operation = what >> 16 & 0x7FFF;
    const uint32_t index = what & 0xFFFF;
    if (operation == doorbell_arm_queue) {
        if (index < max_completion_queues && completion_queues[index].entries != 0 &&
            completion_queues[index].process == by)
            arm_queue(index, data);
        return;
    }
    if (index >= max_vis || vi_at(index).state == vi_unused || vi_at(index).process != by) return;
    vi& of = vi_at(index);
    if (operation == doorbell_send) return send_rung(of, data);
    if (operation == doorbell_receive) return receive_rung(of, data);
    if (operation == doorbell_arm_send) return arm(of, of.send, event_completion_send, data);
    if (operation == doorbell_arm_receive) return arm(of, of.receive, event_completion_receive, data);
    if (operation >= doorbell_send_pushed) return pushed_rung(of, operation - doorbell_send_pushed, data);
}

// The process's next doorbell, if it has rung.
[[gnu::noinline]] inline bool take_doorbell(process& of) {
    volatile abi::myvia::doorbell* entry = of.next;
    const uint32_t what = entry->what;
    if (what == 0) return false;
    const uint32_t data = entry->data;
    entry->what = 0;
    of.next = entry + 1;
    count_taken(of);
    handle_doorbell(of.index, what, data);
    return true;
}

inline void take_all(process& of) {
    for (uint32_t i = 0; i != abi::myvia::doorbells_per_page && take_doorbell(of); ++i) {
    }
}

inline void take_posted(vi& of) {
    if (of.process < max_processes && processes[of.process].open) take_all(processes[of.process]);
}

inline void list_processes() {
    process* first = nullptr;
    process* last = nullptr;
    for (process& one : processes) {
        if (!one.open) continue;
        if (first == nullptr)
            first = &one;
        else
            last->behind = &one;
        last = &one;
    }
    if (first == nullptr) {
        nobody.next = &silent_doorbell;
        first = last = &nobody;
    }
    last->behind = first;
    next_process = first;
}

struct doorbells {
    // Where the main loop looks next; when it has found something, `take` takes it.
    static process* next() { return next_process; }
    [[gnu::always_inline]] static uint32_t look(const process* at) { return at->next->what; }
    [[gnu::always_inline]] static process* behind(process* at) { return at->behind; }
    static void looked(process* then) { next_process = then; }
    static void take(process* at) { take_doorbell(*at); }

    // What was rung before a command counts before it.
    static void drain() {
        for (process& one : processes)
            if (one.open) take_all(one);
    }

    static void initialise() { list_processes(); }
    static void created(vi&) {}
    static void created(completion_queue&, uint32_t) {}
    static void destroyed() {}
    static void opened(uint32_t index, uint32_t host_page) {
        process& one = processes[index];
        one.index = index;
        one.next = doorbell_page_of[index].ring;
        one.taken = 0;
        one.host_page = host_page;
        for (volatile abi::myvia::doorbell& entry : doorbell_page_of[index].ring) entry.what = 0;
        one.open = 1;
        list_processes();
    }
    static void closed(uint32_t index) {
        processes[index].open = 0;
        list_processes();
    }
    static uint32_t published() { return hardware::sram_address(doorbell_page_of); }
};

}  // namespace vinic::bvia
