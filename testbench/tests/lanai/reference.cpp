// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/lanai/reference.h"

#include <algorithm>

namespace vinic::lanai::testing {

reference_core::reference_core(const core_config& config, std::vector<std::uint8_t>& sram,
                               device_port& devices)
    : config_(config), sram_(sram), devices_(devices) {
    s_.registers[1] = 0xFFFFFFFFu;
    s_.pc = config.entry_pc;
    s_.next_pc = s_.pc + 4;
    s_.second_next_pc = s_.pc + 8;
    s_.registers[2] = s_.pc;
}

void reference_core::run_until(cycle now) {
    while (step(now)) {
    }
}

void reference_core::set_slot_pattern(sram_port port, const slot_pattern& pattern, cycle now) {
    while (decided_ < std::max(now, s_.next_issue) * config_.slots_per_cycle) decide_slot();
    patterns_[static_cast<std::size_t>(port)] = pattern;
    served_[static_cast<std::size_t>(port)] = 0;
}

// Goes on by one slot; it belongs to the first port that has an access due (facts B2). True when it is the
// core's.
bool reference_core::decide_slot() {
    const slot now = decided_++;
    for (std::size_t p = 0; p < sram_ports; ++p) {
        const slot_pattern& q = patterns_[p];
        // due at the first slot at or after first + k * numerator / denominator
        if (served_[p] < q.count && now >= q.first &&
            (now - q.first) * q.period_denominator >= served_[p] * q.period_numerator) {
            ++served_[p];
            return false;
        }
    }
    return true;
}

slot reference_core::free_slot(slot from) {
    while (decided_ < from) decide_slot();
    while (!decide_slot()) {
    }
    return decided_ - 1;
}

bool reference_core::condition_holds(unsigned value) const {
    const bool N = s_.negative, Z = s_.zero, V = s_.overflow, C = s_.carry;
    switch (value) {
        case 0:
            return true;
        case 1:
            return false;
        case 2:
            return C && !Z;
        case 3:
            return !C || Z;
        case 4:
            return !C;
        case 5:
            return C;
        case 6:
            return !Z;
        case 7:
            return Z;
        case 8:
            return !V;
        case 9:
            return V;
        case 10:
            return !N;
        case 11:
            return N;
        case 12:
            return N == V;
        case 13:
            return N != V;
        case 14:
            return N == V && !Z;
        default:
            return Z || N != V;
    }
}

// BBB of facts A4; 7 is a shift by a signed amount, positive to the left.
std::uint32_t reference_core::operate(unsigned bbb, bool arithmetic, std::uint32_t a, std::uint32_t b,
                                      bool set_flags) {
    std::uint32_t result = 0;
    bool carry = false, overflow = false;
    if (bbb < 4) {
        const std::uint32_t second = bbb >= 2 ? ~b : b;
        const unsigned in = bbb == 0 ? 0 : bbb == 2 ? 1 : s_.carry ? 1 : 0;
        const std::uint64_t exact = static_cast<std::uint64_t>(a) + second + in;
        result = static_cast<std::uint32_t>(exact);
        carry = exact > 0xFFFFFFFFu;
        const bool sa = a >> 31, sb = second >> 31, sr = result >> 31;
        overflow = sa == sb && sr != sa;
    } else if (bbb == 4) {
        result = a & b;
    } else if (bbb == 5) {
        result = a | b;
    } else if (bbb == 6) {
        result = a ^ b;
    } else {
        const auto amount = static_cast<std::int32_t>(b);
        result = a;
        if (amount >= 0) {
            for (int n = amount % 32; n > 0; --n) {
                carry = result >> 31;
                result <<= 1;
            }
        } else {
            for (std::int64_t n = (-static_cast<std::int64_t>(amount)) % 32; n > 0; --n)
                result = result >> 1 | (arithmetic ? result & 0x80000000u : 0);
        }
    }
    if (set_flags) {
        s_.zero = result == 0;
        s_.negative = result >> 31;
        s_.carry = carry;
        s_.overflow = overflow;
    }
    return result;
}

std::uint32_t reference_core::memory(std::uint32_t address, unsigned bytes) const {
    std::uint32_t value = 0;
    for (unsigned n = 0; n < bytes; ++n) value = value << 8 | sram_[address + n];
    return value;
}

std::uint32_t reference_core::word_at(std::uint32_t address) const { return memory(address, 4); }

bool reference_core::stop(trap_kind kind, cycle at) {
    trap_ = kind;
    trap_at_ = at;
    return false;
}

// The fields that an instruction uses, whatever its format.
struct reference_core::operands {
    bool legal = true, memory = false, store = false, update = false, jump_form = false, zero_extend = false,
         late = false;
    unsigned rd = 0, base = 0, bytes = 0, slots = 0;
    std::uint32_t reads = 0;
};

bool reference_core::step(cycle limit) {
    if (trap_) return false;
    if (s_.next_issue >= limit) return false;
    if (s_.pc % 4 != 0) return stop(trap_kind::misaligned_fetch, s_.next_issue);
    if (s_.pc > sram_.size() - 4) return stop(trap_kind::unmapped_fetch, s_.next_issue);
    const std::uint32_t w = word_at(s_.pc);
    const auto bits = [w](unsigned high, unsigned low) { return w << (31 - high) >> (31 - high + low); };
    const auto sext = [](std::uint32_t v, unsigned n) {
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(v << (32 - n)) >> (32 - n));
    };
    const unsigned top = bits(31, 28);

