// SPDX-License-Identifier: Apache-2.0
// Random programs for the tests that hold one LANai against another.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "hw/nic/lanai/processor.h"
#include "testbench/tests/lanai/assembler.h"

namespace vinic::lanai::testing {

inline constexpr std::uint32_t sram_bytes = 0x8000, code_words = 256, data_base = 0x4000;

// Random instructions, weighted so that programs live for a while: bases of memory accesses are r20 to r23,
// which point into the data and move by multiples of the access; results go to other registers.
class program_maker {
public:
    explicit program_maker(std::uint32_t seed) : random_(seed) {}

    std::vector<std::uint8_t> make() {
        std::vector<std::uint8_t> sram(sram_bytes);
        for (std::uint32_t a = 0; a < sram_bytes; a += 4) put_word(sram, a, random_());
        unsigned slots = 0;
        for (std::uint32_t n = 0; n < code_words; ++n) {
            const std::uint32_t word = n + 3 >= code_words ? jump_back(slots) : one(slots == 0);
            const instruction i = decode(word);
            slots = i.is_branch() ? i.delay_slots() : slots > 0 ? slots - 1 : 0;
            put_word(sram, 4 * n, word);
        }
        return sram;
    }
    core_state start() {
        core_state s;
        for (unsigned n = 3; n < 32; ++n) s.registers[n] = pick(3) == 0 ? pick(64) : random_();
        for (unsigned n = 20; n < 24; ++n) s.registers[n] = data_base + 4 * pick(0xA00);
        for (unsigned n = 24; n < 26; ++n) s.registers[n] = 4 * pick(64);
        s.registers[26] = 4 * pick(code_words - 4);
        s.registers[reg_sp] = 0x7F00;
        s.registers[reg_ones] = ~0u;
        return s;
    }

private:
    std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_()) % below; }
    std::uint8_t any() { return static_cast<std::uint8_t>(pick(5) == 0 ? pick(3) : 6 + pick(25)); }
    std::uint8_t result() {
        const std::uint8_t r = static_cast<std::uint8_t>(pick(17) + 3);
        return r == reg_sp ? std::uint8_t{30} : r;
    }
    std::uint8_t base() { return static_cast<std::uint8_t>(20 + pick(4)); }
    condition any_condition() { return static_cast<condition>(pick(16)); }

    std::uint32_t jump_back(unsigned slots) {
        return slots > 0 ? 1u
                         : encode({.format = form::br, .immediate = static_cast<std::int32_t>(4 * pick(16))});
    }

    std::uint32_t one(bool may_branch) {
        switch (pick(may_branch ? 40 : 34)) {
            default:
                return ri();
            case 10:
            case 11:
            case 12:
            case 13:
            case 14:
            case 15:
                return rr();
            case 16:
            case 17:
            case 18:
            case 19:
            case 20:
            case 21:
            case 22:
                return memory();
            case 23:
            case 24:
                return rrm();
            case 25:
                return encode({.format = form::scc, .cond = any_condition(), .rd = result()});
            case 26:
                return encode({.format = form::special,
                               .op = static_cast<operation>(static_cast<unsigned>(operation::popc) + pick(3)),
                               .rd = result(),
                               .rs1 = any()});
            case 27:
                return encode({.format = form::sli,
                               .rd = result(),
                               .immediate = static_cast<std::int32_t>(pick(1u << 21))});
            case 28:
                return encode({.format = form::sls,
                               .rd = result(),
                               .store = pick(2) == 0,
                               .bytes = 4,
                               .immediate = static_cast<std::int32_t>(data_base + 4 * pick(0x900))});
            case 29:
                return registers();
            case 30:
                return encode({.format = form::rm,
                               .op = operation::add,
                               .rd = any(),
                               .rs1 = reg_sp,
                               .store = true,
                               .pre = true,
                               .update = true,
                               .bytes = 4,
                               .immediate = -4});
            case 31:
                return encode(
                    {.format = form::ri, .op = operation::add, .rd = reg_sp, .rs1 = reg_sp, .immediate = 4});
            case 32:
                return pick(40) == 0 ? random_() : ri();
            case 33:
                return pick(30) == 0 ? encode({.format = form::rm,
                                               .op = operation::add,
                                               .rd = any(),
                                               .rs1 = 26,
                                               .store = true,
                                               .pre = true,
                                               .bytes = 4,
                                               .immediate = 4})
                                     : rr();
            case 34:
            case 35:
            case 36:
                return encode({.format = form::br,
                               .cond = any_condition(),
                               .immediate = static_cast<std::int32_t>(4 * pick(code_words - 4))});
            case 37:
                return encode({.format = form::rr, .op = operation::add, .rd = reg_pc, .rs1 = 26});
            case 38:
                return encode({.format = form::rr,
                               .op = operation::or_,
                               .cond = any_condition(),
                               .rd = reg_pc,
                               .rs1 = 26});
            case 39:
                return pick(2) == 0 ? encode({.format = form::brr,
                                              .cond = any_condition(),
                                              .rs1 = 26,
                                              .immediate = static_cast<std::int32_t>(4 * pick(8))})
                                    : encode({.format = form::rm,
                                              .op = operation::add,
                                              .rd = reg_pc,
                                              .rs1 = base(),
                                              .bytes = 4});
        }
    }
    std::uint32_t ri() {
        instruction i{.format = form::ri,
                      .op = static_cast<operation>(pick(9)),
                      .rd = result(),
                      .rs1 = any(),
                      .sets_flags = pick(3) == 0};
        if (i.op >= operation::shift_logical) {
            i.immediate = static_cast<std::int32_t>(pick(63)) - 31;
        } else {
            i.high = pick(3) == 0;
            const std::uint32_t k = pick(4) == 0 ? pick(8) : pick(65536);
            const std::uint32_t other = i.op == operation::and_ ? 0xFFFF : 0;
            i.immediate = static_cast<std::int32_t>(i.high ? k << 16 | other : other << 16 | k);
        }
        return encode(i);
    }
    std::uint32_t rr() {
        instruction i{.format = form::rr,
                      .op = static_cast<operation>(pick(10)),
                      .cond = pick(2) == 0 ? any_condition() : condition::t,
                      .rd = result(),
                      .rs1 = any(),
                      .rs2 = any()};
        i.sets_flags = i.op != operation::select && pick(3) == 0;
        return encode(i);
    }
    std::uint32_t memory() {
        instruction i{.format = pick(2) == 0 ? form::rm : form::spls,
                      .op = operation::add,
                      .rd = result(),
                      .rs1 = base(),
                      .store = pick(3) == 0,
                      .pre = pick(2) == 0,
                      .update = pick(3) == 0};
        i.bytes = static_cast<std::uint8_t>(i.format == form::rm ? 4 : pick(2) == 0 ? 1 : 2);
        i.zero_extend = i.format == form::spls && !i.store && pick(2) == 0;
        i.immediate = (static_cast<std::int32_t>(pick(64)) - 32) * (i.update ? 4 : i.bytes);
        if (i.store) i.rd = any();
        return encode(i);
    }
    std::uint32_t rrm() {
        instruction i{.format = form::rrm,
                      .op = pick(6) == 0 ? operation::sub : operation::add,
                      .rd = result(),
                      .rs1 = base(),
                      .rs2 = static_cast<std::uint8_t>(24 + pick(2)),
                      .store = pick(3) == 0,
                      .pre = true,
                      .update = pick(5) == 0};
        i.bytes = static_cast<std::uint8_t>(1u << pick(3));
        i.zero_extend = !i.store && pick(2) == 0;
        return encode(i);
    }
    std::uint32_t registers() {
        const std::int32_t which[] = {-512, -512 + 0x40, -512 + 0x50, -512 + 0x50};
        return encode({.format = form::rm,
                       .op = operation::add,
                       .rd = result(),
                       .rs1 = 0,
                       .store = pick(4) == 0,
                       .pre = true,
                       .bytes = 4,
                       .immediate = which[pick(4)]});
    }

    std::mt19937 random_;
};

inline slot_pattern random_pattern(std::mt19937& random, slot from) {
    slot_pattern p;
    p.first = from + random() % 40;
    p.period_denominator = 1 + random() % 15;
    p.period_numerator = p.period_denominator * (1 + random() % 4) + random() % 15;
    p.count = random() % 100;
    return p;
}

inline std::string text(const core_state& s) {
    std::string t = fmt::format("pc {:x} {:x} {:x} slots {} loading {} fetched {:x} next {} NZVC {}{}{}{}",
                                s.pc, s.next_pc, s.second_next_pc, s.delay_slots, s.loading, s.fetched,
                                s.next_issue, s.negative, s.zero, s.overflow, s.carry);
    for (unsigned n = 0; n < 32; ++n) t += fmt::format(" r{}={:x}", n, s.registers[n]);
    return t;
}

}  // namespace vinic::lanai::testing
