// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/command_unit.h"

namespace vinic::nic {

namespace card = abi::vi_engine;

namespace {

constexpr std::uint32_t page_bytes = 4096;
std::uint64_t join(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32 | low; }

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
    if (offset >= card::core_memory && to_.core) return to_.core->store(offset - card::core_memory, value);
    if (offset >= card::register_bytes) return;
    if (offset >= card::arguments) {
        next_.arguments[(offset - card::arguments) / 4] = value;
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
            return to_.decides.set_retransmit_limit(value);
        case card::interrupt:
            if ((value & 1) != 0) to_.events.clear_interrupt();
            return;
        case card::core_run:
            if (to_.core) to_.core->run((value & 1) != 0);
            return;
        case card::command:
            next_.op = value;
            requests_.push_back(next_);
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
        case card::core_memory_bytes:
            return to_.core ? static_cast<std::uint32_t>(to_.core->memory.bytes) : 0;
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
        const card_command next = requests_.front();
        requests_.pop_front();
        co_await sequencer_.clocks(command_clocks);
        while (!to_.doorbells.idle()) co_await to_.doorbells.emptied.changed();
        status_.set(co_await execute(next));
        commands.add();
        done_.set(done_.current() + 1);
    }
}

step<std::uint32_t> command_unit::execute(const card_command& what) {
    const auto& a = what.arguments;
    switch (what.op) {
        case card::command_set_region:
            co_return set_region(what.as<card::region_arguments>());
        case card::command_clear_region:
            co_return co_await clear_region(a[0]);
        case card::command_create_queue:
            co_return co_await set_queue(a[0], join(a[1], a[2]), a[3]);
        case card::command_destroy_queue:
            co_return destroy_queue(a[0]);
        case card::command_quiesce:
            co_return co_await quiesce();
        default:
            co_return co_await to_.decides.command(what);
    }
}

step<std::uint32_t> command_unit::quiesce() {
    co_await to_.operations.written();
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

step<std::uint32_t> command_unit::clear_region(std::uint32_t number) {
    if (number >= card::max_regions) co_return card::command_bad_argument;
    to_.pages.clear_region(number);
    co_await to_.dma.quiet();
    co_return card::command_ok;
}

step<std::uint32_t> command_unit::set_queue(std::uint32_t number, std::uint64_t ring, std::uint32_t entries) {
    if (number >= card::max_queues || entries == 0) co_return card::command_bad_argument;
    to_.completions.set_queue(number, ring, entries);
    co_await to_.operations.written();
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

}  // namespace vinic::nic
