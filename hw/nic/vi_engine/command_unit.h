// SPDX-License-Identifier: Apache-2.0
// Registers and commands of the driver (firmware/abi/vi_engine_card.h), one command at a time. A command that
// takes something away is done when nothing under way can touch it any more.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>

#include "firmware/abi/vi_engine_card.h"
#include "hw/nic/vi_engine/completion_writer.h"
#include "hw/nic/vi_engine/descriptor_fetch.h"
#include "hw/nic/vi_engine/doorbell_decoder.h"
#include "hw/nic/vi_engine/event_writer.h"
#include "hw/nic/vi_engine/framing.h"
#include "hw/nic/vi_engine/host_transfers.h"
#include "hw/nic/vi_engine/latched.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/packet_maker.h"
#include "hw/nic/vi_engine/reliability.h"
#include "hw/nic/vi_engine/send_engine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/nic/vi_engine/translation.h"
#include "hw/nic/vi_engine/vi_table.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

/// The blocks that commands speak to.
struct commanded_blocks {
    doorbell_decoder& doorbells;
    host_transfers& dma;
    translation& pages;
    descriptor_fetch& descriptors;
    event_writer& events;
    completion_writer& completions;
    vi_table& vis;
    framing& frames;
    send_engine& out;
    reliability& reliable;
    packet_maker& maker;
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
    using words = std::array<std::uint32_t, abi::vi_engine::argument_words>;
    struct request {
        std::uint32_t op;
        words arguments;
    };
    template <typename T>
    static T as(const words& from) {
        T made;
        std::memcpy(&made, from.data(), sizeof made);
        return made;
    }

    machine run();
    step<std::uint32_t> execute(request what);
    std::uint32_t create_vi(const abi::vi_engine::create_vi_arguments& a);
    std::uint32_t set_vi(const abi::vi_engine::create_vi_arguments& a);
    step<std::uint32_t> connect_vi(abi::vi_engine::connect_vi_arguments a);
    step<std::uint32_t> end_vi(vi_context& of, abi::vi_engine::vi_state next);
    step<std::uint32_t> disconnect_vi(std::uint32_t number, std::uint32_t next, bool keep);
    std::uint32_t set_region(const abi::vi_engine::region_arguments& a);
    step<std::uint32_t> set_queue(std::uint32_t number, std::uint64_t ring, std::uint32_t entries);
    std::uint32_t destroy_queue(std::uint32_t number);
    step<std::uint32_t> send_control(abi::vi_engine::send_control_arguments a);
    step<bool> settled();
    void set_attributes(vi_context& of, const abi::vi_engine::create_vi_arguments& a);
    bool good_queue(std::uint32_t number) const;

    sequencer& sequencer_;
    commanded_blocks to_;
    words arguments_{};
    words settings_{};  ///< registers below `command`
    std::deque<request> requests_;
    latched<std::uint32_t> done_;
    latched<std::uint32_t> status_;
    condition asked_;
    machine machine_;
};

}  // namespace vinic::nic
