// SPDX-License-Identifier: Apache-2.0
#include "hw/rtl/lanai/lanai_block.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "hw/nic/bytes.h"
#include "hw/nic/lanai/isa.h"
#include "hw/nic/lanai/path_history.h"
#include "hw/nic/lanai/unread_words.h"
#include "hw/rtl/verilated_model.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

#include <Vlanai.h>
#include <Vlanai___024root.h>

namespace vinic::rtl {

namespace {

using lanai::cycle;
using lanai::slot;
using lanai::trap_kind;

constexpr std::uint32_t line_bytes = 8;

/// Between the calls of the card and the pins of lanai.sv: the SRAM, the special registers and the arbiter of
/// slots as the core sees them. A call of run_ahead() or sync() is so many clocks.
class lanai_block : public sim::module, public lanai::processor {
public:
    lanai_block(const lanai::core_config& config, std::span<std::uint8_t> sram, lanai::device_port& devices,
                const sim::clock_domain& clock);

    sim::counter<sim::unit::clocks> edges{*this, "edges", "clocks that were evaluated"};

    sim::value_probe f_pc{*this, "f_pc", 32, "address of the word in stage F"};
    sim::value_probe x_pc{*this, "x_pc", 32, "address of the word in stage X"};
    sim::value_probe flags{*this, "flags", 4, "N Z V C"};
    sim::value_probe owed{*this, "owed", 3,
                          "slots of the SRAM that the instruction issued last still waits for"};
    sim::value_probe special{*this, "special", 7, "clocks that its access to a special register still takes"};
    sim::value_probe interlock{*this, "interlock", 3,
                               "clocks that an instruction has waited for the load before it"};
    sim::value_probe w_register{*this, "w_register", 5, "register that stage W writes, 0: none"};
    sim::value_probe w_value{*this, "w_value", 32, "what stage W writes"};

    const lanai::core_config& config() const override { return config_; }
    void reset(cycle at) override;
    void set_stack_limit(std::uint32_t address) override { config_.stack_limit = address; }
    lanai::run_result run_ahead(cycle enough, cycle limit) override;
    void sync(cycle now) override;
    void execute_device_access(cycle now) override;
    std::optional<lanai::trap_report> pending_trap() const override { return trap_; }
    bool loaded(std::uint32_t, std::size_t) const override { return true; }
    bool stored(std::uint32_t, std::size_t) const override { return true; }
    void invalidate_code(std::uint32_t address, std::size_t bytes) override;
    void written_by_port(std::uint32_t address, std::size_t bytes) override;
    void set_slot_pattern(lanai::sram_port port, const lanai::slot_pattern& pattern, cycle now) override;
    const lanai::slot_schedule& slots() const override { return schedule_; }
    const lanai::core_state& state() const override;
    const lanai::core_counters& counters() const override { return counters_; }
    void on_instruction(std::function<void(const lanai::instruction_record&)> callback, bool) override {
        instruction_callback_ = std::move(callback);
    }
    void on_exchange(std::function<void(const lanai::exchange_record&)> callback) override;
    void on_region(std::vector<std::uint16_t> regions,
                   std::function<void(const lanai::region_record&)> callback) override;

private:
    bool clock(bool kernel_time);
    std::optional<trap_kind> trapping() const;
    lanai::trap_report report(trap_kind kind) const;
    bool access(bool kernel_time);
    bool access_special(bool kernel_time);
    void access_sram();
    void arbitrate();
    lanai::instruction_record record() const;
    void retire(const lanai::instruction_record& r, bool loads);
    void exchange(const lanai::instruction_record& r, bool loads);
    void show(sim::picoseconds at);

    std::uint64_t line(std::uint32_t number) const {
        const std::uint8_t* p = sram_.data() + number * line_bytes;
        return std::uint64_t{nic::load_big(p)} << 32 | nic::load_big(p + 4);
    }
    std::uint32_t value_of(unsigned number) const;
    unsigned access_bytes() const { return 1u << pins_.access_size; }
    /// No clock until reset: the core halted at a trap, or the simulator stopped it.
    bool stands() const { return pins_.quiet || trap_; }
    bool loads() const { return pins_.access_valid && !pins_.access_write; }
    cycle cycle_of(slot s) const { return s / config_.slots_per_cycle; }
    slot first_slot(cycle c) const { return c * config_.slots_per_cycle; }
    void evaluate() { rtl::evaluate(*this, pins_); }

    lanai::core_config config_;
    std::span<std::uint8_t> sram_;
    lanai::device_port& devices_;
    sim::clock_domain clock_;
    VerilatedContext context_;
    Vlanai pins_{&context_};
    coverage_writer coverage_{context_};

