// SPDX-License-Identifier: Apache-2.0

// Commands of the driver, one at a time. `doorbells` is the variant's way to find those. Nothing is under way
// then but a transfer, which is waited for, and a packet on the wire.
#pragma once

#include "firmware/bvia/doorbell.h"
#include "firmware/common/route.h"

namespace vinic::bvia {

using namespace abi::myvia;

inline uint32_t last_command;  // number of the last one that is done

inline constexpr uint32_t command_retries = 0xFFFFFFFE;  // to be taken up again

inline uint32_t argument(uint32_t index) { return card_interface.request.arguments[index]; }

// --- VIs

inline bool good_queue(uint32_t queue) {
    return queue == no_queue || (queue < max_completion_queues && completion_queues[queue].entries != 0);
}

inline void set_attributes(vi& of) {
    of.process = argument(1);
    of.tag = argument(2);
    of.max_transfer = least(argument(4), max_transfer_bytes);
    of.rdma_enables = argument(5);
}

inline work_queue fresh_queue(uint32_t ring_argument, uint32_t completion_queue) {
    return {.ring = argument(ring_argument),
            .posted = 0,
            .completed = 0,
            .armed = 0,
            .completion_queue = completion_queue};
}

// Host addresses have 32 bits.
inline uint32_t create_vi() {
    const uint32_t index = argument(0), slots = argument(10);
    if (index >= max_vis || argument(1) >= max_processes || slots == 0 || slots > 16384 ||
        (slots & (slots - 1)) != 0 || argument(6) != 0 || argument(8) != 0 ||
        crosses_4_gib(argument(7), slots) || crosses_4_gib(argument(9), slots) || !good_queue(argument(11)) ||
        !good_queue(argument(12)) || argument(3) != abi::vi_unreliable)
        return command_bad_argument;
    vi& of = vis[index];
    if (of.state != vi_unused) return command_wrong_state;
    of.index = index;
    set_attributes(of);
    of.ring_mask = slots - 1;
    of.send = fresh_queue(7, argument(11));
    of.receive = fresh_queue(9, argument(12));
    stop_connection(of, vi_idle);
    doorbells::created(of);
    return command_ok;
}

inline uint32_t set_vi() {
    if (argument(0) >= max_vis || argument(3) != abi::vi_unreliable) return command_bad_argument;
    vi& of = vis[argument(0)];
    if (of.state != vi_idle) return command_wrong_state;
    set_attributes(of);
    return command_ok;
}

inline uint32_t connect_vi() {
    const uint32_t index = argument(0), route_length = route_bytes(argument(3));
    if (index >= max_vis || argument(1) > 0xFFFF || route_length > abi::route_bytes_max)
        return command_bad_argument;
    vi& of = vis[index];
    if (of.state != vi_idle) return command_wrong_state;
    const route_words route = align_route(route_length, argument(4), argument(5));
    of.ends = argument(1) << 16 | index;
    of.arriving_ends = index << 16 | argument(1);
    of.key = argument(2);
    of.limit = least(of.max_transfer, argument(6));
    of.loopback = argument(3) == route_loopback;
    of.route[0] = route.words[0];
    of.route[1] = route.words[1];
    of.route_first = route.first;
    of.route_skip = route.skip;
    of.next_sequence = of.expected = 0;
    of.state = vi_connected;
    if (of.send.posted != of.send.completed) schedule(of);
    return command_ok;
}

inline uint32_t end_vi(uint32_t state) {
    if (argument(0) >= max_vis) return command_bad_argument;
    vi& of = vis[argument(0)];
    if (of.state == vi_unused) return command_wrong_state;
    leave_connection(of, state);
    if (state == vi_unused) doorbells::destroyed();
    return command_ok;
}

inline uint32_t disconnect_vi() {
    if (argument(1) != vi_idle && argument(1) != vi_error) return command_bad_argument;
    if (argument(2) == 0) return end_vi(argument(1));
    if (argument(0) >= max_vis || vis[argument(0)].state == vi_unused) return command_wrong_state;
    stop_connection(vis[argument(0)], argument(1));
    return command_ok;
}

// --- Regions

inline uint32_t set_region() {
    const uint32_t index = argument(0), handle = argument(1), length = argument(4);
    const uint32_t entries = card_interface.host_page_table_entries;
    const bool physical = (argument(7) & region_physical) != 0;
    const uint32_t first_page = physical ? first_physical_page(argument(3)) : argument(5);
    if (index >= max_regions || (handle & ((1u << handle_region_bits) - 1)) != index + 1 ||
        length > 0xFFFFFFFF - 2 * page_bytes || (physical ? argument(2) != 0 : first_page >= entries))
        return command_bad_argument;
    const region fresh = {.address = join(argument(2), argument(3)),
                          .length = length,
                          .first_page = first_page,
                          .tag = argument(6),
                          .rdma_enables = argument(7),
                          .handle = handle};
    if (!physical && pages_of(fresh) > entries - first_page) return command_bad_argument;
    forget_pages(first_page, pages_of(fresh));
    regions[index] = fresh;
    return command_ok;
}

inline uint32_t clear_region() {
    if (argument(0) >= max_regions) return command_bad_argument;
    region& of = regions[argument(0)];
    if (of.handle != 0) forget_pages(of.first_page, pages_of(of));
    of.handle = 0;
    return command_ok;
}

// --- Processes

inline uint32_t open_process() {
    if (argument(0) >= max_processes || argument(1) != 0) return command_bad_argument;
    doorbells::opened(argument(0), argument(2));
    return command_ok;
}

inline uint32_t close_process() {
    if (argument(0) >= max_processes) return command_bad_argument;
    doorbells::closed(argument(0));
    return command_ok;
}

// --- Completion queues

inline uint32_t create_queue() {
    const uint32_t index = argument(0);
    if (index >= max_completion_queues || argument(1) != 0 || argument(3) == 0 ||
        argument(4) >= max_processes)
        return command_bad_argument;
    completion_queue& of = completion_queues[index];
    const bool fresh = of.entries == 0;
    of.ring = argument(2);
    of.entries = argument(3);
    of.process = argument(4);
    of.index = 0;
    of.pass = 1;
    if (!fresh) return command_ok;
    of.produced = of.armed = 0;
    doorbells::created(of, index);
    return command_ok;
}

inline uint32_t destroy_queue() {
    const uint32_t index = argument(0);
    if (index >= max_completion_queues) return command_bad_argument;
    for (const vi& one : vis)
        if (one.state != vi_unused &&
            (one.send.completion_queue == index || one.receive.completion_queue == index))
            return command_wrong_state;
    completion_queues[index].entries = 0;
    doorbells::destroyed();
    return command_ok;
}

// --- Control packets

inline constexpr uint32_t control_bytes_max = 100;

inline uint32_t send_control() {
    const uint32_t route_length = route_bytes(argument(0)), bytes = argument(3);
    if (route_length > abi::route_bytes_max || bytes > control_bytes_max) return command_bad_argument;
    if (!can_fill()) return command_retries;
    packet& made = sent_packet();
    uint32_t* words = made.words;
    for (uint32_t i = 0; i != header_words; ++i) words[i] = 0;
    words[header_type] = network(abi::packet_type_vi);
    words[header_kind_flags_length] =
        kind_word(abi::packet_control, abi::packet_first | abi::packet_last, bytes);
    const uint32_t body = (bytes + 3) / 4;
    for (uint32_t i = 0; i != body; ++i) made.body()[i] = argument(4 + i);
    const route_words route = align_route(route_length, argument(1), argument(2));
    made.route[0] = route.words[0];
    made.route[1] = route.words[1];
    if (argument(0) == route_loopback)
        receive_packet(words);
    else
        give_to_wire(route.first, route.skip, words + header_words + body - 1);
    return command_ok;
}

// --- One at a time

inline uint32_t execute(uint32_t operation) {
    if (operation == command_create_vi) return create_vi();
    if (operation == command_destroy_vi) return end_vi(vi_unused);
    if (operation == command_connect_vi) return connect_vi();
    if (operation == command_disconnect_vi) return disconnect_vi();
    if (operation == command_set_region) return set_region();
    if (operation == command_clear_region) return clear_region();
    if (operation == command_open_process) return open_process();
    if (operation == command_close_process) return close_process();
    if (operation == command_create_queue) return create_queue();
    if (operation == command_destroy_queue) return destroy_queue();
    if (operation == command_send_control) return send_control();
    if (operation == command_set_vi) return set_vi();
    return command_bad_argument;
}

[[gnu::noinline]] inline void run_command() {
    doorbells::drain();
    const uint32_t status = execute(card_interface.request.op);
    if (status == command_retries) return;
    finish_dma();
    card_interface.command_status = status;
    last_command = card_interface.command_number;
    card_interface.command_done = last_command;
}

}  // namespace vinic::bvia
