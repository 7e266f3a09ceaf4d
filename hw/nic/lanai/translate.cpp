// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "hw/nic/lanai/blocks.h"

namespace vinic::lanai {
namespace {

micro offset_by(micro first, unsigned steps) {
    return static_cast<micro>(static_cast<unsigned>(first) + steps);
}

std::uint8_t target_register(unsigned rd) { return static_cast<std::uint8_t>(rd <= reg_ones ? sink : rd); }

class translator {
public:
    translator(block& b, const core_config& config, std::span<const std::uint8_t> sram, std::uint32_t end)
        : block_(b), config_(config), sram_(sram), end_(end) {}

    bool run(std::uint32_t pc);

private:
    bool fetch(std::uint32_t pc, instruction& i) const;
    bool body(const instruction& i, std::uint32_t pc, micro_op& op) const;
    bool body_ri(const instruction& i, micro_op& op) const;
    bool body_rr(const instruction& i, micro_op& op) const;
    bool body_memory(const instruction& i, micro_op& op) const;
    bool branch(const instruction& i, std::uint32_t pc);
    bool slots_follow(const instruction& i, std::uint32_t pc) const;
    void append(const instruction& i, std::uint32_t pc, micro_op op);
    void finish(block_end end);

    block& block_;
    const core_config& config_;
    std::span<const std::uint8_t> sram_;
    const std::uint32_t end_;
    std::uint32_t next_cycle_ = 0;
};

bool translator::fetch(std::uint32_t pc, instruction& i) const {
    if (pc > sram_.size() - 4) return false;
    i = decode(load_be32(sram_.data() + pc));
    return i.format != form::illegal;
}

bool translator::body_ri(const instruction& i, micro_op& op) const {
    op.k = static_cast<std::uint32_t>(i.immediate);
    if (i.rd == reg_sp && (i.sets_flags || (i.op != operation::add && i.op != operation::sub))) return false;
    if (i.sets_flags && (i.op == operation::add || i.op == operation::sub || i.op == operation::and_)) {
        op.code = i.op == operation::add   ? micro::add_k_f
                  : i.op == operation::sub ? micro::sub_k_f
                                           : micro::and_k_f;
        return true;
    }
    if (i.sets_flags || i.op == operation::addc || i.op == operation::subb) {
        op.code = micro::alu_k;
        op.op = static_cast<std::uint8_t>(static_cast<unsigned>(i.op) | (i.sets_flags ? 0x80 : 0));
        return true;
    }
    if (op.d == sink) return true;  // stays a nop
    switch (i.op) {
        case operation::sub:
            op.k = 0u - op.k;
            [[fallthrough]];
        case operation::add:
            op.code = i.rd == reg_sp ? micro::add_sp : micro::add_k;
            break;
        case operation::and_:
            op.code = micro::and_k;
            break;
        case operation::or_:
            op.code = micro::or_k;
            break;
        case operation::xor_:
            op.code = micro::xor_k;
            break;
        default: {
            const bool right = i.immediate < 0;
            op.k = (right ? 0u - op.k : op.k) & 31;
            op.code = !right ? micro::shl_k : i.op == operation::shift_logical ? micro::shr_k : micro::sar_k;
        }
    }
    if (op.code != micro::add_sp && i.rs1 == reg_zero) {
        op.k = alu(i.op, 0, static_cast<std::uint32_t>(i.immediate), 0).value;
        op.code = micro::constant;
    }
    return true;
}

bool translator::body_rr(const instruction& i, micro_op& op) const {
    if (i.rd == reg_sp) return false;
    op.op = static_cast<std::uint8_t>(static_cast<unsigned>(i.op) | (i.sets_flags ? 0x80 : 0));
    op.mask = flags::masks[static_cast<std::size_t>(i.cond)];
    if (i.op == operation::select) {
        op.code = micro::select;
    } else if (i.cond != condition::t) {
        op.code = micro::alu_if;
    } else if (i.sets_flags) {
        op.code = i.op == operation::sub    ? micro::sub_f
                  : i.op == operation::add  ? micro::add_f
                  : i.op == operation::and_ ? micro::and_f
                  : i.op == operation::or_  ? micro::or_f
                                            : micro::alu;
    } else {
        switch (i.op) {
            case operation::add:
                op.code = micro::add;
                break;
            case operation::sub:
                op.code = micro::sub;
                break;
            case operation::and_:
                op.code = micro::and_;
                break;
            case operation::or_:
                op.code = micro::or_;
                break;
            case operation::xor_:
                op.code = micro::xor_;
                break;
            case operation::shift_logical:
                op.code = micro::shift;
                break;
            case operation::shift_arithmetic:
                op.code = micro::shift_arithmetic;
                break;
            default:
                op.code = micro::alu;
        }
    }
    return true;
}

bool translator::body_memory(const instruction& i, micro_op& op) const {
    op.d = i.store ? i.rd : target_register(i.rd);
    if (i.load_into(reg_sp) || (i.update && i.rs1 <= reg_pc)) return false;
    const unsigned width = i.bytes == 4 ? 0
                           : i.store    ? (i.bytes == 2 ? 1 : 2)
                                        : (i.bytes == 2 ? 1 : 3) + (i.zero_extend ? 1 : 0);
    if (i.format == form::rrm) {
        if (i.op != operation::add || !i.pre || i.update) return false;
        op.code = offset_by(i.store ? micro::store_w_rr : micro::load_w_rr, width);
        return true;
    }
    op.k = static_cast<std::uint32_t>(i.immediate);
    if (i.format == form::sls) {
        op.k &= ~3u;
        op.a = reg_zero;
    }
    if (i.update && i.rs1 == reg_sp) {
        if (!i.store || i.bytes != 4 || !i.pre) return false;
        op.code = micro::push;
        return true;
    }
    const unsigned mode = !i.update ? 0 : i.pre ? 2 : 1;
    op.code =
        i.store ? offset_by(micro::store_w, mode * 3 + width) : offset_by(micro::load_w, mode * 5 + width);
    return true;
}

// One instruction that is no branch.
bool translator::body(const instruction& i, std::uint32_t pc, micro_op& op) const {
    op.a = i.rs1;
    op.b = i.rs2;
    op.d = target_register(i.rd);
    switch (i.format) {
        case form::ri:
            if (i.rs1 == reg_pc && !i.sets_flags && i.rd != reg_sp && i.op < operation::addc) {
                op.code = micro::constant;
                op.k = pc + static_cast<std::uint32_t>(i.immediate);
                return true;
            }
            return body_ri(i, op);
        case form::rr:
            return body_rr(i, op);
        case form::rm:
        case form::rrm:
        case form::sls:
        case form::spls:
            return body_memory(i, op);
        case form::sli:
            op.code = micro::constant;
            op.k = static_cast<std::uint32_t>(i.immediate);
            return i.rd != reg_sp;
        case form::scc:
            op.code = micro::set_condition;
            op.mask = flags::masks[static_cast<std::size_t>(i.cond)];
            return i.rd != reg_sp;
        case form::special:
            op.code = i.op == operation::popc    ? micro::popc
                      : i.op == operation::leadz ? micro::leadz
                                                 : micro::trailz;
            return i.rd != reg_sp;
        default:
            return false;
    }
}

// Adds the instruction with its timing in an SRAM that nobody else uses.
void translator::append(const instruction& i, std::uint32_t pc, micro_op op) {
    const std::uint32_t line = pc & ~(config_.slot_bytes - 1);
    const bool first = block_.instructions == 0;
    const bool fetch = first || line != block_.fetched;
    unsigned slots = fetch ? 1 : 0;
    if (i.is_memory())
        slots += !i.store       ? config_.load_slots
                 : i.bytes == 4 ? config_.word_store_slots
                                : config_.narrow_store_slots;
    if (!first && block_.loading != 0 && (i.reads() >> block_.loading & 1) != 0)
        op.interlock = static_cast<std::uint8_t>(config_.load_use_cycles);
    const auto cycles = [&](unsigned n) {
        return std::max(1u, (n + config_.slots_per_cycle - 1) / config_.slots_per_cycle);
    };
    next_cycle_ += op.interlock;
    op.issue = static_cast<std::uint16_t>(next_cycle_);
    op.slots = static_cast<std::uint8_t>(slots);
    op.index = static_cast<std::uint8_t>(block_.instructions);
    if (first) {
        block_.first_reads = i.reads();
        block_.saved_by_fetch = cycles(slots) - cycles(slots - 1);
    }
    block_.load_use += op.interlock;
    block_.last_issue = next_cycle_;
    next_cycle_ += cycles(slots);
    block_.loading = i.late_result() && i.rd > reg_pc ? i.rd : 0;
    if (i.late_result()) op.op = late_result;
    block_.fetched = line;
    if (i.store) ++block_.stores;
    ++block_.instructions;
    if ((i.reads() >> reg_pc & 1) != 0 && op.code != micro::constant)
        block_.ops.push_back({.code = micro::read_pc, .k = pc, .index = op.index, .slots = no_instruction});
    block_.ops.push_back(op);
}

// All delay slots of the branch at pc are instructions that the block can hold.
bool translator::slots_follow(const instruction& i, std::uint32_t pc) const {
    if (pc + 4 * i.delay_slots() >= end_) return false;
    for (unsigned n = 1; n <= i.delay_slots(); ++n) {
        instruction slot;
        micro_op op;
        if (!fetch(pc + 4 * n, slot) || slot.is_branch() || !body(slot, pc + 4 * n, op)) return false;
    }
    return true;
}

bool translator::branch(const instruction& i, std::uint32_t pc) {
    if (!slots_follow(i, pc)) return false;
    micro_op op{.a = i.rs1, .b = i.rs2};
    block_end end = block_end::jump_register;
    if (i.format == form::br) {
        block_.target = static_cast<std::uint32_t>(i.immediate);
        end = i.cond == condition::t   ? block_end::jump
              : i.cond == condition::f ? block_end::next
                                       : block_end::branch;
        if (end == block_end::branch) op.code = micro::branch_if;
        op.mask = flags::masks[static_cast<std::size_t>(i.cond)];
    } else if (i.format == form::rr && i.cond == condition::t && !i.sets_flags &&
               (i.op == operation::add || i.op == operation::or_) &&
               (i.rs1 == reg_zero || i.rs2 == reg_zero)) {
        op.code = micro::jump_register;
        if (i.rs1 == reg_zero) op.a = i.rs2;
    } else if (i.format == form::rm && !i.update) {
        op.code = micro::load_pc;
        op.k = static_cast<std::uint32_t>(i.immediate);
    } else {
        return false;
    }
    append(i, pc, op);
    for (unsigned n = 1; n <= i.delay_slots(); ++n) {
        instruction slot;
        micro_op slot_op;
        fetch(pc + 4 * n, slot);
        body(slot, pc + 4 * n, slot_op);
        append(slot, pc + 4 * n, slot_op);
    }
    block_.slots_at_end = i.delay_slots();
    finish(end);
    return true;
}

void translator::finish(block_end end) {
    block_.cost = next_cycle_;
    block_.end = end;
}

bool translator::run(std::uint32_t pc) {
    block_.pc = pc;
    for (;; pc += 4) {
        instruction i;
        micro_op op;
        if (pc >= end_ || !fetch(pc, i)) break;
        if (i.is_branch()) {
            if (branch(i, pc)) return true;
            break;
        }
        if (!body(i, pc, op)) break;
        append(i, pc, op);
    }
    if (block_.instructions == 0) return false;
    finish(block_end::next);
    return true;
}

}  // namespace

bool translate(block& b, const core_config& config, std::span<const std::uint8_t> sram, std::uint32_t pc,
               std::uint32_t end) {
    return translator(b, config, sram, end).run(pc);
}

}  // namespace vinic::lanai