    cycle next_ = 0;  // the clock to be evaluated next
    cycle synced_to_ = 0;
    bool snooped_ = false;

    lanai::slot_schedule schedule_;
    lanai::slot_cursor cursor_;
    std::vector<slot> granted_;  // to the instruction that issued last
    cycle next_issue_ = 0;       // but for an interlock

    std::uint32_t fetched_ = lanai::core_state::never32;  // line of the instruction that issued last
    std::optional<lanai::trap_report> trap_;
    lanai::path_history history_;
    lanai::core_counters counters_;
    mutable lanai::core_state state_;

    std::function<void(const lanai::instruction_record&)> instruction_callback_;
    std::function<void(const lanai::exchange_record&)> exchange_callback_;
    lanai::unread_words unread_;
    std::function<void(const lanai::region_record&)> region_callback_;
    std::vector<std::uint16_t> regions_;
    std::uint16_t region_ = 0;
};

lanai_block::lanai_block(const lanai::core_config& config, std::span<std::uint8_t> sram,
                         lanai::device_port& devices, const sim::clock_domain& clock)
    : module("rtl"), config_(config), sram_(sram), devices_(devices), clock_(clock) {
    config_.lockstep = true;
    pins_.entry = config.entry_pc;
    pins_.sram_words = static_cast<std::uint32_t>(sram.size() / line_bytes);
    pins_.wide_slots = config.slot_bytes == line_bytes;
    pins_.load_slots = static_cast<std::uint8_t>(config.load_slots);
    pins_.word_store_slots = static_cast<std::uint8_t>(config.word_store_slots);
    pins_.narrow_store_slots = static_cast<std::uint8_t>(config.narrow_store_slots);
    pins_.load_use_clocks = static_cast<std::uint8_t>(config.load_use_cycles);
    pins_.register_load_clocks = static_cast<std::uint8_t>(config.register_load_cycles);
    pins_.register_store_clocks = static_cast<std::uint8_t>(config.register_store_cycles);
    reset(0);
}

/// The word at the entry is fetched in the clock before `at`.
void lanai_block::reset(cycle at) {
    pins_.snoop_valid = pins_.slots_granted = 0;
    rtl::reset(*this, pins_);
    if (pins_.fetch_valid) pins_.fetch_data = line(pins_.fetch_address);
    evaluate();
    evaluate_clock(*this, pins_);
    next_ = next_issue_ = synced_to_ = at;
    snooped_ = false;
    granted_.clear();
    fetched_ = lanai::core_state::never32;
    trap_.reset();
    region_ = 0;
}

lanai::run_result lanai_block::run_ahead(cycle enough, cycle) {
    // Not before its time: what somebody does until then must be seen.
    while (!stands() && next_ < std::min(enough, synced_to_ + 1))
        if (!clock(false)) return {lanai::stop_reason::device_access, next_};
    if (trap_) return {lanai::stop_reason::trap, trap_->at};
    return {lanai::stop_reason::limit, next_};
}

void lanai_block::sync(cycle now) {
    while (!stands() && next_ < now)
        if (!clock(false))
            throw std::logic_error(
                fmt::format("core synced to cycle {} past its register access in cycle {}", now, next_));
    synced_to_ = now;
}

void lanai_block::execute_device_access(cycle now) {
    if (next_ != now || !clock(true))
        throw std::logic_error(fmt::format("no register access of the core in cycle {}", now));
}

/// One clock. False, and nothing has happened, when its access to a special register must wait for kernel
/// time.
bool lanai_block::clock(bool kernel_time) {
    pins_.slots_granted = 0;
    pins_.snoop_valid = snooped_;
    if (snooped_) pins_.snoop_data = line(pins_.line_address);
    evaluate();
    if (pins_.access_valid && pins_.access_special) {
        pins_.access_fault = !devices_.mapped(pins_.access_address, access_bytes());
        evaluate();
    }
    if (const auto kind = trapping()) {
        trap_ = report(*kind);
        if (pins_.trap != 0) evaluate_clock(*this, pins_);
        return true;
    }
    if (pins_.access_valid) {
        if (!access(kernel_time)) return false;
        evaluate();
    }
    if (loads() && !pins_.access_special && pins_.rd == lanai::reg_sp && pins_.loaded < config_.stack_limit) {
        trap_ = report(trap_kind::stack_overflow);
        trap_->address = pins_.loaded;
        return true;
    }
    arbitrate();
    if (pins_.fetch_valid) pins_.fetch_data = line(pins_.fetch_address);
    if (pins_.fetch_valid || pins_.slots_granted != 0) evaluate();

    std::optional<lanai::instruction_record> issued;
    if (pins_.issue) issued = record();
    const bool loaded = loads();
    edges.add();
    snooped_ = false;
    evaluate_clock(*this, pins_);
    if (issued) retire(*issued, loaded);
    ++next_;
    if (flags.watched()) show(clock_.edge(next_));
    return true;
}

/// That of the stack is a check of the simulator, in the model's order (step.cpp).
std::optional<trap_kind> lanai_block::trapping() const {
    const auto kind = static_cast<trap_kind>(pins_.trap - 1);
    const bool executes =
        pins_.issue ||
        (pins_.trap != 0 && (kind == trap_kind::misaligned_access || kind == trap_kind::unmapped_access));
    if (executes && pins_.result_valid && pins_.result_register == lanai::reg_sp &&
        pins_.result < config_.stack_limit)
        return trap_kind::stack_overflow;
    return pins_.trap != 0 ? std::optional(kind) : std::nullopt;
}

lanai::trap_report lanai_block::report(trap_kind kind) const {
    lanai::trap_report t{.kind = kind,
                         .at = next_,
                         .pc = pins_.pc,
                         .word = pins_.word,
                         .address = pins_.pc,
                         .registers = state().registers,
                         .history = {}};
    if (kind == trap_kind::stack_overflow) t.address = pins_.result;
    if (kind == trap_kind::misaligned_access || kind == trap_kind::unmapped_access)
        t.address = pins_.access_address;
    if (kind == trap_kind::misaligned_fetch || kind == trap_kind::unmapped_fetch) t.word = 0;
    for (const std::uint32_t pc : history_.last(lanai::path_history::enough))
        t.history.push_back({pc, nic::load_big(sram_.data() + pc)});
    return t;
}

bool lanai_block::access(bool kernel_time) {
    if (pins_.access_special) return access_special(kernel_time);
    access_sram();
    return true;
}

bool lanai_block::access_special(bool kernel_time) {
    const std::uint32_t address = pins_.access_address;
    if (pins_.access_write) {
        if (kernel_time) devices_.store(address, access_bytes(), pins_.access_data, next_);
        return kernel_time;
    }
    if (kernel_time) {
        pins_.read_data = devices_.load(address, access_bytes(), next_);
        return true;
    }
    const auto known = devices_.peek(address, access_bytes(), next_);
    if (known) pins_.read_data = known->value;
    return known.has_value();
}

void lanai_block::access_sram() {
    std::uint8_t* word = sram_.data() + (pins_.access_address & ~3u);
    if (!pins_.access_write) {
        pins_.read_data = nic::load_big(word);
        return;
    }
    for (unsigned lane = 0; lane < 4; ++lane)
        if ((pins_.access_lanes >> (3 - lane) & 1) != 0)
            word[lane] = static_cast<std::uint8_t>(pins_.access_word >> (24 - 8 * lane));
}

/// The slots of an instruction are decided when it issues, by the patterns in force then, and granted in
/// their cycles.
void lanai_block::arbitrate() {
    if (pins_.issue) {
        granted_.clear();
        slot from = first_slot(next_);
        for (unsigned n = 0; n < pins_.slots_wanted; ++n) {
            granted_.push_back(schedule_.take(cursor_, from));
            from = granted_.back() + 1;
        }
    }
    pins_.slots_granted = static_cast<std::uint8_t>(
        std::ranges::count_if(granted_, [this](slot s) { return cycle_of(s) == next_; }));
}

lanai::instruction_record lanai_block::record() const {
    lanai::instruction_record r{.issue = next_, .pc = pins_.pc, .word = pins_.word, .times = 1};
    r.load_use = next_ - next_issue_;
    r.slot_wait = granted_.empty() ? 0 : cycle_of(granted_.back()) - next_;
    if (pins_.access_valid && pins_.access_special)
        r.register_wait = pins_.access_write ? config_.register_store_cycles : config_.register_load_cycles;
    r.a = pins_.rs1_value;
    r.b = pins_.rs2_value;
    r.address = pins_.access_valid ? pins_.access_address : 0;
    r.result = !pins_.access_valid ? pins_.result : pins_.access_write ? pins_.access_data : pins_.loaded;
    return r;
}

void lanai_block::retire(const lanai::instruction_record& r, bool loads) {
    fetched_ = r.pc & ~(config_.slot_bytes - 1);
    next_issue_ = r.issue + 1 + r.slot_wait + r.register_wait;
    ++counters_.retired;
    ++counters_.executed;
    counters_.load_use_cycles += r.load_use;
    counters_.slot_cycles += r.slot_wait;
    counters_.register_cycles += r.register_wait;
    history_.add(r.pc, 1);
    if (exchange_callback_) exchange(r, loads);
    if (!regions_.empty() && regions_[r.pc / 4] != region_) {
        region_ = regions_[r.pc / 4];
        region_callback_({r.issue, region_});
    }
    if (instruction_callback_) instruction_callback_(r);
}

void lanai_block::exchange(const lanai::instruction_record& r, bool loads) {
    using kind = lanai::exchange_record::kind;
    if (r.address >= sram_.size()) {
        exchange_callback_(
            {loads ? kind::register_load : kind::register_store, r.issue, r.pc, r.address, r.result});
    } else if (loads && lanai::unread_words::holds(unread_.bits(), r.address)) {
        unread_.remove(r.address);
        exchange_callback_({kind::first_load, r.issue, r.pc, r.address & ~3u, r.result});
    }
}

void lanai_block::invalidate_code(std::uint32_t address, std::size_t bytes) {
    const std::uint32_t held = pins_.line_address * line_bytes;
    snooped_ = snooped_ || (held < address + bytes && address < held + line_bytes);
}

void lanai_block::set_slot_pattern(lanai::sram_port port, const lanai::slot_pattern& pattern, cycle now) {
    schedule_.advance(cursor_, first_slot(std::max(now, next_issue_)));
    schedule_.set(port, pattern, first_slot(now));
    schedule_.restart(cursor_, port);
}

/// What stage W still holds counts as written.
std::uint32_t lanai_block::value_of(unsigned number) const {
    const auto& core = *pins_.rootp;
    if (number == lanai::reg_zero) return 0;
    if (number == lanai::reg_ones) return ~0u;
    if (number == lanai::reg_pc) return pins_.pc;
    return core.lanai__DOT__w_valid_q && core.lanai__DOT__w_register_q == number
               ? core.lanai__DOT__w_value_q
               : core.lanai__DOT__registers_q[number - 3];
}

const lanai::core_state& lanai_block::state() const {
    const auto& core = *pins_.rootp;
    for (unsigned n = 0; n < state_.registers.size(); ++n) state_.registers[n] = value_of(n);
    const unsigned nzvc = core.lanai__DOT__flags_q;
    state_.negative = (nzvc & 8) != 0;
    state_.zero = (nzvc & 4) != 0;
    state_.overflow = (nzvc & 2) != 0;
    state_.carry = (nzvc & 1) != 0;
    state_.pc = pins_.pc;
    state_.next_pc = core.lanai__DOT__next_q;
    state_.second_next_pc = core.lanai__DOT__second;
    state_.delay_slots = core.lanai__DOT__delay_slots_q;
    state_.loading = core.lanai__DOT__loading_q;
    state_.fetched = fetched_;
    state_.next_issue = next_issue_;
    return state_;
}

void lanai_block::on_exchange(std::function<void(const lanai::exchange_record&)> callback) {
    exchange_callback_ = std::move(callback);
    unread_.watch(sram_.size());
}

void lanai_block::written_by_port(std::uint32_t address, std::size_t bytes) {
    if (!unread_.watched()) return;
    for (std::uint32_t word = address & ~3u; word < address + bytes; word += 4) unread_.add(word);
}

void lanai_block::on_region(std::vector<std::uint16_t> regions,
                            std::function<void(const lanai::region_record&)> callback) {
    regions_ = std::move(regions);
    regions_.resize(sram_.size() / 4);
    region_callback_ = std::move(callback);
}

void lanai_block::show(sim::picoseconds at) {
    const auto& core = *pins_.rootp;
    f_pc.set(at, core.lanai__DOT__next_q);
    x_pc.set(at, pins_.pc);
    flags.set(at, core.lanai__DOT__flags_q);
    owed.set(at, core.lanai__DOT__owed_q);
    special.set(at, core.lanai__DOT__special_q);
    interlock.set(at, core.lanai__DOT__interlock_q);
    w_register.set(at, core.lanai__DOT__w_valid_q ? core.lanai__DOT__w_register_q : 0);
    w_value.set(at, core.lanai__DOT__w_value_q);
}

}  // namespace

std::unique_ptr<lanai::processor> make_lanai(const lanai::core_config& config, std::span<std::uint8_t> sram,
                                             lanai::device_port& devices, const sim::clock_domain& clock) {
    return std::make_unique<lanai_block>(config, sram, devices, clock);
}

}  // namespace vinic::rtl
