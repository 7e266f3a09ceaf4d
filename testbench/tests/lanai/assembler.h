// SPDX-License-Identifier: Apache-2.0
// Short names for instructions, to write programs in tests as words.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/nic/lanai/isa.h"

namespace vinic::lanai::testing {

inline std::uint8_t r(unsigned n) { return static_cast<std::uint8_t>(n); }

inline std::uint32_t nop() { return 1; }
inline std::uint32_t add_k(unsigned a, std::int32_t k, unsigned d) {
    return encode({.format = form::ri, .op = operation::add, .rd = r(d), .rs1 = r(a), .immediate = k});
}
inline std::uint32_t sub_k(unsigned a, std::int32_t k, unsigned d) {
    return encode({.format = form::ri, .op = operation::sub, .rd = r(d), .rs1 = r(a), .immediate = k});
}
inline std::uint32_t compare_k(unsigned a, std::int32_t k) {
    return encode(
        {.format = form::ri, .op = operation::sub, .rs1 = r(a), .sets_flags = true, .immediate = k});
}
inline std::uint32_t add(unsigned a, unsigned b, unsigned d) {
    return encode({.format = form::rr, .op = operation::add, .rd = r(d), .rs1 = r(a), .rs2 = r(b)});
}
inline std::uint32_t compare(unsigned a, unsigned b) {
    return encode({.format = form::rr, .op = operation::sub, .rs1 = r(a), .rs2 = r(b), .sets_flags = true});
}
inline std::uint32_t load(unsigned base, std::int32_t offset, unsigned d) {
    return encode({.format = form::rm,
                   .op = operation::add,
                   .rd = r(d),
                   .rs1 = r(base),
                   .pre = true,
                   .bytes = 4,
                   .immediate = offset});
}
inline std::uint32_t store(unsigned d, unsigned base, std::int32_t offset) {
    return encode({.format = form::rm,
                   .op = operation::add,
                   .rd = r(d),
                   .rs1 = r(base),
                   .store = true,
                   .pre = true,
                   .bytes = 4,
                   .immediate = offset});
}
inline std::uint32_t store_byte(unsigned d, unsigned base, std::int32_t offset) {
    return encode({.format = form::spls,
                   .op = operation::add,
                   .rd = r(d),
                   .rs1 = r(base),
                   .store = true,
                   .pre = true,
                   .bytes = 1,
                   .immediate = offset});
}
inline std::uint32_t push(unsigned d) {
    return encode({.format = form::rm,
                   .op = operation::add,
                   .rd = r(d),
                   .rs1 = reg_sp,
                   .store = true,
                   .pre = true,
                   .update = true,
                   .bytes = 4,
                   .immediate = -4});
}
inline std::uint32_t branch(std::uint32_t to, condition c = condition::t) {
    return encode({.format = form::br, .cond = c, .immediate = static_cast<std::int32_t>(to)});
}
inline std::uint32_t jump(unsigned to) {
    return encode({.format = form::rr, .op = operation::add, .rd = reg_pc, .rs1 = r(to)});
}
inline std::uint32_t constant(std::uint32_t k, unsigned d) {
    return encode({.format = form::sli, .rd = r(d), .immediate = static_cast<std::int32_t>(k)});
}

inline void put_word(std::vector<std::uint8_t>& sram, std::uint32_t address, std::uint32_t word) {
    for (unsigned n = 0; n < 4; ++n) sram[address + n] = static_cast<std::uint8_t>(word >> (24 - 8 * n));
}
inline std::uint32_t word_at(const std::vector<std::uint8_t>& sram, std::uint32_t address) {
    return static_cast<std::uint32_t>(sram[address] << 24 | sram[address + 1] << 16 | sram[address + 2] << 8 |
                                      sram[address + 3]);
}
inline void put_program(std::vector<std::uint8_t>& sram, std::uint32_t address,
                        const std::vector<std::uint32_t>& words) {
    for (const std::uint32_t w : words) {
        put_word(sram, address, w);
        address += 4;
    }
}

}  // namespace vinic::lanai::testing
