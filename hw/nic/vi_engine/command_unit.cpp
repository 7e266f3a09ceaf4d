// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/command_unit.h"

#include <algorithm>

namespace vinic::nic {

namespace card = abi::vi_engine;

namespace {

constexpr std::uint32_t page_bytes = 4096;
constexpr std::uint32_t ring_slots_max = 65536;

std::uint64_t join(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

bool good_attributes(const card::create_vi_arguments& a) {
    return a.reliability != 0 && (a.reliability & (a.reliability - 1)) == 0 &&
           a.reliability <= abi::vi_reliable_reception;
}

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

command_unit::command_unit(const sc_core::sc_module_name& name, sequencer& order,
                           const commanded_blocks& blocks)
    : module(name),
      command_clocks(*this, {.name = "command_clocks",
                             .unit = "clocks",
                             .value = 16,
                             .max = 100'000,
                             .help = "a command, without what it waits for, engine clocks"}),
      sequencer_(order),
      to_(blocks),
      asked_(order),
      machine_(order.start(rank::commands, [this] { return run(); })) {}

// --- Registers

void command_unit::store(std::uint32_t offset, std::uint32_t value) {
    if (offset >= card::page_table) return to_.pages.set_entry((offset - card::page_table) / 4, value);
    if (offset >= card::register_bytes) return;
    if (offset >= card::arguments) {
        arguments_[(offset - card::arguments) / 4] = value;
        return;
    }
    settings_[offset / 4] = value;
    switch (offset) {
        case card::table_entries:
            return to_.pages.set_table(join(settings_[card::table_high / 4], settings_[card::table_low / 4]),
                                       value);
        case card::event_entries:
            return to_.events.set_ring(
                join(settings_[card::event_ring_high / 4], settings_[card::event_ring_low / 4]), value);
        case card::event_taken:
            return to_.events.set_taken(value);
        case card::retransmit_ns:
            return to_.reliable.set_timeout_ns(value);
        case card::retransmit_limit:
            return to_.reliable.set_tries(value);
        case card::interrupt:
            if ((value & 1) != 0) to_.events.clear_interrupt();
            return;
        case card::command:
            requests_.push_back({value, arguments_});
            asked_.notify();
            return;
        default:
            return;
    }
}

std::uint32_t command_unit::load(std::uint32_t offset) const {
    switch (offset) {
        case card::identity:
            return std::uint32_t{card::device_id} << 16 | card::vendor_id;
        case card::limits_pages:
            return to_.pages.on_card() ? to_.pages.entries() : 0;
        case card::limits_packet:
            return static_cast<std::uint32_t>(to_.frames.packet_payload_bytes);
        case card::interrupt:
            return to_.events.pending();
        case card::commands_done:
            return done_.seen();
        case card::command_status:
            return status_.seen();
        default:
            return 0;
    }
}

// --- Commands

machine command_unit::run() {
    for (;;) {
        while (requests_.empty()) co_await asked_.changed();
        const request next = requests_.front();
        requests_.pop_front();
        co_await sequencer_.clocks(command_clocks);
        while (!to_.doorbells.idle()) co_await to_.doorbells.emptied.changed();
        status_.set(co_await execute(next));
        commands.add();
        done_.set(done_.current() + 1);
    }
}

step<std::uint32_t> command_unit::execute(request what) {
    const words& a = what.arguments;
    switch (what.op) {
        case card::command_create_vi:
            co_return create_vi(as<card::create_vi_arguments>(a));
        case card::command_set_vi:
            co_return set_vi(as<card::create_vi_arguments>(a));
        case card::command_destroy_vi:
            if (a[0] >= card::max_vis) co_return card::command_bad_argument;
            co_return co_await end_vi(to_.vis.at(a[0]), card::vi_unused);
        case card::command_connect_vi:
            co_return co_await connect_vi(as<card::connect_vi_arguments>(a));
        case card::command_disconnect_vi:
            co_return co_await disconnect_vi(a[0], a[1], a[2] == 1);
        case card::command_set_region:
            co_return set_region(as<card::region_arguments>(a));
        case card::command_clear_region:
            if (a[0] >= card::max_regions) co_return card::command_bad_argument;
            to_.pages.clear_region(a[0]);
            co_await to_.dma.quiet();
            co_return card::command_ok;
        case card::command_create_queue:
            co_return co_await set_queue(a[0], join(a[1], a[2]), a[3]);
        case card::command_destroy_queue:
            co_return destroy_queue(a[0]);
        case card::command_send_control:
            co_return co_await send_control(as<card::send_control_arguments>(a));
        case card::command_quiesce:
            co_await settled();
            co_return card::command_ok;
        default:
            co_return card::command_bad_argument;
    }
}

/// What was decided before has reached host memory.
step<bool> command_unit::settled() {
    while (!to_.completions.idle()) co_await to_.completions.drained.changed();
    co_await to_.dma.quiet();
    co_return true;
}

// --- VIs

bool command_unit::good_queue(std::uint32_t number) const {
    return number == card::no_queue || (number < card::max_queues && to_.completions.queue_exists(number));
}

void command_unit::set_attributes(vi_context& of, const card::create_vi_arguments& a) {
    of.tag = a.protection_tag;
    of.reliability = a.reliability;
    of.max_transfer = std::min(a.max_transfer_bytes, card::max_transfer_bytes);
    of.rdma_enables = a.rdma_enables;
}

/// A VI may still stand in lists of its former life: what says so stays.
std::uint32_t command_unit::create_vi(const card::create_vi_arguments& a) {
    if (a.vi >= card::max_vis || a.ring_slots == 0 || a.ring_slots > ring_slots_max ||
        (a.ring_slots & (a.ring_slots - 1)) != 0 || !good_queue(a.send_queue) ||
        !good_queue(a.receive_queue) || !good_attributes(a))
        return card::command_bad_argument;
    vi_context& of = to_.vis.at(a.vi);
    if (of.state != card::vi_unused) return card::command_wrong_state;
    set_attributes(of, a);
    const std::uint64_t places = to_.descriptors.prefetch_descriptors;
    reset_ring(of.send, join(a.send_ring_high, a.send_ring_low), a.ring_slots, a.send_queue, places);
    reset_ring(of.receive, join(a.receive_ring_high, a.receive_ring_low), a.ring_slots, a.receive_queue,
               places);
    of.records.clear();
    of.sending = {};
    of.receiving = {.what = incoming_message::kind::refused};
    of.refuses = refusal::nothing;
    of.key = of.remote = 0;
    of.epoch = of.send_epoch = to_.vis.new_epoch();
    of.state = card::vi_idle;
    return card::command_ok;
}

std::uint32_t command_unit::set_vi(const card::create_vi_arguments& a) {
    if (a.vi >= card::max_vis || !good_attributes(a)) return card::command_bad_argument;
    vi_context& of = to_.vis.at(a.vi);
    if (of.state != card::vi_idle) return card::command_wrong_state;
    set_attributes(of, a);
    return card::command_ok;
}

step<std::uint32_t> command_unit::connect_vi(card::connect_vi_arguments a) {
    const bool loopback = a.route_length == card::route_loopback;
    if (a.vi >= card::max_vis || a.remote_vi > 0xFFFF || (!loopback && a.route_length > abi::route_bytes_max))
        co_return card::command_bad_argument;
    vi_context& of = to_.vis.at(a.vi);
    if (of.state != card::vi_idle) co_return card::command_wrong_state;
    while (vi_table::flushing(of)) co_await to_.vis.flushed.changed();
    of.remote = a.remote_vi;
    of.key = a.connection_key;
    of.limit = std::min(of.max_transfer, a.peer_max_transfer);
    of.loopback = loopback;
    of.route.assign(a.route, a.route + (loopback ? 0 : a.route_length));
    of.epoch = of.send_epoch = to_.vis.new_epoch();
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
    to_.descriptors.forget(of.send);  // what an attempt without success left posted starts from the oldest
    of.state = card::vi_connected;
    to_.maker.schedule(of);
    co_return card::command_ok;
}

step<std::uint32_t> command_unit::end_vi(vi_context& of, card::vi_state next) {
    if (of.state == card::vi_unused) co_return card::command_wrong_state;
    to_.vis.leave(of, next);
    if (next != card::vi_error) of.refuses = refusal::nothing;
    while (vi_table::flushing(of)) co_await to_.vis.flushed.changed();
    while (of.send.fetching != 0 || of.send.asked || of.receive.fetching != 0 || of.receive.asked)
        co_await to_.descriptors.ended.changed();
    co_await settled();
    co_return card::command_ok;
}

step<std::uint32_t> command_unit::disconnect_vi(std::uint32_t number, std::uint32_t next, bool keep) {
    if (number >= card::max_vis || (next != card::vi_idle && next != card::vi_error))
        co_return card::command_bad_argument;
    vi_context& of = to_.vis.at(number);
    if (!keep) co_return co_await end_vi(of, static_cast<card::vi_state>(next));
    if (of.state == card::vi_unused) co_return card::command_wrong_state;
    to_.vis.stop(of, static_cast<card::vi_state>(next));
    co_await settled();
    co_return card::command_ok;
}

// --- Regions and queues

std::uint32_t command_unit::set_region(const card::region_arguments& a) {
    constexpr std::uint32_t mask = (1u << card::handle_region_bits) - 1;
    const std::uint64_t address = join(a.address_high, a.address_low);
    const std::uint64_t pages = (address % page_bytes + a.length + page_bytes - 1) / page_bytes;
    const std::uint32_t entries = to_.pages.entries();
    if (a.region >= card::max_regions || (a.handle & mask) != a.region + 1 || a.first_page >= entries ||
        pages > entries - a.first_page)
        return card::command_bad_argument;
    to_.pages.set_region(a.region, {.handle = a.handle,
                                    .address = address,
                                    .length = a.length,
                                    .first_page = a.first_page,
                                    .tag = a.protection_tag,
                                    .rdma_enables = a.rdma_enables});
    return card::command_ok;
}

step<std::uint32_t> command_unit::set_queue(std::uint32_t number, std::uint64_t ring, std::uint32_t entries) {
    if (number >= card::max_queues || entries == 0) co_return card::command_bad_argument;
    to_.completions.set_queue(number, ring, entries);
    co_await settled();
    co_return card::command_ok;
}

std::uint32_t command_unit::destroy_queue(std::uint32_t number) {
    if (number >= card::max_queues) return card::command_bad_argument;
    for (std::uint32_t i = 0; i < to_.vis.size(); ++i) {
        const vi_context& of = to_.vis.at(i);
        if (of.state != card::vi_unused && (of.send.queue == number || of.receive.queue == number))
            return card::command_wrong_state;
    }
    to_.completions.remove_queue(number);
    return card::command_ok;
}

// --- Control packets

step<std::uint32_t> command_unit::send_control(card::send_control_arguments a) {
    const bool loopback = a.route_length == card::route_loopback;
    if ((!loopback && a.route_length > abi::route_bytes_max) || a.bytes > card::control_bytes_max)
        co_return card::command_bad_argument;
    co_await to_.reliable.buffer();
    auto made = std::make_shared<outgoing_packet>();
    made->head.header.kind = abi::packet_control;
    made->head.header.flags = abi::packet_first | abi::packet_last;
    made->head.header.length = static_cast<std::uint16_t>(a.bytes);
    made->payload.assign(a.payload, a.payload + a.bytes);
    made->payload.resize(made->head.padded());
    made->route.assign(a.route, a.route + (loopback ? 0 : a.route_length));
    made->loopback = loopback;
    to_.out.put(std::move(made));
    co_return card::command_ok;
}

}  // namespace vinic::nic
