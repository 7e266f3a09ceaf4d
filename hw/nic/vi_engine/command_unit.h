// SPDX-License-Identifier: Apache-2.0
// Registers and commands of the driver (firmware/abi/vi_engine_card.h), one command at a time. A command that
// takes something away is done when nothing under way can touch it any more. Regions, completion queues and
// the card's own registers are its business; commands on VIs it passes on (control.h).
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "firmware/abi/vi_engine_card.h"
#include "hw/nic/vi_engine/completion_writer.h"
#include "hw/nic/vi_engine/control.h"
#include "hw/nic/vi_engine/doorbell_decoder.h"
#include "hw/nic/vi_engine/embedded_core.h"
#include "hw/nic/vi_engine/event_writer.h"
#include "hw/nic/vi_engine/framing.h"
#include "hw/nic/vi_engine/host_transfers.h"
#include "hw/nic/vi_engine/latched.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/reliability.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/nic/vi_engine/translation.h"
#include "hw/nic/vi_engine/vi_operations.h"
#include "hw/nic/vi_engine/vi_table.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

/// The blocks that commands and registers speak to.
struct commanded_blocks {
    doorbell_decoder& doorbells;
    host_transfers& dma;
    translation& pages;
    event_writer& events;
    completion_writer& completions;
    vi_table& vis;
    framing& frames;
    reliability& reliable;
    vi_operations& operations;
    control& decides;     ///< commands on VIs
    embedded_core* core;  ///< null: there is none
};

class command_unit : public sim::module {
public:
    command_unit(const sc_core::sc_module_name& name, sequencer& order, const commanded_blocks& blocks);

    sim::parameter<std::uint64_t> command_clocks;

    sim::counter<sim::unit::events> commands{*this, "commands", "commands done"};

    /// A word stored to BAR 0 outside of the doorbell pages, and what a register shows.
    void store(std::uint32_t offset, std::uint32_t value);
    std::uint32_t load(std::uint32_t offset) const;

private:
    machine run();
    step<std::uint32_t> execute(const card_command& what);
    std::uint32_t set_region(const abi::vi_engine::region_arguments& a);
    step<std::uint32_t> clear_region(std::uint32_t number);
    step<std::uint32_t> set_queue(std::uint32_t number, std::uint64_t ring, std::uint32_t entries);
    std::uint32_t destroy_queue(std::uint32_t number);
    step<std::uint32_t> quiesce();

    sequencer& sequencer_;
    commanded_blocks to_;
    card_command next_;                                                     ///< as its arguments are stored
    std::array<std::uint32_t, abi::vi_engine::argument_words> settings_{};  ///< registers below `command`
    std::deque<card_command> requests_;
    latched<std::uint32_t> done_;
    latched<std::uint32_t> status_;
    condition asked_;
    machine machine_;
};

}  // namespace vinic::nic
