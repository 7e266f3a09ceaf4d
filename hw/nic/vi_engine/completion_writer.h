// SPDX-License-Identifier: Apache-2.0
// Completions: the last words of the slot's control segment, then the entry of the completion queue, then the
// events that were armed. What a completion is, is decided at once; the writes follow in order, behind those
// of the payload.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "firmware/abi/vi_engine_card.h"
#include "hw/nic/vi_engine/event_writer.h"
#include "hw/nic/vi_engine/host_transfers.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/nic/vi_engine/vi_context.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class completion_writer : public sim::module {
public:
    completion_writer(const sc_core::sc_module_name& name, sequencer& order, host_transfers& dma,
                      event_writer& events);

    sim::parameter<std::uint64_t> status_clocks;
    sim::parameter<std::uint64_t> queue_clocks;

    sim::counter<sim::unit::events> completed{*this, "completed", "descriptors completed"};
    sim::counter<sim::unit::events> entries{*this, "entries", "entries of completion queues written"};

    sim::span_probe completion{*this, "completion", "a completion: from its decision to the bus job"};

    /// The oldest slot of this ring is done. What the host finds in its other words is what it posted.
    void complete(vi_context& of, bool receive, std::uint32_t length, std::uint32_t status);
    /// The same for the oldest receive descriptor, with the immediate data that came.
    void complete_immediately(vi_context& of, std::uint32_t immediate, std::uint32_t length,
                              std::uint32_t status);
    /// The same for a slot that the card may never have read.
    void complete_flushed(vi_context& of, bool receive);
    /// The oldest started send is done, as its record says; with these error bits.
    void complete_send(vi_context& of, std::uint32_t error = 0);

    /// Doorbells: an event is due for completions beyond `seen`.
    void arm(vi_context& of, bool receive, std::uint32_t seen);
    void arm_queue(std::uint32_t number, std::uint32_t seen);

    /// 0: the queue is none.
    std::uint32_t entries_of(std::uint32_t number) const { return queues_[number].entries; }
    void set_queue(std::uint32_t number, std::uint64_t ring, std::uint32_t entries);
    void remove_queue(std::uint32_t number) { queues_[number].entries = 0; }

    bool idle() const { return pending_.empty(); }
    condition drained;

private:
    struct completion_queue {
        std::uint64_t ring = 0;
        std::uint32_t entries = 0;  ///< 0: unused
        std::uint32_t index = 0;
        std::uint32_t pass = 1;
        std::uint32_t produced = 0;  ///< free running
        bool armed = false;
    };
    /// A write that waits for its turn, or an event behind those before it.
    struct item {
        std::uint64_t address = 0;
        std::vector<std::uint8_t> bytes;
        std::uint64_t clocks = 0;
        const char* note = "";
        std::uint32_t number = 0;
        bool is_event = false;
        abi::vi_engine::event_kind event{};
        sim::picoseconds since = 0;
    };
    void put(item what);
    void write_slot(const vi_context& of, const ring_context& ring, std::uint32_t offset, const void* words);
    void slot_completed(vi_context& of, bool receive);
    void write_entry(std::uint32_t number, std::uint32_t vi_and_queue);
    void post_event(abi::vi_engine::event_kind kind, std::uint32_t number);
    machine run();

    sequencer& sequencer_;
    host_transfers& dma_;
    event_writer& events_;
    std::vector<completion_queue> queues_;
    std::deque<item> pending_;
    condition added_;
    machine machine_;
};

}  // namespace vinic::nic
