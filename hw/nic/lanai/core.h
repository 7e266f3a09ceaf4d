// SPDX-License-Identifier: Apache-2.0
// The LANai core: executes firmware ahead of the simulation kernel, exactly (DESIGN.md, rule 2), with the
// timing and by the protocol of processor.h. No SystemC here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hw/nic/lanai/processor.h"

namespace vinic::lanai {

class core final : public processor {
public:
    // `sram` is big-endian and belongs to the caller.
    core(const core_config& config, std::span<std::uint8_t> sram, device_port& devices);
    ~core() override;
    core(const core&) = delete;
    core& operator=(const core&) = delete;

    cycle cycle_of(slot s) const { return s / slots_per_cycle_; }
    slot first_slot(cycle c) const { return c * slots_per_cycle_; }

    // processor
    using processor::run_ahead;
    const core_config& config() const override;
    void reset(cycle at) override;
    void set_stack_limit(std::uint32_t address) override;
    run_result run_ahead(cycle enough, cycle limit) override;
    void sync(cycle now) override;
    void execute_device_access(cycle now) override;
    std::optional<trap_report> pending_trap() const override;
    bool loaded(std::uint32_t address, std::size_t bytes) const override;
    bool stored(std::uint32_t address, std::size_t bytes) const override;
    void invalidate_code(std::uint32_t address, std::size_t bytes) override;
    void written_by_port(std::uint32_t address, std::size_t bytes) override;
    void set_slot_pattern(sram_port port, const slot_pattern& pattern, cycle now) override;
    const slot_schedule& slots() const override;
    const core_state& state() const override;
    const core_counters& counters() const override;
    void on_instruction(std::function<void(const instruction_record&)> callback, bool complete) override;
    void on_exchange(std::function<void(const exchange_record&)> callback) override;
    // Does not slow the core down.
    void on_region(std::vector<std::uint16_t> regions,
                   std::function<void(const region_record&)> callback) override;

    bool idle() const;  // parked in a proven idle loop

    // As invalidate_code().
    void write_sram(std::uint32_t address, std::span<const std::uint8_t> bytes);
    void set_state(const core_state& state);  // for tests and tools

    // A callback per committed instruction switches idle skipping off, so that the trace is complete.
    void on_retire(std::function<void(const retire_record&)> callback);

    struct implementation;  // internal to hw/nic/lanai

private:
    unsigned slots_per_cycle_;
    std::unique_ptr<implementation> impl_;
};

}  // namespace vinic::lanai
