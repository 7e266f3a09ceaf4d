// SPDX-License-Identifier: Apache-2.0

// The main loop: interrupt bits, doorbells, work that waits, commands. When nothing happens it only loads,
// from SRAM and the ISR, and stores nothing, so that the simulator can skip its turns exactly.
#pragma once

#include "firmware/myvia/command.h"
#include "firmware/myvia/receive.h"

namespace vinic::myvia {

template <typename doorbells>
inline constexpr uint32_t serviced_bits = ~doorbells::wake_bit&(hardware::ISR_RECV | hardware::ISR_BUFF |
                                                                hardware::ISR_SEND | hardware::ISR_WAKE0 |
                                                                hardware::ISR_WAKE1 | hardware::ISR_WAKE2 |
                                                                hardware::ISR_TIME0 | hardware::ISR_TIME1);

// Whoever waits for what has just come tries again.
[[gnu::always_inline]] inline void wake_waiting() {
    if (scheduled_vis.head != nullptr) work |= work_send;
    if (arrival_queue.head != nullptr) work |= work_receive;
}

[[gnu::noinline]] inline void other_read_done(uintptr_t event) {
    const uint32_t action = event & action_mask;
    if (action == action_receive_slots)
        receive_slots_arrived(argument_of<vi>(event));
    else if (action == action_translation)
        translation_arrived(argument_of<translation_line>(event));
    else if (action == action_segments)
        segments_arrived(argument_of<segment_window>(event));
    wake_waiting();
}

// VIs that are waiting their turn are not overtaken.
[[gnu::always_inline]] inline void send_slots_arrived(vi& of) {
    const uint32_t count = slots_arrived(of.send, of.send_slots);
    if (count == 0 || scheduled_vis.head != nullptr) return schedule(of);
    if (!express_send(of) && !try_express_send(of)) return schedule(of);
    // What is on its way schedules the VI when it comes.
    if (of.send.next != of.send.fetched || (of.send.posted != of.send.next && of.send.fetching == 0))
        schedule(of);
}

[[gnu::always_inline]] inline void poll_short_reads() {
    while (dma_entry* entry = short_reads.done()) {
        const uintptr_t event = entry->event;
        short_reads.drop(*entry);
        if ((event & action_mask) == action_send_slots)
            send_slots_arrived(*opaque(&argument_of<vi>(event)));
        else
            other_read_done(event);
        serve_wire();
    }
}

[[gnu::always_inline]] inline void poll_payload_reads() {
    take_payload();
    if (scheduled_vis.head != nullptr) work |= work_send;
}

// A block was written that somebody waits for, or whose buffer the receive engine waits for.
[[gnu::noinline]] inline void finish_write(uintptr_t event) {
    const uint32_t action = event & action_mask;
    if (action == action_interrupt)
        event_written();
    else if (action == action_release)
        release(&argument_of<packet>(event));
    else
        packet_placed(argument_of<packet>(event));
}

// False: the buffer is not of the receive engine. A packet to the card itself is in one of the sender's.
[[gnu::always_inline]] inline bool release_received(uintptr_t event) {
    packet& read = argument_of<packet>(event);
    if (read.pool != pool_receive) return false;
    free_packets[pool_receive].push(&read);
    return true;
}

// One block, if it is done. Most are nobody's business, or free a buffer of the receive engine.
[[gnu::always_inline]] inline bool poll_write() {
    dma_entry_with_words* entry = writes.done();
    if (entry == nullptr) return false;
    const uintptr_t event = entry->event;
    writes.drop(*entry);
    if (event == action_none) return true;
    if ((event & action_mask) != action_release || armed_buffer == nullptr || !release_received(event))
        finish_write(event);
    return true;
}

[[gnu::noinline]] inline void poll_writes() {
    while (poll_write()) {
    }
    if (dropped_packets.head != nullptr) run_dropped();
    if (armed_buffer == nullptr) work |= work_writes;
}

[[gnu::noinline]] inline void service_rarely(uint32_t bits) {
    using namespace hardware;
    if (bits & ISR_BUFF) packet_too_long();
    if (bits & ISR_TIME0) {
        store(ISR, ISR_TIME0);
        if (acknowledge_timer) acknowledge_timer_expired();
    }
    if (bits & ISR_TIME1) {
        store(ISR, ISR_TIME1);
        if (retransmit_timer) retransmit_timer_expired();
    }
}

// The upper half of the bits is 0, and a constant whose upper half is all ones fits an instruction.
constexpr uint32_t tested(uint32_t bit) { return 0xFFFF0000 | bit; }

template <typename doorbells>
uint32_t pending_bits() {
    return opaque(hardware::load(hardware::ISR) & serviced_bits<doorbells>);
}

// What somebody waits for first. A bit that comes up meanwhile is for the next turn.
template <typename doorbells>
[[gnu::always_inline]] inline void service(uint32_t bits) {
    using namespace hardware;
    if (bits & tested(ISR_SEND)) {
        send_engine_done();
        if ((bits &= tested(~ISR_SEND)) == 0) return;
    }
    if (bits & tested(ISR_RECV)) {
        packet_arrived();
        serve_wire();
        if ((bits &= tested(~ISR_RECV)) == 0) return;
    }
    if (bits & tested(ISR_WAKE1)) {
        store(ISR, ISR_WAKE1);
        poll_payload_reads();
        if ((bits &= tested(~ISR_WAKE1)) == 0) return;
    }
    if (doorbells::wake_bit == 0 && (bits & tested(ISR_WAKE0)) != 0) {
        store(ISR, ISR_WAKE0);
        poll_short_reads();
        if ((bits &= tested(~ISR_WAKE0)) == 0) return;
    }
    if (bits & tested(ISR_WAKE2)) {
        store(ISR, ISR_WAKE2);
        poll_writes();
        if ((bits &= tested(~ISR_WAKE2)) == 0) return;
    }
    service_rarely(bits);
}

template <typename doorbells>
[[gnu::noinline]] void do_work() {
    serve_wire();
    if (card_interface.command_number != progress.seen) take_command<doorbells>();
    const uint32_t todo = work;
    work = todo & work_bells;
    if (todo & work_receive) run_receive();
    if (todo & work_send) run_send();
    if (todo & work_bells) {
        doorbells::poll_others();
        poll_write();  // no turn is without work then
    }
    constexpr uint32_t rare =
        work_writes | work_wire | work_flush | work_events | work_acknowledge | work_command | work_credits;
    if ((todo & rare) == 0) return;
    if (todo & work_writes) poll_writes();
    if (todo & work_wire) run_wire();
    if (todo & work_flush) run_flush();
    if (todo & work_events) run_events();
    if (todo & work_acknowledge) run_acknowledgements(false);
    if (todo & work_command) run_command<doorbells>();
    if (todo & work_credits) report_all();
}

// One turn: one branch when there is nothing to do. Each kind of work gets its turn; blocks that were written
// are taken one by one, when there is nothing else, so that a doorbell or a packet waits for one at most.
template <typename doorbells>
[[gnu::always_inline]] inline void poll() {
    const typename doorbells::place bell = doorbells::next();
    const volatile uint32_t* written = &writes.oldest->block.checksum;
    [[maybe_unused]] const volatile uint32_t* read = &short_reads.oldest->block.checksum;
    const uint32_t seen = progress.seen;
    const uint32_t todo = work;
    uint32_t what, done, asked, bits, fetched = 0;
    do {
        what = doorbells::look(bell);
        done = *written;
        if constexpr (doorbells::wake_bit != 0) fetched = *read;
        asked = card_interface.command_number ^ seen;
        bits = pending_bits<doorbells>();
    } while (hardware::moves_by_itself && (bits | what | done | fetched | asked | todo) == 0);
    const uint32_t seldom = asked | todo;
    if (bits != 0) {
        service<doorbells>(bits);
    } else if ((what | fetched | seldom) == 0) {
        poll_write();
        return;
    }
    if (fetched != 0) poll_short_reads();
    if (what != 0) doorbells::take(what);
    if (seldom != 0) do_work<doorbells>();
}

inline void publish_limits() {
    card_interface.max_vis = max_vis;
    card_interface.max_regions = max_regions;
    card_interface.max_completion_queues = max_completion_queues;
    card_interface.max_processes = max_processes;
    card_interface.max_segments = max_segments;
    card_interface.max_transfer_bytes = max_transfer_bytes;
    card_interface.reliability_mask =
        abi::vi_unreliable | abi::vi_reliable_delivery | abi::vi_reliable_reception;
    card_interface.push_areas = hardware::sram_address(push_areas);
    card_interface.physical_regions = 1;
    card_interface.dma_chains[0] = hardware::sram_address(&short_reads.ring[0]);
    card_interface.dma_chains[1] = hardware::sram_address(&payload_reads.ring[0]);
    card_interface.dma_chains[2] = hardware::sram_address(&writes.ring[0]);
    card_interface.dma_chains[3] = hardware::sram_address(&credits.ring[0]);
}

template <typename doorbells>
void initialise() {
    using namespace hardware;
    short_reads.initialise();
    payload_reads.initialise();
    writes.initialise();
    credits.initialise();
    initialise_events();
    store(ISR, ~(ISR_HOST_SIG | ISR_LANAI_SIG));
    store(MYRINET, MYRINET_CRC32_ENABLE | MYRINET_TX_CRC8_ENABLE | MYRINET_RX_CRC8_ENABLE);
    initialise_packets();
    for (vi& one : vis) one.process = one.bell = no_process;
    store(EIMR, ISR_HOST_SIG);
    doorbells::initialise();
    doorbells::list();
    progress.seen = card_interface.command_number;
    publish_limits();
    doorbells::publish();
    card_interface.ready = 1;
}

}  // namespace vinic::myvia
