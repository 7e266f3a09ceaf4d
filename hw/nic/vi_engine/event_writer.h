// SPDX-License-Identifier: Apache-2.0
// Events for the kernel agent: entries of a ring in host memory (firmware/abi/vi_engine_card.h), each
// followed by an interrupt. What finds no room waits here; a control packet does not wait: the network may
// lose those.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>

#include "firmware/abi/vi_engine_card.h"
#include "hw/nic/vi_engine/host_transfers.h"
#include "hw/nic/vi_engine/latched.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

/// The errors of facts vipl.md 1.3 that the card raises.
enum class vip_error : std::uint32_t {
    post_descriptor = 0,
    connection_lost = 1,
    receive_queue_empty = 2,
    vi_overrun = 3,
    rdma_write_protection = 4,
    rdma_write_abort = 6
};

class event_writer : public sim::module {
public:
    event_writer(const sc_core::sc_module_name& name, sequencer& order, host_transfers& dma);

    sim::parameter<std::uint64_t> event_clocks;
    sim::parameter<std::uint64_t> waiting_max;

    sim::counter<sim::unit::events> events{*this, "events", "events written"};
    sim::counter<sim::unit::events> lost{*this, "lost", "events lost because too many waited"};

    sim::span_probe event{*this, "event", "an event: from its cause to the interrupt"};

    /// Level of the host interrupt.
    std::function<void(bool asserted)> interrupt;

    void set_ring(std::uint64_t address, std::uint32_t entries);
    /// The kernel agent has taken so many, free running.
    void set_taken(std::uint32_t count);
    void clear_interrupt();
    std::uint32_t pending() const { return pending_.seen(); }

    void post(abi::vi_engine::event_kind kind, std::uint32_t vi_or_queue, std::uint32_t argument = 0);
    void post_error(std::uint32_t vi, vip_error code) {
        post(abi::vi_engine::event_error, vi, static_cast<std::uint32_t>(code));
    }
    void post_control(std::span<const std::uint8_t> payload);

private:
    struct waiting {
        abi::vi_engine::event_entry entry;
        sim::picoseconds since;
    };
    bool room() const { return written_ - taken_ < entries_; }
    machine run();
    void in_memory(sim::picoseconds since);

    sequencer& sequencer_;
    host_transfers& dma_;
    std::uint64_t ring_ = 0;
    std::uint32_t entries_ = 0;
    std::uint32_t written_ = 0;
    std::uint32_t taken_ = 0;
    std::deque<waiting> waiting_;
    latched<std::uint32_t> pending_;
    condition changed_;
    machine machine_;
};

}  // namespace vinic::nic
