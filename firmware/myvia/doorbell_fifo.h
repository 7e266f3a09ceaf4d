// SPDX-License-Identifier: Apache-2.0

// Doorbells in hardware (facts lanai_pcix.md B5): a write of the host into the card's doorbell region stands
// as (address, data) in one FIFO for all VIs and processes. The address says which VI or queue: each has a
// page of the region, mapped into the process that it belongs to, so nobody rings for others.
//
// Nothing is lost: a process has at most `doorbells_per_page` doorbells on their way, and the FIFO has room
// for those of all processes. The hardware also sets WAKE0, the bit of channel 0, which therefore says
// nothing: the main loop looks at the FIFO and at that channel's oldest block instead.
#pragma once

#include "firmware/abi/card_map.h"
#include "firmware/myvia/pushed_send.h"

namespace vinic::myvia {

using doorbell_entry = abi::card_map::doorbell_entry;
using abi::card_map::doorbell_entry_free;

inline constexpr uint32_t fifo_entries = max_processes * abi::myvia::doorbells_per_page;
constexpr uint32_t fifo_size(uint32_t entries) { return entries <= 512 ? 0 : 1 + fifo_size(entries / 2); }
static_assert(512u << fifo_size(fifo_entries) == fifo_entries &&
              fifo_size(fifo_entries) <= abi::card_map::CONTROL_FIFO_SIZE_MASK);

alignas(quarter * sizeof(doorbell_entry)) inline volatile doorbell_entry fifo_ring[fifo_entries];
inline volatile doorbell_entry* fifo_next;

[[gnu::noinline]] inline void quarter_taken(process& of) {
    of.left = quarter;
    of.taken += quarter;
    report_taken(of);
}

[[gnu::always_inline]] inline void count_doorbell(uint32_t number) {
    process& by = *opaque(&processes[number % max_processes]);
    const uint32_t left = by.left - 1;
    by.left = left;
    if (left == 0) quarter_taken(by);
}

[[gnu::noinline]] inline void handle_queue_doorbell(uint32_t index, uint32_t operation, uint32_t data) {
    if (index >= max_completion_queues) return;
    const uint32_t by = completion_queues[index].process;
    if (operation == abi::myvia::doorbell_arm_queue) arm_queue(index, data, by);
    count_doorbell(by);
}

// Another thread's doorbell of that queue overtook this one on its way here, and told its news.
inline bool overtaken(const vi& of, uint32_t operation, uint32_t data) {
    const work_queue& queue = operation == abi::myvia::doorbell_receive ? of.receive : of.send;
    const bool posts =
        operation <= abi::myvia::doorbell_receive || operation >= abi::myvia::doorbell_send_pushed;
    return posts && static_cast<int32_t>(data - queue.posted) < 0;
}

[[gnu::noinline]] inline void handle_from_fifo(uint32_t address, uint32_t data) {
    using namespace abi::myvia;
    const uint32_t page = address / doorbell_page_bytes, operation = address % doorbell_page_bytes / 4;
    if (page >= max_vis) return handle_queue_doorbell(page - max_vis, operation, data);
    vi& of = vi_at(page);
    if (of.process == no_process) return;
    const bool express =
        operation == doorbell_receive && of.bell != no_process && express_receive_doorbell(of, data);
    if (!express && !overtaken(of, operation, data)) handle_operation(of, of.process, operation, data);
    count_doorbell(of.process);
}

// Not 0 for a doorbell: its address, and one.
[[gnu::always_inline]] inline uint32_t rung(const volatile doorbell_entry* entry) {
    static_assert(doorbell_entry_free == 0xFFFFFFFF);
    return entry->address + 1;
}

// A quarter as many entries as a process may have on their way: all that is done seldom is done then.
[[gnu::noinline]] inline void end_of_stretch() {
    if (fifo_next == fifo_ring + fifo_entries) fifo_next = fifo_ring;
}

// The VI whose send queue rings, 4 * doorbell_send being the offset in its page: (page, offset) moved right
// by two is where it stands among `vis`, and one byte.
[[gnu::always_inline]] inline vi& vi_of_send(uint32_t address) {
    static_assert(abi::myvia::doorbell_send == 1 && abi::myvia::doorbell_page_bytes == 4096);
    if constexpr (!card_is_big_endian) return vi_at(address / abi::myvia::doorbell_page_bytes);
    return *reinterpret_cast<vi*>(opaque(reinterpret_cast<char*>(vis) - 1) + (address >> 2));
}

// The doorbell at `fifo_next`, which has rung.
[[gnu::always_inline]] inline void take_from_fifo() {
    using namespace abi::myvia;
    volatile doorbell_entry* entry = fifo_next;
    const uint32_t address = entry->address;
    const uint32_t data = entry->data;
    entry->address = doorbell_entry_free;
    ++entry;
    fifo_next = entry;
    const uint32_t other =
        (address << 20 ^ (4 * doorbell_send) << 20) | address / (max_vis * doorbell_page_bytes);
    if (other == 0) [[likely]] {
        vi& of = vi_of_send(address);
        if (of.bell != no_process && express_doorbell(of, data)) [[likely]]
            count_doorbell(of.bell);
        else
            handle_from_fifo(address, data);
    } else {
        handle_from_fifo(address, data);
    }
    if (reinterpret_cast<uintptr_t>(entry) % (quarter * sizeof(doorbell_entry)) == 0) end_of_stretch();
}

[[gnu::noinline]] inline void take_one_from_fifo() { take_from_fifo(); }

struct doorbell_fifo {
    static constexpr uint32_t wake_bit = hardware::ISR_WAKE0;
    using place = const volatile doorbell_entry*;

    static void initialise() {
        for (volatile doorbell_entry& entry : fifo_ring) entry.address = doorbell_entry_free;
        fifo_next = fifo_ring;
    }
    static void publish() { card_interface.doorbell_pages = 0; }

    static place next() { return fifo_next; }
    [[gnu::always_inline]] static uint32_t look(place at) { return rung(at); }
    [[gnu::always_inline]] static void take(uint32_t) { take_from_fifo(); }
    static void poll_others() {}

    static void drain() {
        for (uint32_t i = 0; i != fifo_entries && rung(fifo_next) != 0; ++i) take_one_from_fifo();
    }

    static void open(process& opened) { opened.left = quarter; }

    static void list() {
        open_count = 0;
        for (process& one : processes)
            if (one.open) open_processes[open_count++] = &one;
    }
};

}  // namespace vinic::myvia
