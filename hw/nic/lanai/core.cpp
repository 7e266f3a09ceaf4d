// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/lanai/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "hw/nic/lanai/implementation.h"

namespace vinic::lanai {

const char* to_string(trap_kind kind) {
    switch (kind) {
        case trap_kind::illegal_instruction:
            return "illegal instruction";
        case trap_kind::misaligned_access:
            return "misaligned access";
        case trap_kind::unmapped_access:
            return "access to an unmapped address";
        case trap_kind::misaligned_fetch:
            return "jump to a misaligned address";
        case trap_kind::unmapped_fetch:
            return "jump to an unmapped address";
        case trap_kind::stack_overflow:
            return "stack overflow";
        case trap_kind::branch_in_delay_slot:
            return "branch in a delay slot";
    }
    return "unknown";
}

core::implementation::implementation(const core_config& c, std::span<std::uint8_t> memory, device_port& port)
    : config(c), sram(memory), devices(port), cache(config, sram, regions) {
    if (!std::has_single_bit(config.slots_per_cycle))
        throw std::invalid_argument("slots per cycle must be a power of two");
    if (!std::has_single_bit(config.slot_bytes) || config.slot_bytes < 4)
        throw std::invalid_argument("bytes of a slot must be a power of two, 4 or more");
    if (sram.size() < 8 || sram.size() % 8 != 0 || sram.size() > 1u << 31)
        throw std::invalid_argument("size of the SRAM must be a multiple of 8 bytes, 2 GiB at most");
    slot_shift = static_cast<unsigned>(std::countr_zero(config.slots_per_cycle));
    undo.resize(std::max<std::size_t>(config.undo_entries, 256));
}

void core::implementation::require_synced(const char* what) const {
    if (speculative()) throw std::logic_error(fmt::format("{} without sync of the core", what));
}

void core::implementation::require_untouched(std::uint32_t address, std::size_t bytes) const {
    if (speculative() && (loaded(address, bytes) || stored(address, bytes)))
        require_synced("write to the SRAM");
}

bool core::implementation::loaded(std::uint32_t address, std::size_t bytes) const {
    return config.lockstep || loads.meets(address, bytes) || cache.may_have_run(address, bytes);
}

bool core::implementation::stored(std::uint32_t address, std::size_t bytes) const {
    constexpr std::size_t most = 64;  // worth looking through
    if (config.lockstep || undo_count > most) return true;
    return std::any_of(undo.begin(), undo.begin() + static_cast<std::ptrdiff_t>(undo_count),
                       [&](const undo_entry& u) {
                           return u.address < address + bytes && address < u.address + sizeof u.old;
                       });
}

bool line_set::meets(std::uint32_t address, std::size_t bytes) const {
    if (bits_ == 0 || bytes == 0) return false;
    line_set other;
    const std::uint64_t last = (std::uint64_t{address} + bytes - 1) / line_bytes;
    for (std::uint64_t line = address / line_bytes; line <= last && ~other.bits_ != 0; ++line)
        other.bits_ |= std::uint64_t{1} << line % lines;
    return (bits_ & other.bits_) != 0;
}

void core::implementation::checkpoint() {
    for (const slice_record& record : records) {
        if (retire_callback) retire_callback(record.what);
        if (instruction_callback)
            instruction_callback({record.what.issue, record.what.pc, record.what.word, record.times,
                                  record.skipped, record.load_use, record.slot_wait, record.register_wait,
                                  record.a, record.b, record.address, record.result});
    }
    records.clear();
    for (const exchange_record& e : exchanges) exchange_callback(e);
    exchanges.clear();
    for (const region_record& change : region_changes) region_callback(change);
    region_changes.clear();
    if (!config.lockstep) saved = live;
    history.commit();
    retired_at_checkpoint = live.retired;
    undo_count = 0;
    loads.clear();
    cache.start_slice();
    parked.reset();
    reset_probe();
}

void core::implementation::rewind() {
    ++rewinds;
    reexecuted += (live.retired - live.skipped) - (saved.retired - saved.skipped);
    while (undo_count > 0) {
        const undo_entry& u = undo[--undo_count];
        store_be32(sram.data() + u.address, u.old);
        if (cache.holds_code(u.address)) cache.clear();
    }
    live = saved;
    history.rewind();
    records.clear();
    for (const exchange_record& e : exchanges)
        if (e.what == exchange_record::kind::first_load) unread.add(e.address);
    exchanges.clear();
    region_changes.clear();
    loads.clear();
    cache.start_slice();
    parked.reset();
    trap.reset();
    reset_probe();
}

void core::implementation::enter_region(std::uint16_t region, cycle issue) {
    live.region = region;
    region_changes.push_back({issue, region});
}

// The cycle in which the next instruction issues, the wait for a load included.
cycle core::implementation::next_issue_cycle() {
    if (live.loading == 0 || live.pc % 4 != 0 || live.pc > sram.size() - 4) return live.next_issue;
    const block* const next = uses_blocks() && live.ready_for_block() ? cache.find(live.pc) : nullptr;
    if (next == nullptr) loads.add(live.pc);
    const std::uint32_t reads =
        next != nullptr ? next->first_reads : decode(load_be32(sram.data() + live.pc)).reads();
    return live.next_issue + ((reads >> live.loading & 1) != 0 ? config.load_use_cycles : 0);
}

run_result core::implementation::advance(cycle enough, cycle limit, bool speculate) {
    trap.reset();
    if (parked) {
        skip(*parked, enough);
        parked.reset();
    }
    for (;;) {
        if (uses_blocks() && live.ready_for_block()) {
            const block_exit why = run_fast(enough, limit);
            if (why == block_exit::limit) return {stop_reason::limit, next_issue_cycle()};
            if (why == block_exit::device) return {stop_reason::device_access, next_issue_cycle()};
            if (why == block_exit::edge && at_edge(enough, speculate))
                return {stop_reason::idle, parked->wake};
            if (why == block_exit::log_full) {
                if (speculate) return {stop_reason::limit, next_issue_cycle()};
                undo_count = 0;  // nothing before `enough` will be undone
            }
            if (why != block_exit::step) continue;
        }
        const std::uint32_t pc = live.pc;
        switch (step(enough, false)) {
            case step_exit::limit:
                return {stop_reason::limit, next_issue_cycle()};
            case step_exit::device:
                return {stop_reason::device_access, next_issue_cycle()};
            case step_exit::trap:
                return {stop_reason::trap, trap->at};
            case step_exit::done:
                break;
        }
        if (live.pc <= pc && live.delay_slots == 0 && at_edge(enough, speculate))
            return {stop_reason::idle, parked->wake};
    }
}

core::core(const core_config& config, std::span<std::uint8_t> sram, device_port& devices)
    : slots_per_cycle_(config.slots_per_cycle),
      impl_(std::make_unique<implementation>(config, sram, devices)) {
    reset(0);
}

core::~core() = default;

const core_config& core::config() const { return impl_->config; }

void core::reset(cycle at) {
    machine& m = impl_->live;
    if (impl_->speculative()) impl_->rewind();
    m.r.fill(0);
    m.r[reg_ones] = ~0u;
    m.nzvc = m.delay_slots = m.loading = 0;
    m.region = 0;
    m.pc = impl_->config.entry_pc;
    m.next_pc = m.pc + 4;
    m.second_next_pc = m.pc + 8;
    m.fetched = core_state::never32;
    m.next_issue = m.last_issue = impl_->synced_to = at;
    impl_->trap.reset();
    impl_->cache.clear();
    impl_->checkpoint();
}

void core::set_stack_limit(std::uint32_t address) {
    impl_->require_synced("change of the stack limit");
    impl_->config.stack_limit = address;
}

run_result core::run_ahead(cycle enough, cycle limit) {
    if (impl_->parked) return {stop_reason::idle, impl_->parked->wake};
    if (!impl_->config.lockstep) return impl_->advance(enough, limit, true);
    impl_->trap.reset();
    // Not before its time: what somebody does until then must be seen.
    const step_exit why = impl_->step(std::min(enough, impl_->synced_to + 1), false);
    if (why == step_exit::done) impl_->checkpoint();
    const cycle next = impl_->next_issue_cycle();
    return {why == step_exit::device ? stop_reason::device_access
            : why == step_exit::trap ? stop_reason::trap
                                     : stop_reason::limit,
            next};
}

void core::sync(cycle now) {
    implementation& i = *impl_;
    if (i.speculative() && i.live.last_issue >= now) i.rewind();
    if (i.live.next_issue < now && i.next_issue_cycle() < now) {
        const run_result r = i.advance(now, now, false);
        if (r.reason == stop_reason::device_access)
            throw std::logic_error(
                fmt::format("core synced to cycle {} past its register access in cycle {}", now, r.at));
    }
    i.synced_to = now;
    if (i.live.retired != i.retired_at_checkpoint || i.parked) i.checkpoint();
}

void core::execute_device_access(cycle now) {
    impl_->require_synced("register access");
    if (impl_->next_issue_cycle() != now || impl_->step(now + 1, true) != step_exit::done)
        throw std::logic_error(fmt::format("no register access of the core in cycle {}", now));
    impl_->checkpoint();
}

std::optional<trap_report> core::pending_trap() const {
    return impl_->speculative() ? std::nullopt : impl_->trap;
}

bool core::idle() const { return impl_->parked.has_value(); }

bool core::loaded(std::uint32_t address, std::size_t bytes) const { return impl_->loaded(address, bytes); }

bool core::stored(std::uint32_t address, std::size_t bytes) const { return impl_->stored(address, bytes); }

void core::write_sram(std::uint32_t address, std::span<const std::uint8_t> bytes) {
    if (address > impl_->sram.size() || bytes.size() > impl_->sram.size() - address)
        throw std::out_of_range("write beyond the SRAM");
    impl_->require_untouched(address, bytes.size());
    std::copy(bytes.begin(), bytes.end(), impl_->sram.begin() + address);
    invalidate_code(address, bytes.size());
}

void core::invalidate_code(std::uint32_t address, std::size_t bytes) {
    impl_->require_untouched(address, bytes);
    impl_->cache.invalidate(address, bytes);
}

void core::set_slot_pattern(sram_port port, const slot_pattern& pattern, cycle now) {
    impl_->require_synced("change of slots");
    slot_cursor& cursor = impl_->live.cursor;
    impl_->schedule.advance(cursor, first_slot(std::max(now, impl_->live.next_issue)));
    impl_->schedule.set(port, pattern, first_slot(now));
    impl_->schedule.restart(cursor, port);
    impl_->saved.cursor = cursor;
}

const slot_schedule& core::slots() const { return impl_->schedule; }

const core_state& core::state() const {
    const machine& m = impl_->committed();
    core_state& s = impl_->visible_state;
    std::copy_n(m.r.begin(), s.registers.size(), s.registers.begin());
    s.registers[reg_pc] = m.pc;
    s.negative = (m.nzvc & flags::n) != 0;
    s.zero = (m.nzvc & flags::z) != 0;
    s.overflow = (m.nzvc & flags::v) != 0;
    s.carry = (m.nzvc & flags::c) != 0;
    s.pc = m.pc;
    s.next_pc = m.next_pc;
    s.second_next_pc = m.second_next_pc;
    s.delay_slots = m.delay_slots;
    s.loading = m.loading;
    s.fetched = m.fetched;
    s.next_issue = m.next_issue;
    return s;
}

void core::set_state(const core_state& s) {
    impl_->require_synced("change of the state");
    machine& m = impl_->live;
    std::copy(s.registers.begin(), s.registers.end(), m.r.begin());
    m.r[reg_zero] = 0;
    m.r[reg_ones] = ~0u;
    m.nzvc = (s.negative ? flags::n : 0) | (s.zero ? flags::z : 0) | (s.overflow ? flags::v : 0) |
             (s.carry ? flags::c : 0);
    m.pc = s.pc;
    m.next_pc = s.next_pc;
    m.second_next_pc = s.second_next_pc;
    m.delay_slots = s.delay_slots;
    m.loading = s.loading;
    m.fetched = s.fetched;
    m.next_issue = s.next_issue;
    impl_->trap.reset();
    impl_->checkpoint();
}

const core_counters& core::counters() const {
    const machine& m = impl_->committed();
    impl_->visible_counters = {.retired = m.retired,
                               .load_use_cycles = m.load_use,
                               .slot_cycles = m.slot_wait,
                               .register_cycles = m.register_wait,
                               .executed = m.retired - m.skipped,
                               .skipped = m.skipped,
                               .rewinds = impl_->rewinds,
                               .reexecuted = impl_->reexecuted};
    return impl_->visible_counters;
}

void core::on_retire(std::function<void(const retire_record&)> callback) {
    impl_->require_synced("start of the trace");
    impl_->retire_callback = std::move(callback);
    impl_->recording = true;
    impl_->complete = true;
}

void core::on_instruction(std::function<void(const instruction_record&)> callback, bool complete) {
    impl_->require_synced("start of the trace");
    impl_->instruction_callback = std::move(callback);
    impl_->recording = true;
    impl_->complete |= complete;
}

void core::on_exchange(std::function<void(const exchange_record&)> callback) {
    impl_->require_synced("start of the trace of exchanges");
    impl_->exchange_callback = std::move(callback);
    impl_->unread.watch(impl_->sram.size());
}

void core::written_by_port(std::uint32_t address, std::size_t bytes) {
    impl_->require_untouched(address, bytes);
    if (!impl_->unread.watched()) return;
    for (std::uint32_t word = address & ~3u; word < address + bytes; word += 4) impl_->unread.add(word);
}

void core::on_region(std::vector<std::uint16_t> regions, std::function<void(const region_record&)> callback) {
    impl_->require_synced("start of the trace of regions");
    regions.resize(impl_->sram.size() / 4);
    impl_->regions = std::move(regions);
    impl_->region_callback = std::move(callback);
    impl_->cache.clear();
}

}  // namespace vinic::lanai
