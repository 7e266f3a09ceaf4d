// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/lanai/isa.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace vinic::lanai {
namespace {

constexpr std::array<const char*, 32> register_names{
    "%r0",  "%r1",  "%pc",  "%r3",  "%sp",  "%fp",  "%r6",  "%r7",  "%rv",  "%r9",  "%rr1",
    "%rr2", "%r12", "%r13", "%r14", "%rca", "%r16", "%r17", "%r18", "%r19", "%r20", "%r21",
    "%r22", "%r23", "%r24", "%r25", "%r26", "%r27", "%r28", "%r29", "%r30", "%r31"};
constexpr std::array<const char*, 16> condition_names{"t",  "f",  "ugt", "ule", "ult", "uge", "ne", "eq",
                                                      "vc", "vs", "pl",  "mi",  "ge",  "lt",  "gt", "le"};
constexpr std::array<const char*, 13> operation_names{"add", "addc", "sub", "subb", "and",   "or",    "xor",
                                                      "sh",  "sha",  "sel", "popc", "leadz", "trailz"};

// J field (bits 7-3) that tells what BBB = 111 means.
constexpr unsigned j_select = 0b00000, j_logical = 0b10000, j_arithmetic = 0b11000;

constexpr unsigned field(std::uint32_t word, unsigned high, unsigned low) {
    return (word >> low) & ((1u << (high - low + 1)) - 1);
}

constexpr std::int32_t sign_extend(std::uint32_t value, unsigned bits) {
    const std::uint32_t sign = 1u << (bits - 1);
    return static_cast<std::int32_t>((value ^ sign) - sign);
}

condition condition_of(unsigned ddd, unsigned i) { return static_cast<condition>(ddd * 2 + i); }

instruction decode_ri(std::uint32_t w) {
    instruction r{.format = form::ri};
    r.op = static_cast<operation>(field(w, 30, 28));
    r.rd = static_cast<std::uint8_t>(field(w, 27, 23));
    r.rs1 = static_cast<std::uint8_t>(field(w, 22, 18));
    r.sets_flags = field(w, 17, 17) != 0;
    const bool h = field(w, 16, 16) != 0;
    const std::uint32_t k = field(w, 15, 0);
    if (r.op == operation::shift_logical) {
        r.op = h ? operation::shift_arithmetic : operation::shift_logical;
        r.immediate = sign_extend(k, 16);
        return r;
    }
    r.high = h;
    std::uint32_t value = h ? k << 16 : k;
    if (r.op == operation::and_) value |= h ? 0xFFFFu : 0xFFFF0000u;
    r.immediate = static_cast<std::int32_t>(value);
    return r;
}

// BBB and JJJJJ of RR and RRM; false when they mean nothing.
bool decode_operation(std::uint32_t w, instruction& r) {
    const unsigned bbb = field(w, 10, 8), j = field(w, 7, 3);
    if (bbb != 7) {
        r.op = static_cast<operation>(bbb);
        return r.format == form::rrm || j == 0;
    }
    if (j == j_select && r.format == form::rr)
        r.op = operation::select;
    else if (j == j_logical)
        r.op = operation::shift_logical;
    else if (j == j_arithmetic)
        r.op = operation::shift_arithmetic;
    else
        return false;
    return !(r.op == operation::select && r.sets_flags);
}

instruction decode_rr(std::uint32_t w) {
    instruction r{.format = form::rr};
    r.rd = static_cast<std::uint8_t>(field(w, 27, 23));
    r.rs1 = static_cast<std::uint8_t>(field(w, 22, 18));
    r.rs2 = static_cast<std::uint8_t>(field(w, 15, 11));
    r.sets_flags = field(w, 17, 17) != 0;
    r.cond = condition_of(field(w, 2, 0), field(w, 16, 16));
    return decode_operation(w, r) ? r : instruction{};
}

instruction decode_rm(std::uint32_t w) {
    instruction r{.format = form::rm, .op = operation::add};
    r.store = field(w, 28, 28) != 0;
    r.rd = static_cast<std::uint8_t>(field(w, 27, 23));
    r.rs1 = static_cast<std::uint8_t>(field(w, 22, 18));
    r.pre = field(w, 17, 17) != 0;
    r.update = field(w, 16, 16) != 0;
    r.bytes = 4;
    if (r.pre || r.update) r.immediate = sign_extend(field(w, 15, 0), 16);
    return r;
}

instruction decode_rrm(std::uint32_t w) {
    instruction r{.format = form::rrm};
    r.store = field(w, 28, 28) != 0;
    r.rd = static_cast<std::uint8_t>(field(w, 27, 23));
    r.rs1 = static_cast<std::uint8_t>(field(w, 22, 18));
    r.pre = field(w, 17, 17) != 0;
    r.update = field(w, 16, 16) != 0;
    const unsigned yl = field(w, 2, 1);
    r.bytes = static_cast<std::uint8_t>(yl == 1 ? 4 : yl == 0 ? 2 : 1);
    r.zero_extend = field(w, 0, 0) != 0;
    if (yl == 3 || !decode_operation(w, r) || (r.store && r.zero_extend)) return {};
    // A4: an address made by a shift goes with a word access; LLVM prints other widths, what they do nobody
    // says.
    if (field(w, 10, 8) == 7 && r.bytes != 4) return {};
    if (r.pre || r.update) r.rs2 = static_cast<std::uint8_t>(field(w, 15, 11));
    return r;
}

instruction decode_special(std::uint32_t w) {
    instruction r{.format = form::special};
    r.rd = static_cast<std::uint8_t>(field(w, 27, 23));
    r.rs1 = static_cast<std::uint8_t>(field(w, 22, 18));
    switch (field(w, 17, 0)) {
        case 1:
            r.op = operation::popc;
            return r;
        case 2:
            r.op = operation::leadz;
            return r;
        case 3:
            r.op = operation::trailz;
            return r;
        default:
            return {};
    }
}

instruction decode_branch(std::uint32_t w) {
    instruction r{.format = form::br};
    r.cond = condition_of(field(w, 27, 25), field(w, 0, 0));
    if (field(w, 1, 1) == 0) {
        r.immediate = static_cast<std::int32_t>(w & 0x01FFFFFCu);
        return r;
    }
    if (field(w, 24, 24) != 0) {
        r.format = form::brr;
        r.rs1 = static_cast<std::uint8_t>(field(w, 22, 18));
        r.immediate = sign_extend(w & 0xFFFCu, 16);
        return field(w, 23, 23) == 0 && field(w, 17, 16) == 0 ? r : instruction{};
    }
    r.format = form::scc;
    r.rd = static_cast<std::uint8_t>(field(w, 22, 18));
    return field(w, 23, 23) == 0 && field(w, 17, 2) == 0 ? r : instruction{};
}

instruction decode_last(std::uint32_t w) {
    instruction r;
    r.rd = static_cast<std::uint8_t>(field(w, 27, 23));
    const auto absolute = static_cast<std::int32_t>(field(w, 22, 18) << 16 | field(w, 15, 0));
    if (field(w, 17, 17) == 0) {
        r.format = form::sls;
        r.store = field(w, 16, 16) != 0;
        r.bytes = 4;
        r.immediate = absolute;  // the access ignores the low two bits
        return r;
    }
    if (field(w, 16, 16) == 0) {
        r.format = form::sli;
        r.immediate = absolute;
        return r;
    }
    if (field(w, 15, 15) != 0) return {};
    r.format = form::spls;
    r.op = operation::add;
    r.rs1 = static_cast<std::uint8_t>(field(w, 22, 18));
    r.bytes = field(w, 14, 14) != 0 ? 1 : 2;
    r.store = field(w, 13, 13) != 0;
    r.zero_extend = field(w, 12, 12) != 0;
    r.pre = field(w, 11, 11) != 0;
    r.update = field(w, 10, 10) != 0;
    if (r.pre || r.update) r.immediate = sign_extend(field(w, 9, 0), 10);
    return r.store && r.zero_extend ? instruction{} : r;
}

void require(bool fits, const char* what) {
    if (!fits) throw std::invalid_argument(what);
}

std::uint32_t bit(bool value, unsigned position) { return static_cast<std::uint32_t>(value) << position; }

std::uint32_t encode_ri(const instruction& i) {
    const auto value = static_cast<std::uint32_t>(i.immediate);
    std::uint32_t op = static_cast<std::uint32_t>(i.op), k = value & 0xFFFF;
    bool h = i.high;
    if (i.op == operation::shift_logical || i.op == operation::shift_arithmetic) {
        op = 7;
        h = i.op == operation::shift_arithmetic;
        require(i.immediate >= -32768 && i.immediate <= 32767, "shift amount has 16 bits");
    } else {
        require(i.op < operation::shift_logical, "not an operation of RI");
        const std::uint32_t other = i.op == operation::and_ ? 0xFFFF : 0;
        if (h) k = value >> 16;
        require((h ? value & 0xFFFF : value >> 16) == other, "the other half of an RI constant is fixed");
    }
    return op << 28 | bit(i.sets_flags, 17) | bit(h, 16) | k;
}

std::uint32_t encode_operation(const instruction& i) {
    switch (i.op) {
        case operation::shift_logical:
            return 7u << 8 | j_logical << 3;
        case operation::shift_arithmetic:
            return 7u << 8 | j_arithmetic << 3;
        case operation::select:
            return 7u << 8 | j_select << 3;
        default:
            require(i.op < operation::shift_logical, "not an operation of RR");
            return static_cast<std::uint32_t>(i.op) << 8;
    }
}

std::uint32_t condition_bits(const instruction& i, unsigned ddd, unsigned low) {
    const auto c = static_cast<std::uint32_t>(i.cond);
    return (c >> 1) << ddd | (c & 1) << low;
}

std::uint32_t encode_memory(const instruction& i) {
    const auto offset = static_cast<std::uint32_t>(i.immediate);
    if (i.format == form::rrm) {
        require(!(i.store && i.zero_extend), "a store extends nothing");
        const std::uint32_t yl = i.bytes == 4 ? 1 : i.bytes == 2 ? 0 : 2;
        return 0xA0000000u | bit(i.store, 28) | bit(i.pre, 17) | bit(i.update, 16) |
               std::uint32_t{i.rs2} << 11 | encode_operation(i) | yl << 1 | bit(i.zero_extend, 0);
    }
    const bool moves = i.immediate != 0;  // the assembler clears P and Q of offset 0 (A4)
    if (i.format == form::rm) {
        require(i.immediate >= -32768 && i.immediate <= 32767, "RM offset has 16 bits");
        return 0x80000000u | bit(i.store, 28) | bit(i.pre && moves, 17) | bit(i.update && moves, 16) |
               (offset & 0xFFFF);
    }
    require(i.immediate >= -512 && i.immediate <= 511, "SPLS offset has 10 bits");
    require(!(i.store && i.zero_extend), "a store extends nothing");
    return 0xF0030000u | bit(i.bytes == 1, 14) | bit(i.store, 13) | bit(i.zero_extend, 12) |
           bit(i.pre && moves, 11) | bit(i.update && moves, 10) | (offset & 0x3FF);
}

std::uint32_t encode_absolute(const instruction& i) {
    const auto value = static_cast<std::uint32_t>(i.immediate);
    require(value < 1u << 21, "SLS and SLI constants have 21 bits");
    return 0xF0000000u | (value >> 16) << 18 | (value & 0xFFFF) |
           (i.format == form::sli ? 2u << 16 : bit(i.store, 16));
}

std::string hex(std::int32_t value) {
    return value < 0 ? fmt::format("-0x{:x}", -std::int64_t{value}) : fmt::format("0x{:x}", value);
}

std::string unsigned_hex(std::int32_t value) {
    return fmt::format("0x{:x}", static_cast<std::uint32_t>(value));
}

std::string name_of(const instruction& i) { return operation_names[static_cast<std::size_t>(i.op)]; }

const char* suffix_of(const instruction& i) { return condition_names[static_cast<std::size_t>(i.cond)]; }

std::string text_ri(const instruction& i, std::uint32_t word) {
    if (word == 1) return "nop";
    if (word >= 2 && word <= 6) return fmt::format("log_{}", word - 2);
    const bool shift = i.op == operation::shift_logical || i.op == operation::shift_arithmetic;
    const std::string k = shift ? hex(i.immediate) : unsigned_hex(i.immediate);
    const bool constant =
        (i.op == operation::add && i.rs1 == reg_zero) || (i.op == operation::and_ && i.rs1 == reg_ones);
    if (!i.sets_flags && constant) return fmt::format("mov\t{}, {}", k, register_names[i.rd]);
    return fmt::format("{}{}\t{}, {}, {}", name_of(i), i.sets_flags ? ".f" : "", register_names[i.rs1], k,
                       register_names[i.rd]);
}

std::string text_rr(const instruction& i) {
    const char *a = register_names[i.rs1], *b = register_names[i.rs2], *d = register_names[i.rd];
    const bool always = i.cond == condition::t;
    if (i.op == operation::select) return fmt::format("sel.{} {}, {}, {}", suffix_of(i), a, b, d);
    if (i.op == operation::or_ && i.rd == reg_pc && !i.sets_flags) {
        if (always && i.rs1 == reg_zero) return fmt::format("bt\t{}", b);
        if (i.rs2 == reg_zero) return fmt::format("b{}\t{}", suffix_of(i), a);
        return fmt::format("b{}\t{} add {}", suffix_of(i), a, b);
    }
    if (i.op == operation::add && i.rs2 == reg_zero && always && !i.sets_flags)
        return fmt::format("mov\t{}, {}", a, d);
    return fmt::format("{}{}{}{}\t{}, {}, {}", name_of(i), i.sets_flags ? ".f" : "", always ? "" : ".",
                       always ? "" : suffix_of(i), a, b, d);
}

std::string text_address(const instruction& i) {
    const char* base = register_names[i.rs1];
    if (i.format == form::sls) return fmt::format("[0x{:x}]", i.immediate);
    if (i.format == form::rrm) {
        const char *before = i.update && i.pre ? "*" : "", *after = i.update && !i.pre ? "*" : "";
        return fmt::format("[{}{}{} {} {}]", before, base, after, name_of(i), register_names[i.rs2]);
    }
    if (i.update && (i.immediate == i.bytes || i.immediate == -i.bytes)) {
        const char* step = i.immediate > 0 ? "++" : "--";
        return i.pre ? fmt::format("[{}{}]", step, base) : fmt::format("[{}{}]", base, step);
    }
    const char *before = i.update && i.pre ? "*" : "", *after = i.update && !i.pre ? "*" : "";
    return fmt::format("{}[{}{}{}]", i.immediate, before, base, after);
}

std::string text_memory(const instruction& i, std::uint32_t word) {
    const char* width = i.bytes == 4 ? "" : i.bytes == 2 ? ".h" : ".b";
    const char* d = register_names[i.rd];
    if (i.store) return fmt::format("st{}\t{}, {}", width, d, text_address(i));
    constexpr std::uint32_t return_word = 0x8116FFFC;
    return fmt::format("{}ld{}\t{}, {}{}", i.zero_extend ? "u" : "", width, text_address(i), d,
                       word == return_word ? " ! return" : "");
}

}  // namespace

