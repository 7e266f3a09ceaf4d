// SPDX-License-Identifier: Apache-2.0
// The LANai core in the simulation kernel: lets the model (lanai::core) run ahead in slices or the RTL go
// clock by clock, executes register accesses on their edges, and turns traps into reports (DESIGN.md, rule 2;
// hw/nic/lanai/processor.h has the timing).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/nic/card_clock.h"
#include "hw/nic/chip.h"
#include "hw/nic/core_port.h"
#include "hw/nic/lanai/processor.h"
#include "hw/nic/sram.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"

namespace vinic::nic {

/// Where in the firmware's source a pc lies.
struct code_location {
    std::string function;
    std::uint32_t offset = 0;  // in the function
    std::string file;          // empty without line information
    unsigned line = 0;
};

/// The function that each word of the firmware belongs to.
struct code_regions {
    std::vector<std::uint16_t> of_word;   // index in names, by address / 4; 0: none
    std::vector<const char*> names{"-"};  // live as long as their symbol_source
};

/// The symbols of the firmware image, for reports only.
class symbol_source {
public:
    virtual ~symbol_source() = default;
    virtual std::optional<code_location> locate(std::uint32_t pc) const = 0;
    virtual const code_regions& regions() const = 0;
};

/// A number that the core keeps itself: as of its last sync, so exact after finish().
class core_statistic : public sim::statistic {
public:
    core_statistic(const sim::module& owner, const std::string& name, const std::string& unit,
                   const std::string& help, const lanai::processor& of,
                   std::uint64_t lanai::core_counters::*what)
        : statistic(owner, name, unit, help), of_(of), what_(what) {}
    std::uint64_t value() const { return of_.counters().*what_; }
    sim::tally counted(sim::picoseconds) const override { return {value()}; }

private:
    const lanai::processor& of_;
    std::uint64_t lanai::core_counters::*what_;
};

class lanai_core : public sim::module, public core_port {
public:
    lanai_core(const sc_core::sc_module_name& name, const card_clock& clock, sram& memory,
               lanai::device_port& devices);

    sim::parameter<std::string> impl;
    sim::parameter<bool> lockstep;
    sim::parameter<std::uint64_t> slice_min_cycles;
    sim::parameter<std::uint64_t> slice_max_cycles;
    sim::parameter<std::uint64_t> step_cycles;
    sim::parameter<std::uint64_t> load_slots;
    sim::parameter<std::uint64_t> word_store_slots;
    sim::parameter<std::uint64_t> narrow_store_slots;
    sim::parameter<std::uint64_t> load_use_cycles;
    sim::parameter<std::uint64_t> register_load_cycles;
    sim::parameter<std::uint64_t> register_store_cycles;
    sim::parameter<std::uint64_t> stack_limit_bytes;

private:
    const card_clock& clock_;
    sram& memory_;
    lanai::device_port& devices_;
    std::unique_ptr<lanai::processor> core_;

public:
    core_statistic retired;
    core_statistic load_use_wait;
    core_statistic slot_wait;
    core_statistic register_wait;

    sim::value_probe state;     // 0 in reset, 1 running
    sim::value_probe function;  // when an instruction of another one issues
    // Of each instruction in the cycle of its issue; watching these costs speed, not accuracy.
    sim::value_probe pc;
    sim::value_probe instruction;
    sim::value_probe stall;

    /// What the core and the rest of its card say to each other: "store" to a register; "seen", the first
    /// load of a word of the SRAM that another port wrote; "look", a load of a register that gives another
    /// value than before or comes after one of the others.
    sim::span_probe exchange;

    /// Until release_reset() the core does nothing. It is in reset when built.
    void assert_reset();
    /// Registers zero, the first instruction issues in the cycle that is not over.
    void release_reset();
    bool in_reset() const { return in_reset_; }

    /// Exact up to now: at the end of the run, and before anybody looks at counters or state.
    void finish() { sync(); }
    /// Whether it stands in a loop that ends only when somebody else does something; found anew, so that the
    /// answer is the same in every mode. Only when nothing is under way on the card.
    bool idles_for_ever() const;
    /// Takes its events out of the kernel, so that those left show who has more to do, until `finish`.
    void hold() {
        finish();
        step_.cancel();
    }

    /// Lowest address that the stack pointer may take from now on; 0: any.
    void set_stack_limit(std::uint32_t address);
    void use_symbols(const symbol_source* symbols);
    lanai::processor& core() { return *core_; }
    std::uint64_t memory_bytes() const { return memory_.bytes; }
    /// Each committed instruction, with the time of its issue; `complete` as in lanai::processor. Several may
    /// listen.
    void on_instruction(std::function<void(sim::picoseconds, const lanai::instruction_record&)> callback,
                        bool complete);

    // core_port
    void sync() override;
    void sync_for_read(std::uint32_t address, std::size_t bytes) override;
    void sync_for_write(std::uint32_t address, std::size_t bytes) override;
    void memory_written(std::uint32_t address, std::size_t bytes) override;
    void set_slot_pattern(lanai::sram_port port, const lanai::slot_pattern& pattern, cycle from) override;
    const lanai::slot_schedule& slots() const override { return core_->slots(); }
    [[noreturn]] void fail(const std::string& what) override;

    void end_of_elaboration() override;

private:
    lanai::core_config configuration() const;
    std::unique_ptr<lanai::processor> make_core() const;
    std::vector<std::function<void(sim::picoseconds, const lanai::instruction_record&)>>
        instruction_listeners_;
    void exchanged(const lanai::exchange_record& r);
    void show(const lanai::instruction_record& r);
    void step();
    void learn(cycle at);
    cycle slice(cycle from) const;
    lanai::run_result run_ahead(cycle from);
    [[noreturn]] void report_trap(const lanai::trap_report& trap);
    std::string place(std::uint32_t pc) const;

    const symbol_source* symbols_ = nullptr;
    sim::timer step_{[this] { step(); }};
    bool in_reset_ = true;
    bool executing_ = false;      // a register access: the core stands exactly there
    bool stands_before_ = false;  // one that is due when step_ is
    cycle disturbed_at_ = 0;      // when somebody last synced the core
    cycle mean_gap_ = 0;
    // Registers and their values, since the last store or word seen.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> looked_at_;
};

}  // namespace vinic::nic
