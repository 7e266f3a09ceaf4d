// SPDX-License-Identifier: Apache-2.0

// Doorbells in SRAM: a page for each open process, polled in turn. A page is a ring that its process fills.
#pragma once

#include "firmware/myvia/pushed_send.h"

namespace vinic::myvia {

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
alignas(abi::myvia::doorbell_page_bytes) inline doorbell_page doorbell_page_of[max_processes];

// A quarter of the page has been taken; the page may be over.
[[gnu::noinline]] inline void quarter_taken(uint32_t number) {
    process& of = *open_processes[number];
    of.taken += quarter;
    if (of.taken % abi::myvia::doorbells_per_page == 0) bells[number].next = doorbell_page_of[of.index].ring;
    report_taken(of);
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
    handle_operation(vi_at(index), by, operation, data);
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

struct doorbell_pages {
    static constexpr uint32_t wake_bit = 0;
    using place = const volatile abi::myvia::doorbell*;

    static void initialise() {}
    static void publish() { card_interface.doorbell_pages = hardware::sram_address(doorbell_page_of); }

    static place next() { return bells[0].next; }
    [[gnu::always_inline]] static uint32_t look(place at) { return at->what; }
    [[gnu::always_inline]] static void take(uint32_t what) { take_doorbell(0, what); }

    // At most one of each process.
    static void poll_others() {
        for (uint32_t number = 1; number < open_count; ++number) poll_doorbell(number);
    }

    static void drain() {
        for (uint32_t number = 0; number < open_count; ++number)
            for (uint32_t i = 0; i != abi::myvia::doorbells_per_page && poll_doorbell(number); ++i) {
            }
    }

    static void open(process& opened) {
        opened.next = doorbell_page_of[opened.index].ring;
        for (volatile abi::myvia::doorbell& entry : doorbell_page_of[opened.index].ring) entry.what = 0;
    }

    static void list() {
        for (uint32_t i = 0; i != open_count; ++i) open_processes[i]->next = bells[i].next;
        open_count = 0;
        bells[0] = {&silent_doorbell, no_process};
        for (process& one : processes) {
            if (!one.open) continue;
            open_processes[open_count] = &one;
            bells[open_count++] = {one.next, one.index};
        }
        work = (work & ~work_bells) | (open_count > 1 ? work_bells : 0u);
    }
};

}  // namespace vinic::myvia