instruction decode(std::uint32_t word) {
    switch (word >> 28) {
        default:
            return decode_ri(word);
        case 0x8:
        case 0x9:
            return decode_rm(word);
        case 0xA:
        case 0xB:
            return decode_rrm(word);
        case 0xC:
            return decode_rr(word);
        case 0xD:
            return decode_special(word);
        case 0xE:
            return decode_branch(word);
        case 0xF:
            return decode_last(word);
    }
}

std::uint32_t encode(const instruction& i) {
    require(i.rd < 32 && i.rs1 < 32 && i.rs2 < 32, "there are 32 registers");
    const std::uint32_t d = std::uint32_t{i.rd} << 23, s1 = std::uint32_t{i.rs1} << 18;
    switch (i.format) {
        case form::ri:
            return encode_ri(i) | d | s1;
        case form::rr:
            return 0xC0000000u | d | s1 | bit(i.sets_flags, 17) | std::uint32_t{i.rs2} << 11 |
                   encode_operation(i) | condition_bits(i, 0, 16);
        case form::rm:
        case form::rrm:
        case form::spls:
            return encode_memory(i) | d | s1;
        case form::special:
            require(i.op >= operation::popc && i.op <= operation::trailz, "not a special operation");
            return 0xD0000000u | d | s1 |
                   (static_cast<std::uint32_t>(i.op) - static_cast<std::uint32_t>(operation::popc) + 1);
        case form::br:
            require((static_cast<std::uint32_t>(i.immediate) & ~0x01FFFFFCu) == 0,
                    "BR reaches words below 32 MiB");
            return 0xE0000000u | condition_bits(i, 25, 0) | static_cast<std::uint32_t>(i.immediate);
        case form::brr:
            require(i.immediate >= -32768 && i.immediate <= 32764 && i.immediate % 4 == 0,
                    "BRR offset has 14 bits, in words");
            return 0xE1000002u | condition_bits(i, 25, 0) | s1 |
                   (static_cast<std::uint32_t>(i.immediate) & 0xFFFC);
        case form::scc:
            return 0xE0000002u | condition_bits(i, 25, 0) | std::uint32_t{i.rd} << 18;
        case form::sls:
        case form::sli:
            return encode_absolute(i) | d;
        case form::illegal:
            break;
    }
    throw std::invalid_argument("an illegal instruction has no encoding");
}