    // What does it read, where does the result go?
    operands o;
    o.rd = bits(27, 23);
    o.base = bits(22, 18);
    const unsigned rs2 = bits(15, 11), bbb = bits(10, 8), j = bits(7, 3);
    const bool j_shift = j == 16 || j == 24;
    bool is_br = false, is_brr = false, is_scc = false, is_sls = false, is_sli = false, is_spls = false;
    if (top < 8) {
        o.reads = 1u << o.base;
    } else if (top == 8 || top == 9) {
        o.memory = true;
        o.store = top == 9;
        o.bytes = 4;
        o.reads = 1u << o.base;
    } else if (top == 10 || top == 11) {
        o.memory = true;
        o.store = top == 11;
        o.bytes = bits(2, 1) == 1 ? 4 : bits(2, 1) == 0 ? 2 : 1;
        o.legal = bits(2, 1) != 3 && !(bbb == 7 && (!j_shift || o.bytes != 4)) && !(o.store && bits(0, 0));
        o.reads = 1u << o.base | (bits(17, 16) != 0 ? 1u << rs2 : 0);
    } else if (top == 12) {
        o.legal = bbb == 7 ? (j_shift || (j == 0 && bits(17, 17) == 0)) : j == 0;
        o.reads = 1u << o.base | 1u << rs2;
    } else if (top == 13) {
        o.legal = bits(17, 2) == 0 && bits(1, 0) != 0;
        o.reads = 1u << o.base;
    } else if (top == 14) {
        is_br = bits(1, 1) == 0;
        is_brr = !is_br && bits(24, 24) == 1;
        is_scc = !is_br && !is_brr;
        o.legal = is_br ||
                  (is_brr ? bits(23, 23) == 0 && bits(17, 16) == 0 : bits(23, 23) == 0 && bits(17, 2) == 0);
        if (is_brr) o.reads = 1u << o.base;
        o.rd = is_scc ? bits(22, 18) : 0;
    } else {
        is_sls = bits(17, 17) == 0;
        is_sli = bits(17, 16) == 2;
        is_spls = bits(17, 15) == 6;
        o.legal = is_sls || is_sli || is_spls;
        o.memory = is_sls || is_spls;
        o.store = is_sls ? bits(16, 16) : is_spls && bits(13, 13);
        o.bytes = is_sls ? 4 : bits(14, 14) ? 1 : 2;
        if (is_spls) {
            o.reads = 1u << o.base;
            if (o.store && bits(12, 12)) o.legal = false;
        }
    }
    if (o.store) o.reads |= 1u << o.rd;
    if (!o.legal) o.reads = 0;
    o.late = (o.memory && !o.store) || is_sli;
    if (is_br || is_brr)
        o.slots = 1;
    else if (!o.store && o.rd == 2)
        o.slots = o.late ? 2 : 1;

    const bool waits = s_.loading != 0 && (o.reads >> s_.loading & 1);
    const cycle at = s_.next_issue + (waits ? config_.load_use_cycles : 0);
    if (at >= limit) return false;

    // Address of a memory access.
    std::uint32_t address = 0, new_base = 0;
    bool pre = false;
    if (o.legal && o.memory && !is_sls) {
        std::uint32_t offset = 0;
        pre = is_spls ? bits(11, 11) : bits(17, 17);
        o.update = is_spls ? bits(10, 10) : bits(16, 16);
        o.zero_extend = is_spls ? bits(12, 12) : top >= 10 && top <= 11 && bits(0, 0);
        if (top == 8 || top == 9)
            offset = sext(bits(15, 0), 16);
        else if (is_spls)
            offset = sext(bits(9, 0), 10);
        else
            offset = reg(rs2);
        const unsigned how = top == 10 || top == 11 ? bbb : 0;
        new_base = operate(how, j == 24, reg(o.base), offset, false);
        address = pre ? new_base : reg(o.base);
    } else if (is_sls) {
        address = (o.base << 16 | bits(15, 0)) & ~3u;
    }
    if (!o.legal || (o.update && o.base == 2)) return stop(trap_kind::illegal_instruction, at);
    if (o.slots != 0 && s_.delay_slots != 0) return stop(trap_kind::branch_in_delay_slot, at);

