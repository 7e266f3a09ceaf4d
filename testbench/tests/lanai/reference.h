// SPDX-License-Identifier: Apache-2.0
// A second LANai interpreter, as plain as can be: decodes every time, straight from the bits of
// facts/lanai_pcix.md A3 to A7, one instruction at a time, one SRAM slot at a time. It shares no code with
// hw/nic/lanai but the interface of devices.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hw/nic/lanai/core.h"

namespace vinic::lanai::testing {

class reference_core {
public:
    reference_core(const core_config& config, std::vector<std::uint8_t>& sram, device_port& devices);

    // Executes every instruction that issues before `now`, unless a trap stops it.
    void run_until(cycle now);
    // One instruction; false when it would issue at or after `limit`, or traps.
    bool step(cycle limit);
    void set_slot_pattern(sram_port port, const slot_pattern& pattern, cycle now);

    const core_state& state() const { return s_; }
    core_state& state() { return s_; }
    std::optional<trap_kind> trap() const { return trap_; }
    cycle trap_at() const { return trap_at_; }
    std::uint64_t retired() const { return retired_; }
    std::uint64_t load_use() const { return load_use_; }
    std::uint64_t slot_wait() const { return slot_wait_; }
    std::uint64_t register_wait() const { return register_wait_; }
    const std::vector<std::uint32_t>& path() const { return path_; }

private:
    struct operands;
    std::uint32_t reg(unsigned n) const {
        return n == 0 ? 0 : n == 1 ? 0xFFFFFFFFu : n == 2 ? s_.pc : s_.registers[n];
    }
    bool condition_holds(unsigned value) const;
    std::uint32_t operate(unsigned bbb, bool arithmetic, std::uint32_t a, std::uint32_t b, bool set_flags);
    std::uint32_t word_at(std::uint32_t address) const;
    std::uint32_t memory(std::uint32_t address, unsigned bytes) const;
    bool stop(trap_kind kind, cycle at);
    bool decide_slot();
    slot free_slot(slot from);

    const core_config config_;
    std::vector<std::uint8_t>& sram_;
    device_port& devices_;
    core_state s_;
    std::optional<trap_kind> trap_;
    cycle trap_at_ = 0;
    std::uint64_t retired_ = 0, load_use_ = 0, slot_wait_ = 0, register_wait_ = 0;
    std::vector<std::uint32_t> path_;
    std::array<slot_pattern, sram_ports> patterns_{};
    std::array<std::uint64_t, sram_ports> served_{};
    slot decided_ = 0;
};

}  // namespace vinic::lanai::testing
