// SPDX-License-Identifier: Apache-2.0
// The VIs on the card: their states, and the flush of what is posted when one leaves a connection.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "hw/nic/vi_engine/completion_writer.h"
#include "hw/nic/vi_engine/descriptor_fetch.h"
#include "hw/nic/vi_engine/host_transfers.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/nic/vi_engine/vi_context.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class vi_table : public sim::module {
public:
    vi_table(const sc_core::sc_module_name& name, sequencer& order, host_transfers& dma,
             descriptor_fetch& descriptors, completion_writer& completions);

    sim::parameter<std::uint64_t> flush_clocks;

    sim::counter<sim::unit::events> errors{*this, "errors", "VIs that entered the error state"};

    vi_context& at(std::uint32_t index) { return vis_[index]; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(vis_.size()); }
    const vi_context* find(std::uint32_t index) const { return index < vis_.size() ? &vis_[index] : nullptr; }
    std::uint64_t new_epoch() { return ++epochs_; }

    /// A VI has left its connection: who waits for something of it looks again.
    std::function<void()> stopped;

    /// The VI leaves the connected state; what it has begun is void.
    void stop(vi_context& of, abi::vi_engine::vi_state next);
    /// The same, and what is posted is flushed.
    void leave(vi_context& of, abi::vi_engine::vi_state next);
    void enter_error(vi_context& of);
    /// An error: stopped, nothing is flushed before somebody has decided what follows.
    void halt(vi_context& of);
    void flush(vi_context& of, bool sends, bool receives);

    static bool flushing(const vi_context& of) { return of.flush_sends || of.flush_receives; }
    condition flushed;

private:
    machine run();
    step<bool> flush_ring(vi_context& of, bool receive);

    sequencer& sequencer_;
    host_transfers& dma_;
    descriptor_fetch& descriptors_;
    completion_writer& completions_;
    std::vector<vi_context> vis_;
    std::uint64_t epochs_ = 0;
    std::deque<vi_context*> flushing_;
    condition asked_;
    machine machine_;
};

}  // namespace vinic::nic
