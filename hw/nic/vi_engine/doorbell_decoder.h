// SPDX-License-Identifier: Apache-2.0
// The doorbell pages of the card (firmware/abi/vi_engine_card.h): a store into a page goes into the queue of
// the VI, or completion queue, whose page it is; nobody has to look which one rings. A store that finds its
// queue full is not taken: the bus gets a retry and the host bridge repeats it, so no doorbell is lost, and
// later stores of that host wait behind it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "hw/nic/occupancy.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class doorbell_decoder : public sim::module {
public:
    /// A doorbell: the word of its page, and what was stored there.
    struct bell {
        std::uint32_t word = 0;
        std::uint32_t data = 0;
        sim::picoseconds arrived = 0;
    };

    doorbell_decoder(const sc_core::sc_module_name& name, sequencer& order, std::uint32_t pages);

    sim::parameter<std::uint64_t> queue_depth;
    sim::parameter<std::uint64_t> decode_clocks;

    sim::counter<sim::unit::events> doorbells{*this, "doorbells", "doorbells taken"};
    sim::counter<sim::unit::events> refused{*this, "refused",
                                            "doorbells retried because their queue was full"};

    sim::value_probe depth{*this, "depth", 16, "doorbells that wait, in all queues"};
    sim::span_probe doorbell{*this, "doorbell", "a doorbell: from its last data phase to its effect"};

    /// What a doorbell is called in traces, and what it does.
    std::function<const char*(std::uint32_t page, std::uint32_t word)> called;
    std::function<void(std::uint32_t page, std::uint32_t word, std::uint32_t data)> effect;

    /// On the bus: whether the queue of this page is full; asked before a store is taken.
    bool full(std::uint32_t page);
    /// On the bus: a store to this page has been taken.
    void posted(std::uint32_t page) { queues_[page].held.add(1); }
    /// In the engine: it goes into its queue.
    void ring(std::uint32_t page, const bell& what);
    /// Nothing waits.
    bool idle() const { return order_.empty() && !busy_; }
    condition emptied;

private:
    struct queue {
        std::deque<bell> bells;
        occupancy held;
    };
    machine run();

    sequencer& sequencer_;
    std::vector<queue> queues_;
    std::deque<std::uint32_t> order_;  ///< pages, as their doorbells came
    bool busy_ = false;
    condition rung_;
    machine machine_;
};

}  // namespace vinic::nic
