// SPDX-License-Identifier: Apache-2.0
// Descriptors: read from the rings in host memory, several in one read where several are posted, ahead of
// their use. Different rings' fetches may be under way at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

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

class descriptor_fetch : public sim::module {
public:
    descriptor_fetch(const sc_core::sc_module_name& name, sequencer& order, host_transfers& dma);

    sim::parameter<std::uint64_t> prefetch_descriptors;
    sim::parameter<std::uint64_t> fetches;
    sim::parameter<std::uint64_t> request_clocks;
    sim::parameter<std::uint64_t> decode_clocks;

    sim::counter<sim::unit::transactions> reads{*this, "reads", "reads of descriptors"};
    sim::counter<sim::unit::events> descriptors{*this, "descriptors", "descriptors read"};

    sim::span_probe fetch{*this, "fetch", "descriptors: from the request to their place in the card"};

    /// Descriptors of this ring stand in the card.
    std::function<void(vi_context& of, bool receive)> here;

    /// Fetches what is posted and has room, unless a fetch is under way or asked for.
    void want(vi_context& of, bool receive);
    /// What is fetched of this ring, or on its way, is not valid any more.
    void forget(ring_context& ring) {
        ring.next = ring.fetched = ring.completed;
        ring.wanted = 0;
    }
    /// A fetch has ended.
    condition ended;

private:
    struct request {
        vi_context* of;
        bool receive;
    };
    machine run();
    std::uint32_t count_of(const ring_context& ring) const;

    sequencer& sequencer_;
    host_transfers& dma_;
    std::deque<request> requests_;
    condition asked_;
    std::vector<machine> machines_;
};

}  // namespace vinic::nic
