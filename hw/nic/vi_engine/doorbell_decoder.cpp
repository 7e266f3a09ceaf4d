// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/doorbell_decoder.h"

namespace vinic::nic {

namespace {

constexpr std::uint64_t context_accesses = 2;  // read, write back

}  // namespace

doorbell_decoder::doorbell_decoder(const sc_core::sc_module_name& name, sequencer& order, std::uint32_t pages)
    : module(name),
      queue_depth(*this, {.name = "queue_depth",
                          .unit = "doorbells",
                          .value = 8,
                          .min = 1,
                          .max = 4096,
                          .help = "length of a VI's doorbell queue; a store that finds it full is retried"}),
      decode_clocks(*this, {.name = "decode_clocks",
                            .unit = "clocks",
                            .value = 2,
                            .max = 1000,
                            .help = "from a doorbell's arrival to its effect, engine clocks"}),
      emptied(order),
      sequencer_(order),
      queues_(pages),
      rung_(order),
      machine_(order.start(rank::doorbells, [this] { return run(); })) {}

bool doorbell_decoder::full(std::uint32_t page) {
    const bool is_full = queues_[page].held.seen() >= queue_depth;
    if (is_full) refused.add();
    return is_full;
}

void doorbell_decoder::ring(std::uint32_t page, const bell& what) {
    queues_[page].bells.push_back(what);
    order_.push_back(page);
    depth.set(order_.size());
    rung_.notify();
}

machine doorbell_decoder::run() {
    for (;;) {
        while (order_.empty()) co_await rung_.changed();
        busy_ = true;
        const std::uint32_t page = order_.front();
        co_await sequencer_.clocks(decode_clocks, context_accesses);
        order_.pop_front();
        queue& of = queues_[page];
        const bell next = of.bells.front();
        of.bells.pop_front();
        of.held.free(1);
        doorbells.add();
        depth.set(order_.size());
        if (doorbell.watched())
            doorbell.report(next.arrived, sim::now(), called(page, next.word),
                            {{"page", page}, {"data", next.data}});
        effect(page, next.word, next.data);
        busy_ = false;
        if (order_.empty()) emptied.notify();
    }
}

}  // namespace vinic::nic
