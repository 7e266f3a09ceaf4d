// SPDX-License-Identifier: Apache-2.0
// The doorbell region of the card: a host write anywhere in it is stored as an (address, data) pair in a FIFO
// in SRAM and sets WAKE0 (facts lanai_pcix.md B5; firmware/abi/card_map.h). One store of 8 bytes is one slot
// (C4).
//
// The firmware frees an entry by storing doorbell_entry_free to its address word, and all of them before it
// enables the region. A doorbell that finds its entry not free is lost: the overflow counter, and ISR_MEM.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "firmware/abi/card_map.h"
#include "hw/nic/doorbell_fifo.h"
#include "hw/nic/special_registers.h"
#include "hw/nic/sram.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class doorbell_region : public sim::module, private doorbell_fifo::surroundings {
public:
    doorbell_region(const sc_core::sc_module_name& name, sram& memory, special_registers& registers);

    sim::parameter<std::string> impl;

    sim::counter<sim::unit::events> doorbells{*this, "doorbells", "doorbells stored"};
    sim::counter<sim::unit::events> overflows{*this, "overflows", "doorbells lost because the FIFO was full"};

    sim::value_probe depth{*this, "depth", 17,
                           "entries of the FIFO that hold a doorbell, when one is written"};
    sim::span_probe doorbell{*this, "doorbell", "a doorbell: from its arrival to its place in the FIFO"};

    /// From the pointer bank and the control register. Setting a base starts that queue at its first entry.
    void set_base(unsigned number, std::uint32_t address);
    void set_control(std::uint32_t control);
    std::uint64_t entries() const { return 512u << (control_ & abi::card_map::CONTROL_FIFO_SIZE_MASK); }
    /// One 32-bit write of the host; `done` when it is in the FIFO, or lost. The next one after that.
    void ring(std::uint32_t offset, std::uint32_t data, std::function<void()> done);
    void reset();

private:
    /// The doorbell that is on its way.
    struct arrival {
        sim::picoseconds at = 0;
        std::uint32_t offset = 0;
        std::uint32_t data = 0;
        std::uint32_t entry = 0;
        std::function<void()> done;
    };

    std::uint64_t sram_bytes() const override { return memory_.bytes; }
    bool is_free(std::uint32_t address) override;
    void store(std::uint32_t address, std::uint32_t offset, std::uint32_t data) override;
    void stored() override;
    void lost() override;
    std::uint64_t count_entries();
    void finish();

    sram& memory_;
    special_registers& registers_;
    std::unique_ptr<doorbell_fifo> fifo_;
    std::uint32_t control_ = 0;
    std::array<std::uint32_t, 4> bases_{};
    arrival arrival_;
    std::array<std::uint8_t, sizeof(abi::card_map::doorbell_entry)> entry_{};
};

}  // namespace vinic::nic
