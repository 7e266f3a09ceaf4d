// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/lanai_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hw/nic/lanai/core.h"
#include "hw/rtl/lanai/lanai_block.h"
#include "hw/sim/error.h"
#include "hw/sim/simulation.h"

namespace vinic::nic {

namespace {

/// Longer than any way into an idle loop that is worth waiting for.
constexpr cycle trial_cycles = 1 << 20;

constexpr const char* core_states[] = {"reset", "running"};

enum class stall_cause : std::uint8_t { none, load_use, slot, special_register };
constexpr const char* stall_causes[] = {"issue", "load use", "memory slot", "register"};

sim::parameter_spec<std::uint64_t> clocks(const char* name, std::uint64_t value, std::uint64_t min,
                                          std::uint64_t max, const char* help, const char* source) {
    return {.name = name,
            .unit = "clocks",
            .value = value,
            .min = min,
            .max = max,
            .help = help,
            .source = source};
}

}  // namespace

lanai_core::lanai_core(const sc_core::sc_module_name& name, const card_clock& clock, sram& memory,
                       lanai::device_port& devices)
    : module(name),
      impl(*this, {.name = "impl",
                   .value = "model",
                   .choices = {"model", "rtl"},
                   .help = "who executes the firmware: the instruction-set model, or hw/rtl/lanai",
                   .source = "both do the same in the same clock"}),
      lockstep(*this, {.name = "lockstep",
                       .value = false,
                       .help = "one instruction at a time, no run-ahead, as RTL does always; the results are "
                               "the same"}),
      slice_min_cycles(
          *this, clocks("slice_min_cycles", 96, 1, 1u << 20,
                        "shortest run ahead of the kernel; changes no result", "speed of the simulator")),
      slice_max_cycles(
          *this, clocks("slice_max_cycles", 1u << 16, 1, 1u << 24,
                        "longest run ahead of the kernel; changes no result", "speed of the simulator")),
      step_cycles(*this, clocks("step_cycles", 32, 1, 4096,
                                "work of the simulator between two slices, in cycles of the core that it "
                                "could have run instead; "
                                "changes no result",
                                "speed of the simulator")),
      load_slots(*this, clocks("load_slots", 1, 1, 4, "SRAM slots of a load", "facts/lanai_pcix.md A7")),
      word_store_slots(
          *this, clocks("word_store_slots", 1, 1, 4, "SRAM slots of a word store", "facts/lanai_pcix.md A7")),
      narrow_store_slots(*this, clocks("narrow_store_slots", 2, 1, 4,
                                       "SRAM slots of a byte or half-word store: read, modify, write",
                                       "facts/lanai_pcix.md A7")),
      load_use_cycles(
          *this, clocks("load_use_cycles", 1, 0, 4, "wait of an instruction that uses the load before it",
                        "facts/lanai_pcix.md A7")),
      register_load_cycles(*this, clocks("register_load_cycles", 0, 0, 64,
                                         "extra cycles of a load from a special register", "assumed")),
      register_store_cycles(*this, clocks("register_store_cycles", 0, 0, 64,
                                          "extra cycles of a store to a special register", "assumed")),
      stack_limit_bytes(*this,
                        {.name = "stack_limit_bytes",
                         .unit = "bytes",
                         .value = 0,
                         .min = 0,
                         .max = 8u << 20,
                         .help = "lowest address that the stack may reach, where nobody set another; 0: any",
                         .source = "check of the simulator"}),
      clock_(clock),
      memory_(memory),
      devices_(devices),
      core_(make_core()),
      retired(*this, "retired", "instructions", "instructions executed", *core_,
              &lanai::core_counters::retired),
      load_use_wait(*this, "load_use_wait", "clocks", "waits for the load of the instruction before", *core_,
                    &lanai::core_counters::load_use_cycles),
      slot_wait(*this, "slot_wait", "clocks", "waits for a slot of the SRAM", *core_,
                &lanai::core_counters::slot_cycles),
      register_wait(*this, "register_wait", "clocks", "waits for special registers", *core_,
                    &lanai::core_counters::register_cycles),
      state(*this, "state", 1, "reset or running", core_states),
      function(*this, "function", 16, "function of the firmware that the instruction belongs to"),
      pc(*this, "pc", 32, "address of each instruction, in the cycle of its issue"),
      instruction(*this, "instruction", 32, "word of each instruction, in the cycle of its issue"),
      stall(*this, "stall", 2, "what the core waits for, cycle by cycle", stall_causes),
      exchange(*this, "exchange", "loads and stores between the core and the rest of its card") {
    if (slice_max_cycles < slice_min_cycles)
        throw sim::input_error("{}.slice_max_cycles is below slice_min_cycles", this->name());
    sim::simulation::current().on_commit([this] { finish(); });
}

lanai::core_config lanai_core::configuration() const {
    lanai::core_config c;
    c.slots_per_cycle = static_cast<unsigned>(memory_.slots_per_cycle);
    c.slot_bytes = static_cast<unsigned>(memory_.slot_bytes);
    c.load_slots = static_cast<unsigned>(load_slots);
    c.word_store_slots = static_cast<unsigned>(word_store_slots);
    c.narrow_store_slots = static_cast<unsigned>(narrow_store_slots);
    c.load_use_cycles = static_cast<unsigned>(load_use_cycles);
    c.register_load_cycles = static_cast<unsigned>(register_load_cycles);
    c.register_store_cycles = static_cast<unsigned>(register_store_cycles);
    c.stack_limit = static_cast<std::uint32_t>(stack_limit_bytes);
    c.lockstep = lockstep;
    return c;
}

std::unique_ptr<lanai::processor> lanai_core::make_core() const {
    if (impl.get() == "rtl")
        return rtl::make_lanai(configuration(), memory_.contents(), devices_, clock_.domain());
    return std::make_unique<lanai::core>(configuration(), memory_.contents(), devices_);
}

void lanai_core::end_of_elaboration() {
    state.set(0, 0);
    if (exchange.watched()) core_->on_exchange([this](const lanai::exchange_record& r) { exchanged(r); });
    function.set(0, 0);
    if (function.watched() && symbols_)
        core_->on_region(symbols_->regions().of_word, [this](const lanai::region_record& r) {
            function.set(clock_.time_of(r.issue, phase::issue), r.region);
        });
    if (pc.watched() || instruction.watched() || stall.watched())
        on_instruction([this](sim::picoseconds, const lanai::instruction_record& r) { show(r); }, true);
}

void lanai_core::use_symbols(const symbol_source* symbols) {
    symbols_ = symbols;
    function.name_states(symbols->regions().names);
}

void lanai_core::show(const lanai::instruction_record& r) {
    const auto at = [&](cycle c) { return clock_.time_of(c, phase::issue); };
    const auto waits = [&](cycle from, cycle cycles, stall_cause why) {
        if (cycles != 0) stall.set(at(from), static_cast<std::uint64_t>(why));
    };
    pc.set(at(r.issue), r.pc);
    instruction.set(at(r.issue), r.word);
    waits(r.issue - r.load_use, r.load_use, stall_cause::load_use);
    waits(r.issue, 1, stall_cause::none);
    waits(r.issue + 1, r.slot_wait, stall_cause::slot);
    waits(r.issue + 1 + r.slot_wait, r.register_wait, stall_cause::special_register);
}

void lanai_core::on_instruction(
    std::function<void(sim::picoseconds, const lanai::instruction_record&)> callback, bool complete) {
    instruction_listeners_.push_back(std::move(callback));
    core_->on_instruction(
        [this](const lanai::instruction_record& r) {
            const sim::picoseconds at = clock_.time_of(r.issue, phase::issue);
            for (const auto& listener : instruction_listeners_) listener(at, r);
        },
        complete);
}

void lanai_core::assert_reset() {
    if (in_reset_) return;
    sync();
    in_reset_ = true;
    step_.cancel();
    state.set(0);
    function.set(0);
}

void lanai_core::release_reset() {
    if (!in_reset_) return;
    in_reset_ = stands_before_ = false;
    const cycle first = clock_.current();
    core_->reset(first);
    disturbed_at_ = first;
    state.set(1);
    step_.no_later_than(clock_.time_of(first, phase::issue));
}

void lanai_core::sync() {
    if (in_reset_ || executing_) return;
    const cycle next = clock_.next_issue();
    core_->sync(next);
    stands_before_ = false;
    learn(next);
    // It may go on as soon as the others are through, if nobody else is to come on this edge.
    if (core_->config().lockstep || memory_.next_access(next - 1) == next)
        step_.no_later_than(clock_.time_of(next, phase::issue));
    else
        step_.no_later_than(sim::now());
}

void lanai_core::sync_for_read(std::uint32_t address, std::size_t bytes) {
    if (core_->stored(address, bytes)) sync();
}

void lanai_core::sync_for_write(std::uint32_t address, std::size_t bytes) {
    if (core_->stored(address, bytes) || core_->loaded(address, bytes)) sync();
}

/// A core of its own tries, and takes back what it did to the SRAM.
bool lanai_core::idles_for_ever() const {
    if (in_reset_) return true;
    lanai::core_config config = core_->config();
    config.lockstep = config.shares_text = false;
    lanai::core trial(config, memory_.contents(), devices_);
    trial.set_state(core_->state());
    const lanai::run_result plan = trial.run_ahead(clock_.next_issue() + trial_cycles);
    trial.sync(core_->state().next_issue);
    return plan.reason == lanai::stop_reason::idle && plan.at == lanai::never;
}

void lanai_core::set_stack_limit(std::uint32_t address) {
    sync();
    core_->set_stack_limit(address);
}

void lanai_core::memory_written(std::uint32_t address, std::size_t bytes) {
    core_->invalidate_code(address, bytes);
    if (exchange.watched()) core_->written_by_port(address, bytes);
}

/// A loop that looks at a register and finds nothing new says so once, however often it does and whether it
/// is skipped or not.
void lanai_core::exchanged(const lanai::exchange_record& r) {
    using kind = lanai::exchange_record::kind;
    if (r.what == kind::register_load) {
        const auto before =
            std::ranges::find(looked_at_, r.address, &std::pair<std::uint32_t, std::uint32_t>::first);
        if (before == looked_at_.end())
            looked_at_.emplace_back(r.address, r.value);
        else if (std::exchange(before->second, r.value) == r.value)
            return;
    } else {
        looked_at_.clear();
    }
    const sim::picoseconds at = clock_.time_of(r.issue, phase::issue);
    exchange.report(at, at,
                    r.what == kind::register_load    ? "look"
                    : r.what == kind::register_store ? "store"
                                                     : "seen",
                    {{"address", r.address}, {"value", r.value}, {"pc", r.pc}});
}

void lanai_core::set_slot_pattern(lanai::sram_port port, const lanai::slot_pattern& pattern, cycle from) {
    core_->set_slot_pattern(port, pattern, from);
}

/// Somebody was here at cycle `at`: the mean distance of such disturbances, the latest with a quarter of the
/// weight.
void lanai_core::learn(cycle at) {
    mean_gap_ = (3 * mean_gap_ + (at - std::min(at, disturbed_at_))) / 4;
    disturbed_at_ = at;
}

/// A slice of s cycles costs the work of a step every s cycles, and half a slice thrown away at each
/// disturbance; with g cycles from one to the next that is least at s = sqrt(2 * step * g).
cycle lanai_core::slice(cycle from) const {
    const cycle gap = std::max(mean_gap_, from - std::min(from, disturbed_at_));
    const auto best = static_cast<cycle>(std::sqrt(2.0 * static_cast<double>(step_cycles * gap)));
    return std::clamp<cycle>(best, slice_min_cycles, slice_max_cycles);
}

/// Not beyond the next access to the SRAM that is known already. In lock-step an instruction is final at
/// once, so none may be executed before its cycle.
lanai::run_result lanai_core::run_ahead(cycle from) {
    if (core_->config().lockstep) return core_->run_ahead(from + 1);
    const cycle announced = memory_.next_access(from);
    return core_->run_ahead(std::min(from + slice(from), announced), announced);
}

void lanai_core::step() {
    using lanai::stop_reason;
    if (in_reset_) return;
    const cycle now = clock_.domain().edge_at_or_before(sim::now());
    core_->sync(now);
    lanai::run_result plan{stop_reason::device_access, now};
    for (;;) {
        if (!std::exchange(stands_before_, false)) plan = run_ahead(now);
        if (plan.at > now || sim::now() < clock_.time_of(now, phase::issue)) break;
        core_->sync(now);
        if (plan.reason == stop_reason::trap) report_trap(core_->pending_trap().value());
        if (plan.reason == stop_reason::device_access) {
            executing_ = true;
            core_->execute_device_access(now);
            executing_ = false;
            if (in_reset_) return;
        }
    }
    stands_before_ = plan.reason == stop_reason::device_access && !core_->config().lockstep;
    if (plan.at != lanai::never) step_.no_later_than(clock_.time_of(plan.at, phase::issue));
}

std::string lanai_core::place(std::uint32_t at) const {
    const std::optional<code_location> where = symbols_ ? symbols_->locate(at) : std::nullopt;
    if (!where) return fmt::format("pc {:#x}", at);
    if (where->file.empty()) return fmt::format("pc {:#x} in {}+{:#x}", at, where->function, where->offset);
    return fmt::format("pc {:#x} in {}+{:#x} ({}:{})", at, where->function, where->offset, where->file,
                       where->line);
}

void lanai_core::fail(const std::string& what) {
    const bool running = !in_reset_;
    executing_ = false;
    in_reset_ = true;
    throw sim::model_error(name(), running ? fmt::format("{}; {}", what, place(core_->state().pc)) : what);
}

void lanai_core::report_trap(const lanai::trap_report& trap) {
    in_reset_ = true;
    std::string text = fmt::format("{} ({:#x}) by instruction {:08x}; {}", to_string(trap.kind), trap.address,
                                   trap.word, place(trap.pc));
    text += "\nregisters:";
    for (std::size_t i = 0; i < trap.registers.size(); ++i)
        text += fmt::format("{}r{}={:08x}", i % 8 ? " " : "\n  ", i, trap.registers[i]);
    text += "\nlast instructions:";
    for (const lanai::retired_word& r : trap.history)
        text += fmt::format("\n  {:08x} {}", r.word, place(r.pc));
    throw sim::model_error(name(), text);
}

}  // namespace vinic::nic
