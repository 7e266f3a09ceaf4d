// SPDX-License-Identifier: Apache-2.0
// What the core saves at a checkpoint and rewinds to. Internal to hw/nic/lanai.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "hw/nic/lanai/core.h"
#include "hw/nic/lanai/isa.h"

namespace vinic::lanai {

// Flags packed as N Z V C (bits 3 to 0). Bit f of a mask: the condition holds with flags f (facts A5).
namespace flags {
inline constexpr unsigned n = 8, z = 4, v = 2, c = 1;

constexpr bool holds(unsigned value, unsigned f) {
    const bool N = f & n, Z = f & z, V = f & v, C = f & c;
    bool result = false;
    switch (value >> 1) {
        case 0:
            result = true;
            break;
        case 1:
            result = C && !Z;
            break;
        case 2:
            result = !C;
            break;
        case 3:
            result = !Z;
            break;
        case 4:
            result = !V;
            break;
        case 5:
            result = !N;
            break;
        case 6:
            result = N == V;
            break;
        case 7:
            result = N == V && !Z;
            break;
    }
    return result != ((value & 1) != 0);
}

inline constexpr std::array<std::uint16_t, 16> masks = [] {
    std::array<std::uint16_t, 16> m{};
    for (unsigned value = 0; value < 16; ++value)
        for (unsigned f = 0; f < 16; ++f)
            if (holds(value, f)) m[value] = static_cast<std::uint16_t>(m[value] | 1u << f);
    return m;
}();

inline bool test(condition cond, unsigned f) { return (masks[static_cast<unsigned>(cond)] >> f & 1) != 0; }
inline unsigned nz(std::uint32_t result) { return (result >> 31) << 3 | (result == 0 ? z : 0); }
// a + b + carry_in; b is inverted beforehand for a subtraction.
inline unsigned of_sum(std::uint32_t a, std::uint32_t b, std::uint32_t sum, std::uint64_t wide) {
    return nz(sum) | ((a ^ sum) & (b ^ sum)) >> 31 << 1 | static_cast<unsigned>(wide >> 32 & 1);
}
}  // namespace flags

inline constexpr unsigned sink = 32;  // index that takes writes to r0 and r1

struct machine {
    std::array<std::uint32_t, 33> r{};  // r[0] = 0, r[1] = ~0, r[2] scratch of reads of the pc, r[sink]
    unsigned nzvc = 0;
    std::uint32_t pc = 0, next_pc = 4, second_next_pc = 8;
    unsigned delay_slots = 0;
    unsigned loading = 0;
    std::uint32_t fetched = core_state::never32;
    cycle next_issue = 0;
    cycle last_issue = 0;      // of the instruction executed last
    std::uint16_t region = 0;  // of the instruction executed last
    slot_cursor cursor;
    std::uint64_t retired = 0, skipped = 0, load_use = 0, slot_wait = 0, register_wait = 0;

    bool ready_for_block() const { return delay_slots == 0; }
    void advance_pc() {
        pc = next_pc;
        next_pc = second_next_pc;
        second_next_pc += 4;
        if (delay_slots != 0) --delay_slots;
    }
};

inline std::uint32_t load_be32(const std::uint8_t* p) {
    std::uint32_t v;
    std::memcpy(&v, p, 4);
    if constexpr (std::endian::native == std::endian::little) v = __builtin_bswap32(v);
    return v;
}
inline std::uint16_t load_be16(const std::uint8_t* p) {
    std::uint16_t v;
    std::memcpy(&v, p, 2);
    if constexpr (std::endian::native == std::endian::little) v = __builtin_bswap16(v);
    return v;
}
inline void store_be32(std::uint8_t* p, std::uint32_t v) {
    if constexpr (std::endian::native == std::endian::little) v = __builtin_bswap32(v);
    std::memcpy(p, &v, 4);
}
inline void store_be16(std::uint8_t* p, std::uint16_t v) {
    if constexpr (std::endian::native == std::endian::little) v = __builtin_bswap16(v);
    std::memcpy(p, &v, 2);
}

struct undo_entry {
    std::uint32_t address;  // of the word
    std::uint32_t old;
};

// Result of an ALU operation; `f` are the flags it would set.
struct alu_result {
    std::uint32_t value;
    unsigned f;
};
alu_result alu(operation op, std::uint32_t a, std::uint32_t b, unsigned flags_before);

}  // namespace vinic::lanai
