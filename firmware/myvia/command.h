// SPDX-License-Identifier: Apache-2.0

// Commands of the driver, one at a time. A command that takes something away is done when nothing under way
// can touch it any more.
#pragma once

#include "firmware/common/route.h"
#include "firmware/myvia/doorbell.h"

namespace vinic::myvia {

using namespace abi::myvia;

struct command_progress {
    uint32_t seen;     // number of the last command that was taken up
    uint32_t waiting;  // it waits for the channels to pass these positions
    uint32_t reads_position, payload_position, writes_position;
    vi* flushed;  // and for the queues of this VI to be flushed
};
inline command_progress progress;

inline constexpr uint32_t command_waits = 0xFFFFFFFF;    // done later
inline constexpr uint32_t command_retries = 0xFFFFFFFE;  // to be taken up again

inline uint32_t argument(uint32_t index) { return card_interface.request.arguments[index]; }

inline uint32_t wait_for_channels(vi* flushed) {
    progress.waiting = 1;
    progress.reads_position = short_reads.head;
    progress.payload_position = payload_reads.head;
    progress.writes_position = writes.head;
    progress.flushed = flushed;
    return command_waits;
}

// --- VIs

inline bool good_queue(uint32_t queue) {
    return queue == no_queue || (queue < max_completion_queues && completion_queues[queue].entries != 0);
}

inline void set_attributes(vi& of) {
    of.process = argument(1);
    of.tag = argument(2);
    of.reliability = argument(3);
    of.max_transfer = least(argument(4), max_transfer_bytes);
    of.rdma_enables = argument(5);
}

inline void reset_queue(work_queue& queue, uint32_t ring_argument, uint32_t completion_queue) {
    queue.ring_high = argument(ring_argument);
    queue.ring_low = argument(ring_argument + 1);
    queue.oldest_low = queue.ring_low;
    queue.posted = queue.fetched = queue.next = queue.completed = 0;
    queue.fetching = queue.wanted = queue.armed = 0;
    queue.completion_queue = completion_queue;
}

// The links of lists stay: a VI may still be in one from its former life.
inline uint32_t create_vi() {
    const uint32_t index = argument(0), slots = argument(10), reliability = argument(3);
    if (index >= max_vis || argument(1) >= max_processes || slots == 0 || slots > 65536 ||
        (slots & (slots - 1)) != 0 || crosses_4_gib(argument(7), slots) ||
        crosses_4_gib(argument(9), slots) || !good_queue(argument(11)) || !good_queue(argument(12)) ||
        reliability == 0 || (reliability & (reliability - 1)) != 0 ||
        reliability > abi::vi_reliable_reception)
        return command_bad_argument;
    vi& of = vis[index];
    if (of.state != vi_unused) return command_wrong_state;
    of.index = index;
    set_attributes(of);
    of.ring_mask = slots - 1;
    of.cache_mask = least(cached_slots, slots) - 1;
    reset_queue(of.send, 6, argument(11));
    reset_queue(of.receive, 8, argument(12));
    of.building = nullptr;
    of.ends = of.arriving_ends = of.key = 0;
    of.started = 0;
    of.bell = no_process;
    of.obstacles = obstacle_disconnected;
    of.receiving.kind = message_refused;
    for (receive_target& target : of.receive_targets) target.bytes = 0;
    of.refuse = refuse_nothing;
    of.state = vi_idle;
    ++registrations;
    return command_ok;
}

inline uint32_t set_vi() {
    if (argument(0) >= max_vis) return command_bad_argument;
    vi& of = vis[argument(0)];
    if (of.state != vi_idle) return command_wrong_state;
    set_attributes(of);
    ++registrations;
    return command_ok;
}

inline route_words align_route(uint32_t length, uint32_t high_argument) {
    return common::align_route(length, argument(high_argument), argument(high_argument + 1));
}

inline uint32_t connect_vi() {
    const uint32_t index = argument(0), route_length = route_bytes(argument(3));
    if (index >= max_vis || argument(1) > 0xFFFF || route_length > abi::route_bytes_max)
        return command_bad_argument;
    vi& of = vis[index];
    if (of.state != vi_idle) return command_wrong_state;
    if (of.flushing) return command_retries;
    const route_words route = align_route(route_length, 4);
    of.ends = argument(1) << 16 | index;
    of.arriving_ends = index << 16 | argument(1);
    of.key = argument(2);
    of.limit = least(of.max_transfer, argument(6));
    of.packet_limit = least(of.limit, abi::packet_payload_max);
    of.epoch = ++epochs;
    of.loopback = argument(3) == abi::myvia::route_loopback;
    of.route[0] = route.words[0];
    of.route[1] = route.words[1];
    of.route_first = route.first;
    of.route_skip = route.skip;
    of.sending.error = 0;
    of.receiving.kind = 0;
    of.next_sequence = of.unacknowledged = of.sequence_end = 0;
    of.resume_offset = of.tries = 0;
    // Sends that an attempt without success left posted start from the oldest.
    of.send.next = of.send.fetched = of.started = of.send.completed;
    of.send.wanted = 0;
    of.expected = of.placed = of.placing = 0;
    of.acknowledgements = of.urgent = of.refuse = of.final_status = 0;
    of.state = vi_connected;
    of.bell = of.process;
    of.obstacles = 0;
    if (of.send.posted != of.send.next) schedule(of);
    return command_ok;
}

inline uint32_t end_vi(uint32_t state) {
    if (argument(0) >= max_vis) return command_bad_argument;
    vi& of = vis[argument(0)];
    if (of.state == vi_unused) return command_wrong_state;
    leave_connection(of, state);
    if (state == vi_unused) of.process = no_process;
    of.refuse = state == vi_error ? of.refuse : refuse_nothing;
    return wait_for_channels(&of);
}

inline uint32_t disconnect_vi() {
    if (argument(1) != vi_idle && argument(1) != vi_error) return command_bad_argument;
    if (argument(2) == 0) return end_vi(argument(1));
    if (argument(0) >= max_vis || vis[argument(0)].state == vi_unused) return command_wrong_state;
    stop_connection(vis[argument(0)], argument(1));
    return wait_for_channels(nullptr);
}

// --- Regions

inline uint32_t set_region() {
    const uint32_t index = argument(0), handle = argument(1), length = argument(4), first_page = argument(5);
    const uint32_t entries = card_interface.host_page_table_entries;
    if (index >= max_regions || (handle & ((1u << handle_region_bits) - 1)) != index + 1 ||
        length > 0xFFFFFFFF - 2 * page_bytes || first_page >= entries)
        return command_bad_argument;
    const region fresh = {.address = join(argument(2), argument(3)),
                          .length = length,
                          .first_page = first_page,
                          .tag = argument(6),
                          .rdma_enables = argument(7),
                          .handle = handle};
    if (pages_of(fresh) > entries - first_page) return command_bad_argument;
    forget_pages(first_page, pages_of(fresh));
    ++registrations;
    regions[index] = fresh;
    return command_ok;
}

inline uint32_t clear_region() {
    if (argument(0) >= max_regions) return command_bad_argument;
    region& of = regions[argument(0)];
    if (of.handle != 0) forget_pages(of.first_page, pages_of(of));
    of.handle = 0;
    ++registrations;
    return wait_for_channels(nullptr);
}

// --- Processes

template <typename doorbells>
uint32_t open_process() {
    if (argument(0) >= max_processes) return command_bad_argument;
    process& opened = processes[argument(0)];
    if (opened.open) return command_wrong_state;
    opened.index = argument(0);
    opened.host_page = join(argument(1), argument(2));
    opened.taken = opened.reported = 0;
    doorbells::open(opened);
    opened.open = 1;
    doorbells::list();
    return command_ok;
}

template <typename doorbells>
uint32_t close_process() {
    if (argument(0) >= max_processes) return command_bad_argument;
    processes[argument(0)].open = 0;
    doorbells::list();
    return wait_for_channels(nullptr);
}

// --- Completion queues

inline uint32_t create_queue() {
    const uint32_t index = argument(0);
    if (index >= max_completion_queues || argument(3) == 0 || argument(4) >= max_processes)
        return command_bad_argument;
    completion_queue& of = completion_queues[index];
    if (of.entries == 0) of.produced = of.armed = 0;
    of.ring = join(argument(1), argument(2));
    of.entries = argument(3);
    of.process = argument(4);
    of.index = 0;
    of.pass = 1;
    return wait_for_channels(nullptr);
}

inline uint32_t destroy_queue() {
    if (argument(0) >= max_completion_queues) return command_bad_argument;
    for (const vi& one : vis)
        if (one.state != vi_unused &&
            (one.send.completion_queue == argument(0) || one.receive.completion_queue == argument(0)))
            return command_wrong_state;
    completion_queues[argument(0)].entries = 0;
    return wait_for_channels(nullptr);
}

// --- Control packets

inline constexpr uint32_t control_bytes_max = 100;

inline uint32_t send_control() {
    const uint32_t route_length = route_bytes(argument(0)), bytes = argument(3);
    if (route_length > abi::route_bytes_max || bytes > control_bytes_max) return command_bad_argument;
    packet* to_send = free_packets[pool_short].pop();
    if (to_send == nullptr) return command_retries;
    for (uint32_t i = header_type + 1; i != header_words; ++i) to_send->words[i] = 0;
    to_send->words[header_kind_flags_length] =
        kind_word(abi::packet_control, abi::packet_first | abi::packet_last, bytes);
    const uint32_t words = (bytes + 3) / 4;
    for (uint32_t i = 0; i != words; ++i) to_send->body()[i] = argument(4 + i);
    const route_words route = align_route(route_length, 1);
    set_route(*to_send, route.words, route.first, route.skip);
    set_end(*to_send, words);
    to_send->completes = 0;
    belongs_to_none(*to_send, argument(0) == abi::myvia::route_loopback);
    to_send->ready_at = payload_reads.tail;
    wire_queue.push(to_send);
    pump_wire();
    return command_ok;
}

// --- One at a time

template <typename doorbells>
uint32_t execute(uint32_t operation) {
    if (operation == command_create_vi) return create_vi();
    if (operation == command_destroy_vi) return end_vi(vi_unused);
    if (operation == command_connect_vi) return connect_vi();
    if (operation == command_disconnect_vi) return disconnect_vi();
    if (operation == command_set_region) return set_region();
    if (operation == command_clear_region) return clear_region();
    if (operation == command_open_process) return open_process<doorbells>();
    if (operation == command_close_process) return close_process<doorbells>();
    if (operation == command_create_queue) return create_queue();
    if (operation == command_destroy_queue) return destroy_queue();
    if (operation == command_send_control) return send_control();
    if (operation == command_set_vi) return set_vi();
    return command_bad_argument;
}

inline void command_is_done(uint32_t status) {
    card_interface.command_status = status;
    card_interface.command_done = progress.seen;
}

template <typename doorbells>
void start_command() {
    const uint32_t status = execute<doorbells>(card_interface.request.op);
    if (status < command_retries) return command_is_done(status);
    work |= work_command;
}

template <typename doorbells>
void run_command() {
    if (card_interface.command_done == progress.seen) return;
    if (!progress.waiting) return start_command<doorbells>();
    if ((progress.flushed != nullptr && progress.flushed->flushing) ||
        !short_reads.passed(progress.reads_position) || !payload_reads.passed(progress.payload_position) ||
        !writes.passed(progress.writes_position)) {
        work |= work_command | work_writes;
        return;
    }
    // What the flush wrote comes after the position that was noted first.
    if (progress.flushed != nullptr) {
        wait_for_channels(nullptr);
        work |= work_command | work_writes;
        return;
    }
    progress.waiting = 0;
    command_is_done(command_ok);
}

// What was rung before a command counts before it.
template <typename doorbells>
[[gnu::noinline]] void take_command() {
    doorbells::drain();
    progress.seen = card_interface.command_number;
    start_command<doorbells>();
}

}  // namespace vinic::myvia
