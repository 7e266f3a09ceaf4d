// SPDX-License-Identifier: Apache-2.0

// Doorbells in a page of SRAM for each VI and completion queue, mapped into the process that it belongs to
// (myvia_card.h, doorbells_in_vi_pages). One page is looked at after the other, so a doorbell waits the
// longer the more there are.
#pragma once

#include "firmware/bvia/doorbell.h"

namespace vinic::bvia {

inline constexpr uint32_t doorbell_pages_max = max_vis + max_completion_queues;
inline constexpr uint32_t words_per_page = abi::myvia::doorbell_page_bytes / 4;
static_assert(doorbell_pages_max * abi::myvia::doorbell_page_bytes <= abi::myvia::doorbell_pages_alignment);
// In a section of its own: the compiler puts all other variables into one, which would get this alignment.
alignas(abi::myvia::doorbell_pages_alignment) [[gnu::section(".bss.doorbell_pages")]] inline volatile uint32_t
    doorbell_pages[doorbell_pages_max][words_per_page];

// --- Doorbell pages in use

inline const volatile uint32_t silent_words[rings] = {};
inline bell silent_bell;  // the only one, when nothing is in use
inline bell* next_bell;   // to be looked at

// `first`: the word of the page that is looked at first.
inline void clear_bell(bell& of, uint32_t page, uint32_t first) {
    for (volatile uint32_t& word : doorbell_pages[page]) word = 0;
    for (uint32_t& word : of.seen) word = 0;
    of.words = &doorbell_pages[page][first];
    of.index = page;
}

// Closes the circle of all that are in use.
inline void list_bells() {
    bell* first = nullptr;
    bell* last = nullptr;
    const auto add = [&](bell& one) {
        if (first == nullptr)
            first = &one;
        else
            last->next = &one;
        last = &one;
    };
    for (vi& one : vis)
        if (one.state != abi::myvia::vi_unused) add(one.doorbells);
    for (completion_queue& one : completion_queues)
        if (one.entries != 0) add(one.doorbells);
    if (first == nullptr) {
        silent_bell.words = silent_words;
        add(silent_bell);
    }
    last->next = first;
    next_bell = first;
}

// The word of the page, if it has changed.
inline bool changed(bell& at, uint32_t which, uint32_t& word) {
    word = at.words[which];
    if (word == at.seen[which]) return false;
    at.seen[which] = word;
    return true;
}

// One word of the page that has changed, if any has; the next look finds the others.
[[gnu::noinline]] inline void take_doorbell(bell& at) {
    using namespace abi::myvia;
    uint32_t word;
    if (at.index >= max_vis) {
        if (changed(at, 0, word)) arm_queue(at.index - max_vis, word);
        return;
    }
    vi& of = vi_at(at.index);
    if (changed(at, 0, word)) {
        const uint32_t entry_and_one = (word & ~doorbell_valid) >> 20;
        return entry_and_one == 0 ? send_rung(of, word) : pushed_rung(of, entry_and_one - 1, word);
    }
    if (changed(at, 1, word)) return receive_rung(of, word);
    if (changed(at, 2, word)) return arm(of, of.send, event_completion_send, word);
    if (changed(at, 3, word)) arm(of, of.receive, event_completion_receive, word);
}
static_assert(abi::myvia::doorbell_receive == abi::myvia::doorbell_send + 1 &&
              abi::myvia::doorbell_arm_send == abi::myvia::doorbell_send + 2 &&
              abi::myvia::doorbell_arm_receive == abi::myvia::doorbell_send + 3);

inline void take_posted(vi& of) {
    uint32_t word;
    if (changed(of.doorbells, 1, word)) receive_rung(of, word);
}

struct doorbells {
    // Where the main loop looks next; when it has found something, `take` takes it.
    static bell* next() { return next_bell; }
    [[gnu::always_inline]] static uint32_t look(bell* at) {
        const volatile uint32_t* words = at->words;
        return (words[0] ^ at->seen[0]) | (words[1] ^ at->seen[1]) | (words[2] ^ at->seen[2]) |
               (words[3] ^ at->seen[3]);
    }
    [[gnu::always_inline]] static bell* behind(bell* at) { return at->next; }
    static void looked(bell* then) { next_bell = then; }
    static void take(bell* at) { take_doorbell(*at); }
    // What was rung before a command counts before it.
    static void drain() {
        bell* const first = next_bell;
        bell* at = first;
        do {
            for (uint32_t i = 0; i != rings && look(at) != 0; ++i) take(at);
            at = at->next;
        } while (at != first);
    }

    static void initialise() { list_bells(); }
    static void created(vi& of) {
        clear_bell(of.doorbells, of.index, abi::myvia::doorbell_send);
        list_bells();
    }
    static void created(completion_queue& of, uint32_t index) {
        clear_bell(of.doorbells, max_vis + index, abi::myvia::doorbell_arm_queue);
        list_bells();
    }
    static void destroyed() { list_bells(); }
    // Nothing is owed to processes.
    static void opened(uint32_t, uint32_t) {}
    static void closed(uint32_t) {}
    static uint32_t published() { return 0; }
};

}  // namespace vinic::bvia