std::string disassemble(std::uint32_t word) {
    const instruction i = decode(word);
    switch (i.format) {
        case form::ri:
            return text_ri(i, word);
        case form::rr:
            return text_rr(i);
        case form::rm:
        case form::rrm:
        case form::sls:
        case form::spls:
            return text_memory(i, word);
        case form::sli:
            return fmt::format("mov\t0x{:x}, {}", i.immediate, register_names[i.rd]);
        case form::special:
            return fmt::format("{}\t{}, {}", name_of(i), register_names[i.rs1], register_names[i.rd]);
        case form::br:
            return fmt::format("b{}\t0x{:x}", suffix_of(i), i.immediate);
        case form::brr:
            // llvm has no text for a base other than r0; the base is shown as a load shows it.
            if (i.rs1 == reg_zero) return fmt::format("b{}.r\t0x{:x}", suffix_of(i), i.immediate & 0xFFFF);
            return fmt::format("b{}.r\t{}[{}]", suffix_of(i), i.immediate, register_names[i.rs1]);
        case form::scc:
            return fmt::format("s{}\t{}", suffix_of(i), register_names[i.rd]);
        case form::illegal:
            break;
    }
    return fmt::format("<illegal 0x{:08x}>", word);
}

bool instruction::is_branch() const { return delay_slots() != 0; }

unsigned instruction::delay_slots() const {
    if (format == form::br || format == form::brr) return 1;
    if (format == form::illegal || store || rd != reg_pc) return 0;
    return late_result() ? 2 : 1;
}

std::uint32_t instruction::reads() const {
    const std::uint32_t a = 1u << rs1, b = 1u << rs2, d = store ? 1u << rd : 0;
    switch (format) {
        case form::rr:
        case form::rrm:
            return a | b | d;
        case form::ri:
        case form::special:
        case form::brr:
        case form::rm:
        case form::spls:
            return a | d;
        case form::sls:
            return d;
        default:
            return 0;
    }
}

unsigned instruction::writes() const {
    if (store || format == form::br || format == form::brr || format == form::illegal) return 0;
    return rd;
}

}  // namespace vinic::lanai
