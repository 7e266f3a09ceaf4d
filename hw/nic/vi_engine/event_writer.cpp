// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/event_writer.h"

#include <algorithm>
#include <cstring>

namespace vinic::nic {

namespace card = abi::vi_engine;

event_writer::event_writer(const sc_core::sc_module_name& name, sequencer& order, host_transfers& dma)
    : module(name),
      event_clocks(*this, {.name = "event_clocks",
                           .unit = "clocks",
                           .value = 4,
                           .max = 1000,
                           .help = "making the entry of an event, engine clocks"}),
      waiting_max(*this, {.name = "waiting_max",
                          .unit = "events",
                          .value = 256,
                          .min = 1,
                          .max = 65536,
                          .help = "events that may wait for room in the ring; more are lost"}),
      sequencer_(order),
      dma_(dma),
      changed_(order),
      machine_(order.start(rank::events, [this] { return run(); })) {}

void event_writer::set_ring(std::uint64_t address, std::uint32_t entries) {
    ring_ = address;
    entries_ = entries;
    written_ = taken_ = 0;
}

void event_writer::set_taken(std::uint32_t count) {
    taken_ = count;
    changed_.notify();
}

void event_writer::clear_interrupt() {
    pending_.set(0);
    interrupt(false);
}

void event_writer::post(card::event_kind kind, std::uint32_t vi_or_queue, std::uint32_t argument) {
    if (waiting_.size() >= waiting_max) return lost.add();
    card::event_entry made{};
    made.kind = kind;
    made.vi = static_cast<std::uint16_t>(vi_or_queue);
    made.argument = argument;
    waiting_.push_back({made, sim::now()});
    changed_.notify();
}

void event_writer::post_control(std::span<const std::uint8_t> payload) {
    card::event_entry made{};
    if (payload.size() > sizeof made.payload || !waiting_.empty() || !room()) return;
    made.kind = card::event_control_packet;
    made.argument = static_cast<std::uint32_t>(payload.size());
    std::ranges::copy(payload, made.payload);
    waiting_.push_back({made, sim::now()});
    changed_.notify();
}

machine event_writer::run() {
    for (;;) {
        while (waiting_.empty() || !room()) co_await changed_.changed();
        waiting next = waiting_.front();
        co_await sequencer_.clocks(event_clocks, 1);
        const std::uint64_t ticket = co_await dma_.write_channel();
        co_await sequencer_.clocks(dma_.start_clocks);
        next.entry.valid = written_ / entries_ % 2 + 1;
        std::vector<std::uint8_t> bytes(sizeof next.entry);
        std::memcpy(bytes.data(), &next.entry, bytes.size());
        dma_.start_write(ticket, ring_ + std::uint64_t{written_ % entries_} * sizeof next.entry,
                         std::move(bytes), "event", [this, since = next.since] { in_memory(since); });
        ++written_;
        waiting_.pop_front();
    }
}

void event_writer::in_memory(sim::picoseconds since) {
    events.add();
    event.report(since, sim::now(), "event");
    pending_.set(1);
    interrupt(true);
}

}  // namespace vinic::nic
