// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "host_driver/card_driver.h"
#include "hw/host/process.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::driver {

/// What the drivers of cards that do VI themselves have in common: the card takes commands one by one,
/// reports events in a ring in host memory, and sends again by itself.
class vi_card_driver : public sim::module, public card_driver {
public:
    sim::parameter<std::uint64_t> ring_slots;
    sim::parameter<std::uint64_t> queue_entries_max;
    sim::parameter<std::uint64_t> page_table_entries;
    sim::parameter<std::uint64_t> event_entries;
    sim::parameter<std::uint64_t> retransmit_us;
    sim::parameter<std::uint64_t> retransmit_windows;
    sim::parameter<std::uint64_t> retransmit_tries;
    sim::parameter<std::uint64_t> command_poll_clocks;
    sim::parameter<std::uint64_t> command_limit_us;
    sim::parameter<std::uint64_t> event_clocks;

    sim::counter<sim::unit::events> commands;
    sim::counter<sim::unit::events> events;
    sim::counter<sim::unit::events> interrupts;

protected:
    struct defaults {
        std::uint64_t command_poll_clocks;
    };
    vi_card_driver(const sc_core::sc_module_name& name, const defaults& of);

    /// Looks until `done`; a card that never is ends the run.
    void wait_for_command(host::process& on, unsigned op, const std::function<bool()>& done);
};

}  // namespace vinic::driver
