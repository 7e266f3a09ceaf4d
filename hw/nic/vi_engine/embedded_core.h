// SPDX-License-Identifier: Apache-2.0
// A LANai core within a VI engine, for its firmware (control_core.h): the wiring of its blocks. They are
// modules of the card, named as on a programmable one. Built in reset; the driver loads the firmware and
// starts the core through BAR 0.
#pragma once

#include <cstdint>

#include "hw/nic/card_clock.h"
#include "hw/nic/lanai_core.h"
#include "hw/nic/special_registers.h"
#include "hw/nic/sram.h"
#include "hw/nic/vi_engine/control_core.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/nic/vi_engine/vi_operations.h"

namespace vinic::nic {

class embedded_core {
public:
    /// Of the card that is being built.
    embedded_core(sequencer& order, vi_operations& vis);

    const card_clock clock;
    sram memory;                  // nic.sram
    special_registers registers;  // nic.registers
    control_core control;         // nic.control
    lanai_core lanai;             // nic.lanai

    /// A word of BAR 0, little-endian as all of it, into the memory.
    void store(std::uint32_t address, std::uint32_t word);
    void run(bool on) { on ? lanai.release_reset() : lanai.assert_reset(); }
};

}  // namespace vinic::nic
