// SPDX-License-Identifier: Apache-2.0
// Connections, errors and sending again decided by firmware on an embedded core: the register block between
// the engine and that core (firmware/abi/xuni_control.h). What came about stands in a queue of events; a VI
// whose connection an error may end stands still until the core has said so. The core's orders are done one
// after the other.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "firmware/abi/xuni_control.h"
#include "hw/nic/core_port.h"
#include "hw/nic/lanai/processor.h"
#include "hw/nic/vi_engine/control.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/nic/vi_engine/vi_operations.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class control_core : public sim::module, public control, public lanai::device_port {
public:
    /// `others`: the core's other registers. Core and engine have one clock.
    control_core(const sc_core::sc_module_name& name, sequencer& order, vi_operations& vis,
                 lanai::device_port& others);

    sim::parameter<std::uint64_t> event_clocks;
    sim::parameter<std::uint64_t> event_places;
    sim::parameter<std::uint64_t> order_clocks;
    sim::parameter<std::uint64_t> order_places;

    sim::counter<sim::unit::events> events{*this, "events", "events for the core"};
    sim::counter<sim::unit::events> lost{*this, "lost", "events lost because too many waited"};
    sim::counter<sim::unit::events> orders{*this, "orders", "orders of the core"};

    sim::span_probe event{*this, "event", "an event: from its cause until the core has taken it"};

    void attach(core_port& core) { core_ = &core; }

    // control
    void raise(vi_context& of, abi::xuni::control_event what, std::uint32_t argument) override;
    step<std::uint32_t> command(const card_command& what) override;

    // lanai::device_port
    bool mapped(std::uint32_t address, unsigned bytes) const override;
    std::uint32_t load(std::uint32_t address, unsigned bytes, lanai::cycle at) override;
    void store(std::uint32_t address, unsigned bytes, std::uint32_t value, lanai::cycle at) override;
    std::optional<lanai::register_value> peek(std::uint32_t address, unsigned bytes,
                                              lanai::cycle at) const override;

private:
    struct waiting_event {
        abi::xuni::control_event what;
        std::uint32_t vi;
        std::uint32_t argument;
        sequencer::edge seen_from;
        sim::picoseconds since;
    };
    struct given_order {
        std::uint32_t what = 0;
        std::uint32_t vi = 0;
        std::uint32_t argument = 0;
        std::uint32_t argument2 = 0;
    };

    void post(abi::xuni::control_event what, std::uint32_t vi, std::uint32_t argument);
    lanai::register_value oldest(lanai::cycle at) const;
    std::uint32_t load_register(std::uint32_t offset, lanai::cycle at) const;
    void store_register(std::uint32_t offset, std::uint32_t value);
    void take_event();
    void give_order();
    machine obey();
    machine settle();
    step<bool> execute(given_order what);
    step<bool> on_command(std::uint32_t what);
    void on_connection(vi_context& of, const given_order& what);
    void check(bool holds, const char* text);

    sequencer& sequencer_;
    vi_operations& vis_;
    lanai::device_port& others_;
    core_port* core_ = nullptr;
    std::deque<waiting_event> events_;
    card_command command_;
    std::uint32_t answer_ = 0;
    bool asked_ = false;  ///< the command waits for its answer
    std::uint32_t queue_ = 0;
    given_order next_;  ///< as its operands are stored
    std::deque<given_order> orders_;
    std::uint64_t outstanding_ = 0;  ///< orders that are not done
    std::optional<given_order> settling_;
    condition answered_;
    condition ordered_;
    condition settles_;
    machine obey_machine_;
    machine settle_machine_;
};

}  // namespace vinic::nic