    // The result; flags are put back when the instruction turns out to trap.
    const core_state before = s_;
    std::uint32_t value = 0;
    bool happens = true;
    if (top < 8) {
        const bool high = bits(16, 16);
        std::uint32_t k = high ? bits(15, 0) << 16 : bits(15, 0);
        if (top == 4) k |= high ? 0xFFFFu : 0xFFFF0000u;
        if (top == 7) k = sext(bits(15, 0), 16);
        value = operate(top, high, reg(o.base), k, bits(17, 17));
    } else if (top == 12) {
        const bool holds = condition_holds(bits(2, 0) * 2 + bits(16, 16));
        if (bbb == 7 && j == 0) {
            value = holds ? reg(o.base) : reg(rs2);
        } else {
            happens = holds;
            if (holds) value = operate(bbb, j == 24, reg(o.base), reg(rs2), bits(17, 17));
        }
    } else if (top == 13) {
        const std::uint32_t v = reg(o.base);
        std::uint32_t count = 0;
        if (bits(1, 0) == 1) {
            for (unsigned n = 0; n < 32; ++n) count += v >> n & 1;
        } else if (bits(1, 0) == 2) {
            while (count < 32 && !(v >> (31 - count) & 1)) ++count;
        } else {
            while (count < 32 && !(v >> count & 1)) ++count;
        }
        value = count;
    } else if (top == 14) {
        const bool holds = condition_holds(bits(27, 25) * 2 + bits(0, 0));
        if (is_scc) {
            value = holds;
        } else {
            happens = holds;
            value = is_br ? w & 0x01FFFFFCu : reg(o.base) + sext(bits(15, 2) << 2, 16);
        }
    } else if (is_sli) {
        value = o.base << 16 | bits(15, 0);
    }

    std::uint32_t sp = 0xFFFFFFFFu;
    if (o.update && o.base == 4)
        sp = new_base;
    else if (!o.memory && !is_br && !is_brr && o.rd == 4 && happens)
        sp = value;
    const auto undo = [&](trap_kind kind) {
        s_ = before;
        return stop(kind, at);
    };
    if (sp < config_.stack_limit) return undo(trap_kind::stack_overflow);
    const bool sram_access = o.memory && address <= sram_.size() - o.bytes;
    if (o.memory && address % o.bytes != 0) return undo(trap_kind::misaligned_access);
    if (o.memory && !sram_access && !devices_.mapped(address, o.bytes))
        return undo(trap_kind::unmapped_access);
    const auto stored = reg(o.rd);
    if (o.memory && !o.store) {
        value = sram_access ? memory(address, o.bytes) : devices_.load(address, o.bytes, at);
        if (o.bytes < 4 && !o.zero_extend) value = sext(value, o.bytes * 8);
        if (o.rd == 4 && sram_access && value < config_.stack_limit) return undo(trap_kind::stack_overflow);
    } else if (o.store && !sram_access) {
        devices_.store(address, o.bytes, stored, at);
    } else if (o.store) {
        for (unsigned n = 0; n < o.bytes; ++n)
            sram_[address + n] = static_cast<std::uint8_t>(stored >> (8 * (o.bytes - 1 - n)));
    }

    // Slots: the fetch, then the data.
    slot next = at * config_.slots_per_cycle;
    unsigned taken = 0;
    if (s_.fetched != s_.pc / config_.slot_bytes * config_.slot_bytes) ++taken;
    if (sram_access) {
        taken += !o.store       ? config_.load_slots
                 : o.bytes == 4 ? config_.word_store_slots
                                : config_.narrow_store_slots;
    }
    cycle after = at + 1;
    for (unsigned n = 0; n < taken; ++n) {
        const slot got = free_slot(next);
        next = got + 1;
        after = std::max(at + 1, got / config_.slots_per_cycle + 1);
    }
    load_use_ += at - s_.next_issue;
    slot_wait_ += after - (at + 1);
    if (o.memory && !sram_access) {
        const unsigned extra = o.store ? config_.register_store_cycles : config_.register_load_cycles;
        register_wait_ += extra;
        after += extra;
    }

    path_.push_back(s_.pc);
    s_.fetched = s_.pc / config_.slot_bytes * config_.slot_bytes;
    if (o.update && o.base > 2) s_.registers[o.base] = new_base;
    if (!o.store && !is_br && !is_brr && happens && o.rd > 2) s_.registers[o.rd] = value;
    s_.loading = o.late && o.rd > 2 ? o.rd : 0;
    const std::uint32_t target = value;
    s_.pc = s_.next_pc;
    s_.next_pc = s_.second_next_pc;
    s_.second_next_pc += 4;
    if (s_.delay_slots > 0) --s_.delay_slots;
    if (o.slots > 0) {
        s_.delay_slots = o.slots;
        if (happens && o.slots == 1) {
            s_.next_pc = target;
            s_.second_next_pc = target + 4;
        } else if (happens) {
            s_.second_next_pc = target;
        }
    }
    s_.registers[2] = s_.pc;
    s_.next_issue = after;
    ++retired_;
    return true;
}

}  // namespace vinic::lanai::testing
