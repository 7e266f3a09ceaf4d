// SPDX-License-Identifier: Apache-2.0
// The LANai instruction set as clang emits it: decode, encode, text (facts/lanai_pcix.md A2 to A5).
#pragma once

#include <cstdint>
#include <string>

namespace vinic::lanai {

inline constexpr unsigned reg_zero = 0, reg_ones = 1, reg_pc = 2, reg_sp = 4, reg_fp = 5, reg_rv = 8,
                          reg_rca = 15;

enum class form : std::uint8_t { ri, rr, rm, rrm, br, brr, scc, sls, sli, spls, special, illegal };

enum class operation : std::uint8_t {
    add,
    addc,
    sub,
    subb,
    and_,
    or_,
    xor_,
    shift_logical,
    shift_arithmetic,
    select,
    popc,
    leadz,
    trailz,
    none
};

// Conditions by value DDD * 2 + I (A5).
enum class condition : std::uint8_t { t, f, ugt, ule, ult, uge, ne, eq, vc, vs, pl, mi, ge, lt, gt, le };

// One instruction, its fields as a program sees them.
struct instruction {
    form format = form::illegal;
    operation op = operation::none;  // of RI, RR, special; of the address in RRM
    condition cond = condition::t;   // of RR, BR, BRR, SCC
    std::uint8_t rd = 0, rs1 = 0, rs2 = 0;
    bool sets_flags = false;  // F
    bool high = false;        // H of RI: the constant is the upper half
    bool store = false;
    bool pre = false;     // P: the address includes the offset
    bool update = false;  // Q: rs1 becomes rs1 op offset
    bool zero_extend = false;
    std::uint8_t bytes = 0;  // of the memory access: 1, 2, 4
    std::int32_t immediate =
        0;  // RI: the 32-bit operand, or shift amount; RM, SPLS, BRR: offset; BR, SLS: address; SLI: value

    bool operator==(const instruction&) const = default;
    bool is_memory() const {
        return format == form::rm || format == form::rrm || format == form::sls || format == form::spls;
    }
    bool is_load() const { return is_memory() && !store; }
    bool load_into(unsigned r) const { return is_load() && rd == r; }
    // May this change the program counter? Then the next word(s) are delay slots.
    bool is_branch() const;
    unsigned delay_slots() const;
    // Does the result come one cycle late (load or SLI)?
    bool late_result() const { return is_load() || format == form::sli; }
    // Bit n: register n is read.
    std::uint32_t reads() const;
    // The register that the result goes to, or 0.
    unsigned writes() const;
};

instruction decode(std::uint32_t word);
// The word of a legal instruction; throws std::invalid_argument when a field does not fit.
std::uint32_t encode(const instruction& i);
// Text as llvm-objdump prints it, without leading blank: mnemonic, tab, operands. `word` is needed for
// illegal encodings only.
std::string disassemble(std::uint32_t word);

}  // namespace vinic::lanai
