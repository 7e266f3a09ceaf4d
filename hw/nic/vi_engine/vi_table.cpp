// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/vi_table.h"

namespace vinic::nic {

namespace card = abi::vi_engine;

vi_table::vi_table(const sc_core::sc_module_name& name, sequencer& order, host_transfers& dma,
                   descriptor_fetch& descriptors, completion_writer& completions)
    : module(name),
      flush_clocks(*this, {.name = "flush_clocks",
                           .unit = "clocks",
                           .value = 2,
                           .max = 1000,
                           .help = "taking a flushed descriptor off its ring, engine clocks"}),
      flushed(order),
      sequencer_(order),
      dma_(dma),
      descriptors_(descriptors),
      completions_(completions),
      vis_(card::max_vis),
      asked_(order),
      machine_(order.start(rank::flush, [this] { return run(); })) {
    for (std::uint32_t i = 0; i < vis_.size(); ++i) vis_[i].index = i;
}

void vi_table::stop(vi_context& of, card::vi_state next) {
    of.state = next;
    of.halted = false;
    of.epoch = of.send_epoch = new_epoch();
    of.sending = {};
    of.go_back = false;
    of.receiving = {.what = incoming_message::kind::refused};
    of.acknowledgements = 0;
    of.urgent = false;
    stopped();
}

void vi_table::leave(vi_context& of, card::vi_state next) {
    stop(of, next);
    flush(of, true, true);
}

void vi_table::enter_error(vi_context& of) {
    errors.add();
    leave(of, card::vi_error);
}

void vi_table::halt(vi_context& of) {
    stop(of, card::vi_error);
    of.halted = true;
}

void vi_table::flush(vi_context& of, bool sends, bool receives) {
    if (of.halted) return;
    if (!flushing(of)) flushing_.push_back(&of);
    of.flush_sends |= sends;
    of.flush_receives |= receives;
    asked_.notify();
}

machine vi_table::run() {
    for (;;) {
        while (flushing_.empty()) co_await asked_.changed();
        vi_context& of = *flushing_.front();
        flushing_.pop_front();
        // Nothing reads the buffers of flushed sends, or writes to those of receives, any more.
        co_await dma_.quiet();
        while (flushing(of)) {
            const bool receive = !of.flush_sends;
            co_await flush_ring(of, receive);
            (receive ? of.flush_receives : of.flush_sends) = false;
        }
        flushed.notify();
    }
}

step<bool> vi_table::flush_ring(vi_context& of, bool receive) {
    ring_context& ring = receive ? of.receive : of.send;
    while (ring.completed != ring.posted) {
        co_await sequencer_.clocks(flush_clocks);
        completions_.complete_flushed(of, receive);
    }
    if (!receive) of.records.clear();
    descriptors_.forget(ring);
    co_return true;
}

}  // namespace vinic::nic
