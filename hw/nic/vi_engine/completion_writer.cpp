// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/completion_writer.h"

#include <cstddef>
#include <cstring>

namespace vinic::nic {

namespace card = abi::vi_engine;

completion_writer::completion_writer(const sc_core::sc_module_name& name, sequencer& order,
                                     host_transfers& dma, event_writer& events)
    : module(name),
      status_clocks(*this, {.name = "status_clocks",
                            .unit = "clocks",
                            .value = 4,
                            .max = 1000,
                            .help = "making the status of a descriptor, engine clocks"}),
      queue_clocks(*this, {.name = "queue_clocks",
                           .unit = "clocks",
                           .value = 4,
                           .max = 1000,
                           .help = "making an entry of a completion queue, engine clocks"}),
      drained(order),
      sequencer_(order),
      dma_(dma),
      events_(events),
      queues_(card::max_queues),
      added_(order),
      machine_(order.start(rank::completion, [this] { return run(); })) {}

// --- Decisions

void completion_writer::put(item what) {
    what.since = sim::now();
    pending_.push_back(std::move(what));
    added_.notify();
}

/// Words of the oldest slot's control segment, from `offset` to its end.
void completion_writer::write_slot(const vi_context& of, const ring_context& ring, std::uint32_t offset,
                                   const void* words) {
    item made{.address = ring.address_of(ring.completed) + offset,
              .bytes = std::vector<std::uint8_t>(sizeof(abi::vi_control_segment) - offset),
              .clocks = status_clocks,
              .note = &ring == &of.receive ? "receive status" : "send status",
              .number = of.index};
    std::memcpy(made.bytes.data(), words, made.bytes.size());
    put(std::move(made));
}

void completion_writer::slot_completed(vi_context& of, bool receive) {
    ring_context& ring = receive ? of.receive : of.send;
    completed.add();
    ++ring.completed;
    if (ring.queue != card::no_queue)
        write_entry(ring.queue, of.index | (receive ? card::completion_receive : 0u));
    if (!ring.armed) return;
    ring.armed = false;
    post_event(receive ? card::event_completion_receive : card::event_completion_send, of.index);
}

void completion_writer::write_entry(std::uint32_t number, std::uint32_t vi_and_queue) {
    completion_queue& queue = queues_[number];
    const card::completion_entry entry{.vi_and_queue = vi_and_queue, .valid = queue.pass};
    item made{.address = queue.ring + std::uint64_t{queue.index} * sizeof entry,
              .bytes = std::vector<std::uint8_t>(sizeof entry),
              .clocks = queue_clocks,
              .note = "queue entry",
              .number = number};
    std::memcpy(made.bytes.data(), &entry, sizeof entry);
    put(std::move(made));
    entries.add();
    ++queue.produced;
    if (++queue.index == queue.entries) {
        queue.index = 0;
        queue.pass = 3 - queue.pass;
    }
    if (!queue.armed) return;
    queue.armed = false;
    post_event(card::event_completion_queue, number);
}

void completion_writer::post_event(card::event_kind kind, std::uint32_t number) {
    put({.number = number, .is_event = true, .event = kind});
}

void completion_writer::complete(vi_context& of, bool receive, std::uint32_t length, std::uint32_t status) {
    const std::array<std::uint32_t, 2> words{length, status | abi::vi_status_done};
    write_slot(of, receive ? of.receive : of.send, offsetof(abi::vi_control_segment, length), words.data());
    slot_completed(of, receive);
}

void completion_writer::complete_immediately(vi_context& of, std::uint32_t immediate, std::uint32_t length,
                                             std::uint32_t status) {
    const std::array<std::uint32_t, 3> words{immediate, length,
                                             status | abi::vi_status_immediate | abi::vi_status_done};
    write_slot(of, of.receive, offsetof(abi::vi_control_segment, immediate_data), words.data());
    slot_completed(of, true);
}

void completion_writer::complete_flushed(vi_context& of, bool receive) {
    const std::uint32_t status = abi::vi_status_done | std::uint32_t{abi::vi_status_flushed_error} |
                                 (receive ? abi::vi_status_op_receive : abi::vi_status_op_send);
    write_slot(of, receive ? of.receive : of.send, offsetof(abi::vi_control_segment, status), &status);
    if (!receive && !of.records.empty()) of.records.pop_front();
    slot_completed(of, receive);
}

void completion_writer::complete_send(vi_context& of, std::uint32_t error) {
    const send_record record = of.records.front();
    of.records.pop_front();
    complete(of, false, record.length, record.status | error);
}

void completion_writer::arm(vi_context& of, bool receive, std::uint32_t seen) {
    ring_context& ring = receive ? of.receive : of.send;
    ring.armed = ring.completed == seen;
    if (!ring.armed)
        post_event(receive ? card::event_completion_receive : card::event_completion_send, of.index);
}

void completion_writer::arm_queue(std::uint32_t number, std::uint32_t seen) {
    completion_queue& queue = queues_[number];
    if (queue.entries == 0) return;
    queue.armed = queue.produced == seen;
    if (!queue.armed) post_event(card::event_completion_queue, number);
}

/// A queue that exists counts on across its rings.
void completion_writer::set_queue(std::uint32_t number, std::uint64_t ring, std::uint32_t size) {
    completion_queue& queue = queues_[number];
    if (queue.entries == 0) {
        queue.produced = 0;
        queue.armed = false;
    }
    queue.ring = ring;
    queue.entries = size;
    queue.index = 0;
    queue.pass = 1;
}

// --- Writes

machine completion_writer::run() {
    for (;;) {
        while (pending_.empty()) co_await added_.changed();
        if (pending_.front().is_event) {
            events_.post(pending_.front().event, pending_.front().number);
        } else {
            co_await sequencer_.clocks(pending_.front().clocks, 1);
            const std::uint64_t ticket = co_await dma_.write_channel();
            co_await sequencer_.clocks(dma_.start_clocks);
            item& next = pending_.front();
            completion.report(next.since, sim::now(), next.note,
                              {{"number", next.number}, {"address", next.address}});
            dma_.start_write(ticket, next.address, std::move(next.bytes), next.note);
        }
        pending_.pop_front();
        if (pending_.empty()) drained.notify();
    }
}

}  // namespace vinic::nic
