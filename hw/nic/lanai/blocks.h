// SPDX-License-Identifier: Apache-2.0
// Firmware pre-decoded: straight runs of instructions as micro-operations with their timing worked out.
// Internal to hw/nic/lanai.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "hw/nic/lanai/core.h"
#include "hw/nic/lanai/machine.h"

namespace vinic::lanai {

enum class micro : std::uint8_t {
    // clang-format off
    nop, constant, read_pc,
    add_k, and_k, or_k, xor_k, shl_k, shr_k, sar_k, add_sp, sub_k_f, add_k_f, and_k_f,
    add, sub, and_, or_, xor_, shift, shift_arithmetic, sub_f, add_f, and_f, or_f,
    select, set_condition, popc, leadz, trailz, alu_k, alu, alu_if,
    // Loads and stores: address a + k; then (post) a += k after an access at a, (pre) a += k before an access there.
    load_w, load_h, load_uh, load_b, load_ub,
    load_w_post, load_h_post, load_uh_post, load_b_post, load_ub_post,
    load_w_pre, load_h_pre, load_uh_pre, load_b_pre, load_ub_pre,
    load_w_rr, load_h_rr, load_uh_rr, load_b_rr, load_ub_rr,
    store_w, store_h, store_b, store_w_post, store_h_post, store_b_post, store_w_pre, store_h_pre, store_b_pre, push,
    store_w_rr, store_h_rr, store_b_rr,
    branch_if, jump_register, load_pc
    // clang-format on
};

// Where a block leads.
enum class block_end : std::uint8_t { next, jump, branch, jump_register };

struct micro_op {
    micro code = micro::nop;
    std::uint8_t d = 0, a = 0, b = 0;  // registers
    std::uint32_t k = 0;
    std::uint16_t mask = 0;      // of a condition
    std::uint8_t op = 0;         // operation of alu_*; bit 7: sets the flags; or late_result
    std::uint8_t index = 0;      // of the instruction in its block
    std::uint16_t issue = 0;     // cycles after the first instruction's issue, when nobody else uses the SRAM
    std::uint8_t interlock = 0;  // cycles of load-use wait before it
    std::uint8_t slots = 0;      // it takes, with the fetch; bit 7: it is no instruction of its own
};
inline constexpr std::uint8_t no_instruction = 0x80;
inline constexpr std::uint8_t late_result = 0x40;  // who reads d right behind it waits

inline constexpr std::uint32_t longest_block = 66;  // instructions, delay slots of the last one included

struct block;

// The way from one block to the next: what the second one's first instruction has to wait for.
struct block_link {
    block* to = nullptr;
    std::uint8_t interlock = 0;
    bool fetched = false;  // its first word is in the fetch buffer
};

struct block {
    std::uint32_t pc = 0;
    std::uint32_t instructions = 0;
    std::uint32_t stores = 0;
    std::uint32_t load_use = 0;        // cycles, without the wait before the first instruction
    std::uint32_t cost = 0;            // cycles from the first issue to the next one, the first word fetched
    std::uint32_t saved_by_fetch = 0;  // cycles less when the first word is in the fetch buffer
    std::uint32_t last_issue = 0;      // cycles from the first issue to the last one, the first word fetched
    std::uint32_t first_reads = 0;     // registers that the first instruction reads
    std::uint32_t target = 0;          // of end_jump and end_branch
    unsigned loading = 0;              // by the last instruction
    std::uint32_t fetched = 0;         // by the last instruction
    unsigned slots_at_end = 0;         // the last instructions that are delay slots
    std::uint16_t region = 0;          // of its instructions, which are all of one
    block_end end = block_end::next;
    std::array<block_link, 2> links;  // [0] next, [1] branch taken
    std::vector<micro_op> ops;
};

// Translates the run that starts at pc and ends before `end`, or `longest_block` instructions later at the
// latest; false when not even its first instruction can be.
bool translate(block& b, const core_config& config, std::span<const std::uint8_t> sram, std::uint32_t pc,
               std::uint32_t end);

}  // namespace vinic::lanai
