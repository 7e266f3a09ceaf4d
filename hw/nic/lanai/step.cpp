// SPDX-License-Identifier: Apache-2.0
// One instruction, decoded on the spot: everything that can happen, in the order in which it happens.
#include <algorithm>
#include <array>

#include "hw/nic/lanai/implementation.h"

namespace vinic::lanai {
namespace {

struct memory_access {
    std::uint32_t address;
    std::uint32_t updated_base;
};

memory_access address_of(const instruction& i, const machine& m) {
    if (i.format == form::sls) return {static_cast<std::uint32_t>(i.immediate) & ~3u, 0};
    const std::uint32_t base = m.r[i.rs1];
    const std::uint32_t offset = i.format == form::rrm ? m.r[i.rs2] : static_cast<std::uint32_t>(i.immediate);
    const std::uint32_t moved = alu(i.op, base, offset, m.nzvc).value;
    return {i.pre ? moved : base, moved};
}

std::uint32_t extend(std::uint32_t value, const instruction& i) {
    if (i.bytes == 4 || i.zero_extend) return value;
    return i.bytes == 2 ? static_cast<std::uint32_t>(static_cast<std::int16_t>(value))
                        : static_cast<std::uint32_t>(static_cast<std::int8_t>(value));
}

struct result {
    std::uint32_t value;
    unsigned nzvc;
    bool happens;  // false: predicate or condition does not hold
};

result compute(const instruction& i, const machine& m) {
    const bool holds = flags::test(i.cond, m.nzvc);
    switch (i.format) {
        case form::ri: {
            const alu_result a = alu(i.op, m.r[i.rs1], static_cast<std::uint32_t>(i.immediate), m.nzvc);
            return {a.value, i.sets_flags ? a.f : m.nzvc, true};
        }
        case form::rr: {
            if (i.op == operation::select) return {holds ? m.r[i.rs1] : m.r[i.rs2], m.nzvc, true};
            const alu_result a = alu(i.op, m.r[i.rs1], m.r[i.rs2], m.nzvc);
            return {a.value, i.sets_flags && holds ? a.f : m.nzvc, holds};
        }
        case form::special:
            return {alu(i.op, m.r[i.rs1], 0, m.nzvc).value, m.nzvc, true};
        case form::scc:
            return {holds ? 1u : 0u, m.nzvc, true};
        case form::sli:
        case form::br:
            return {static_cast<std::uint32_t>(i.immediate), m.nzvc, holds};
        case form::brr:
            return {m.r[i.rs1] + static_cast<std::uint32_t>(i.immediate), m.nzvc, holds};
        default:
            return {0, m.nzvc, false};
    }
}

// Where the pipeline of addresses goes after the instruction (facts A6).
void next_address(machine& m, const instruction& i, bool taken, std::uint32_t target) {
    m.advance_pc();
    const unsigned slots = i.delay_slots();
    if (slots == 0) return;
    m.delay_slots = slots;
    if (!taken) return;
    if (slots == 1) {
        m.next_pc = target;
        m.second_next_pc = target + 4;
    } else {
        m.second_next_pc = target;
    }
}

std::uint32_t read_bytes(const std::uint8_t* p, unsigned bytes) {
    return bytes == 4 ? load_be32(p) : bytes == 2 ? load_be16(p) : *p;
}

void write_bytes(std::uint8_t* p, unsigned bytes, std::uint32_t value) {
    if (bytes == 4)
        store_be32(p, value);
    else if (bytes == 2)
        store_be16(p, static_cast<std::uint16_t>(value));
    else
        *p = static_cast<std::uint8_t>(value);
}

}  // namespace

void core::implementation::raise(trap_kind kind, cycle at, std::uint32_t word, std::uint32_t address) {
    trap_report t{.kind = kind,
                  .at = at,
                  .pc = live.pc,
                  .word = word,
                  .address = address,
                  .registers = {},
                  .history = {}};
    std::copy_n(live.r.begin(), t.registers.size(), t.registers.begin());
    t.registers[reg_pc] = live.pc;
    for (const std::uint32_t pc : history.last(path_history::enough))
        t.history.push_back({pc, load_be32(sram.data() + pc)});
    trap = std::move(t);
}

bool core::implementation::fetch_trap(cycle at) {
    if (live.pc % 4 != 0)
        raise(trap_kind::misaligned_fetch, at, 0, live.pc);
    else if (live.pc > sram.size() - 4)
        raise(trap_kind::unmapped_fetch, at, 0, live.pc);
    else
        return false;
    return true;
}

// Everything about the instruction that forbids it, but what a load brings into sp.
bool core::implementation::instruction_trap(const instruction& i, std::uint32_t word, cycle at,
                                            std::uint32_t address, std::uint32_t new_sp) {
    // An update of the pc is no jump that anybody defined.
    if (i.format == form::illegal || (i.update && i.rs1 == reg_pc))
        raise(trap_kind::illegal_instruction, at, word, live.pc);
    else if (i.is_branch() && live.delay_slots != 0)
        raise(trap_kind::branch_in_delay_slot, at, word, live.pc);
    else if (new_sp < config.stack_limit)
        raise(trap_kind::stack_overflow, at, word, new_sp);
    else if (!i.is_memory())
        return false;
    else if (address % i.bytes != 0)
        raise(trap_kind::misaligned_access, at, word, address);
    else if (address > sram.size() - i.bytes && !devices.mapped(address, i.bytes))
        raise(trap_kind::unmapped_access, at, word, address);
    else
        return false;
    return true;
}

// Takes the slots of an instruction that issues at `at` and says when the next one may issue.
cycle core::implementation::take_slots(cycle at, unsigned count) {
    slot next = at << slot_shift;
    for (unsigned n = 0; n < count; ++n) next = schedule.take(live.cursor, next) + 1;
    return count == 0 ? at + 1 : std::max(at + 1, ((next - 1) >> slot_shift) + 1);
}

void core::implementation::store_word_undo(std::uint32_t address, unsigned bytes, std::uint32_t value) {
    const std::uint32_t word = address & ~3u;
    const std::uint32_t old = load_be32(sram.data() + word);
    if (undo_count == undo.size()) undo.resize(undo.size() + 1024);
    undo[undo_count++] = {word, old};
    write_bytes(sram.data() + address, bytes, value);
    probe.dirty |= old ^ load_be32(sram.data() + word);
    if (cache.holds_code(word)) cache.clear();
}

void core::implementation::note_exchange(exchange_record::kind what, cycle at, std::uint32_t pc,
                                         std::uint32_t address, std::uint32_t value) {
    if (exchange_callback) exchanges.push_back({what, at, pc, address, value});
}

step_exit core::implementation::step(cycle limit, bool kernel_time) {
    machine& m = live;
    if (m.next_issue >= limit) return step_exit::limit;
    if (fetch_trap(m.next_issue)) return step_exit::trap;
    loads.add(m.pc);
    const std::uint32_t pc = m.pc, word = load_be32(sram.data() + pc);
    const instruction i = decode(word);
    const bool waits = m.loading != 0 && (i.reads() >> m.loading & 1) != 0;
    const cycle at = m.next_issue + (waits ? config.load_use_cycles : 0);
    if (at >= limit) return step_exit::limit;

    m.r[reg_pc] = pc;
    const memory_access access = i.is_memory() ? address_of(i, m) : memory_access{0, 0};
    result computed = compute(i, m);
    std::uint32_t new_sp = m.r[reg_sp];
    if (i.update && i.rs1 == reg_sp)
        new_sp = access.updated_base;
    else if (!i.is_memory() && i.writes() == reg_sp && computed.happens)
        new_sp = computed.value;
    else
        new_sp = core_state::never32;
    if (instruction_trap(i, word, at, access.address, new_sp)) return step_exit::trap;

    const bool in_sram = i.is_memory() && access.address <= sram.size() - i.bytes;
    if (i.is_load() && in_sram) {
        loads.add(access.address);
        computed = {extend(read_bytes(sram.data() + access.address, i.bytes), i), m.nzvc, true};
        if (i.rd == reg_sp && computed.value < config.stack_limit) {
            raise(trap_kind::stack_overflow, at, word, computed.value);
            return step_exit::trap;
        }
    } else if (i.is_memory() && !in_sram) {
        if (kernel_time && i.store) {
            devices.store(access.address, i.bytes, m.r[i.rd], at);
        } else if (kernel_time) {
            computed = {extend(devices.load(access.address, i.bytes, at), i), m.nzvc, true};
        } else {
            const auto known = i.store ? std::nullopt : devices.peek(access.address, i.bytes, at);
            if (!known) return step_exit::device;
            probe.next_change = std::min(probe.next_change, known->next_change);
            computed = {extend(known->value, i), m.nzvc, true};
        }
    }

    // Nothing stops it from here on.
    const std::array<std::uint32_t, 3> operands{m.r[i.rs1], m.r[i.rs2], m.r[i.rd]};
    const std::uint32_t line = pc & ~(config.slot_bytes - 1);
    unsigned slots = m.fetched != line ? 1 : 0;
    if (in_sram)
        slots += !i.store       ? config.load_slots
                 : i.bytes == 4 ? config.word_store_slots
                                : config.narrow_store_slots;
    const cycle after_slots = take_slots(at, slots);
    cycle register_wait = 0;
    if (i.is_memory() && !in_sram)
        register_wait = i.store ? config.register_store_cycles : config.register_load_cycles;

    using exchange = exchange_record::kind;
    if (i.is_memory() && !in_sram) {
        note_exchange(i.store ? exchange::register_store : exchange::register_load, at, pc, access.address,
                      i.store ? m.r[i.rd] : computed.value);
    } else if (i.is_load() && unread_words::holds(unread.bits(), access.address)) {
        unread.remove(access.address);
        note_exchange(exchange::first_load, at, pc, access.address & ~3u, computed.value);
    }
    if (i.store && in_sram) store_word_undo(access.address, i.bytes, m.r[i.rd]);
    if (i.update && i.rs1 > reg_pc) m.r[i.rs1] = access.updated_base;
    if (computed.happens && i.writes() > reg_pc) m.r[i.rd] = computed.value;
    m.nzvc = computed.nzvc;
    next_address(m, i, computed.happens, computed.value);

    m.fetched = line;
    m.loading = i.late_result() && i.rd > reg_pc ? i.rd : 0;
    m.load_use += at - m.next_issue;
    m.slot_wait += after_slots - (at + 1);
    m.register_wait += register_wait;
    if (recording) {
        records.push_back({.what = {at, pc, word},
                           .times = 1,
                           .skipped = false,
                           .load_use = at - m.next_issue,
                           .slot_wait = after_slots - (at + 1),
                           .register_wait = register_wait,
                           .a = operands[0],
                           .b = operands[1],
                           .address = access.address,
                           .result = i.store ? operands[2] : computed.value});
    }
    if (!regions.empty() && regions[pc / 4] != m.region) enter_region(regions[pc / 4], at);
    m.last_issue = at;
    m.next_issue = after_slots + register_wait;
    ++m.retired;
    history.add(pc, 1);
    return step_exit::done;
}

}  // namespace vinic::lanai
