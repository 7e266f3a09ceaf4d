// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/vi_operations.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace vinic::nic {

namespace card = abi::vi_engine;

namespace {

std::uint64_t join(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

void reset_ring(ring_context& ring, std::uint64_t address, std::uint32_t slots, std::uint32_t queue,
                std::uint64_t places) {
    ring.ring = address;
    ring.mask = slots - 1;
    ring.posted = ring.fetched = ring.next = ring.completed = 0;
    ring.wanted = 0;
    ring.armed = false;
    ring.queue = queue;
    ring.slots.assign(std::min<std::uint64_t>(places, slots), {});
}

}  // namespace

std::uint32_t vi_operations::queue_entries(std::uint32_t number) const {
    return number < card::max_queues ? on_.completions.entries_of(number) : 0;
}

// --- Connections

void vi_operations::set(const card::create_vi_arguments& a) {
    vi_context& of = at(a.vi);
    of.tag = a.protection_tag;
    of.reliability = a.reliability;
    of.max_transfer = std::min(a.max_transfer_bytes, card::max_transfer_bytes);
    of.rdma_enables = a.rdma_enables;
}

/// A VI may still stand in lists of its former life: what says so stays.
void vi_operations::create(const card::create_vi_arguments& a) {
    vi_context& of = at(a.vi);
    set(a);
    const std::uint64_t places = on_.descriptors.prefetch_descriptors;
    reset_ring(of.send, join(a.send_ring_high, a.send_ring_low), a.ring_slots, a.send_queue, places);
    reset_ring(of.receive, join(a.receive_ring_high, a.receive_ring_low), a.ring_slots, a.receive_queue,
               places);
    of.records.clear();
    of.sending = {};
    of.receiving = {.what = incoming_message::kind::refused};
    of.refuses = refusal::nothing;
    of.key = of.remote = 0;
    of.epoch = of.send_epoch = on_.vis.new_epoch();
    of.state = card::vi_idle;
}

void vi_operations::connect(const card::connect_vi_arguments& a) {
    vi_context& of = at(a.vi);
    of.remote = a.remote_vi;
    of.key = a.connection_key;
    of.limit = std::min(of.max_transfer, a.peer_max_transfer);
    of.loopback = a.route_length == card::route_loopback;
    of.route.assign(a.route, a.route + (of.loopback ? 0 : a.route_length));
    of.epoch = of.send_epoch = on_.vis.new_epoch();
    of.sending = {};
    of.receiving = {};
    of.records.clear();
    of.go_back = false;
    of.next_sequence = of.unacknowledged = of.sequence_end = 0;
    of.resume_offset = of.tries = 0;
    of.expected = of.placed = of.placing = 0;
    of.acknowledgements = of.final_status = 0;
    of.urgent = false;
    of.refuses = refusal::nothing;
    on_.descriptors.forget(of.send);  // what an attempt without success left posted starts from the oldest
    of.state = card::vi_connected;
    on_.maker.schedule(of);
}

void vi_operations::leave(vi_context& of, card::vi_state next) {
    on_.vis.leave(of, next);
    if (next != card::vi_error) of.refuses = refusal::nothing;
}

step<bool> vi_operations::send_control(card::send_control_arguments a) {
    co_await on_.reliable.buffer();
    auto made = std::make_shared<outgoing_packet>();
    made->head.header.kind = abi::packet_control;
    made->head.header.flags = abi::packet_first | abi::packet_last;
    made->head.header.length = static_cast<std::uint16_t>(a.bytes);
    made->payload.assign(a.payload, a.payload + a.bytes);
    made->payload.resize(made->head.padded());
    made->loopback = a.route_length == card::route_loopback;
    made->route.assign(a.route, a.route + (made->loopback ? 0 : a.route_length));
    on_.out.put(std::move(made));
    co_return true;
}

step<bool> vi_operations::flushed(vi_context& of) {
    while (vi_table::flushing(of)) co_await on_.vis.flushed.changed();
    co_return true;
}

step<bool> vi_operations::fetched(vi_context& of) {
    while (of.send.fetching != 0 || of.send.asked || of.receive.fetching != 0 || of.receive.asked)
        co_await on_.descriptors.ended.changed();
    co_return true;
}

step<bool> vi_operations::written() {
    while (!on_.completions.idle()) co_await on_.completions.drained.changed();
    co_await on_.dma.quiet();
    co_return true;
}

// --- Errors, sending again

void vi_operations::send_again(vi_context& of) {
    of.go_back = true;
    on_.maker.schedule(of);
}

void vi_operations::break_connection(vi_context& of, std::uint32_t status) {
    if (status != 0 && !of.records.empty()) on_.completions.complete_send(of, status);
    on_.vis.enter_error(of);
}

void vi_operations::refuse_connection(vi_context& of, std::uint32_t status) {
    on_.vis.enter_error(of);
    of.refuses = refusal::all;
    of.final_status = status;
    on_.reliable.acknowledge_now(of);
}

}  // namespace vinic::nic
