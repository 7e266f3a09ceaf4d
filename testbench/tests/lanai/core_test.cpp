// SPDX-License-Identifier: Apache-2.0
// The core against the reference interpreter: random programs, random slot patterns, random moments of sync.
#include "hw/nic/lanai/core.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "testbench/tests/lanai/harness.h"
#include "testbench/tests/lanai/reference.h"

namespace vinic::lanai::testing {
namespace {

constexpr std::uint32_t sram_bytes = 0x8000, code_words = 256, data_base = 0x4000;

void put_word(std::vector<std::uint8_t>& sram, std::uint32_t address, std::uint32_t word) {
    for (unsigned n = 0; n < 4; ++n) sram[address + n] = static_cast<std::uint8_t>(word >> (24 - 8 * n));
}

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

core_config random_config(std::mt19937& random) {
    core_config c;
    const unsigned kind = random() % 3;  // LANai 4, 7, 9 (facts B2)
    c.slots_per_cycle = kind == 2 ? 1 : 2;
    c.slot_bytes = kind == 0 ? 4 : 8;
    c.register_load_cycles = random() % 3;
    c.register_store_cycles = random() % 3;
    c.stack_limit = 0x7E80;
    c.undo_entries = 256;
    return c;
}

slot_pattern random_pattern(std::mt19937& random, slot from) {
    slot_pattern p;
    p.first = from + random() % 40;
    p.period_denominator = 1 + random() % 15;
    p.period_numerator = p.period_denominator * (1 + random() % 4) + random() % 15;
    p.count = random() % 100;
    return p;
}

std::string text(const core_state& s) {
    std::string t = fmt::format("pc {:x} {:x} {:x} slots {} loading {} fetched {:x} next {} NZVC {}{}{}{}",
                                s.pc, s.next_pc, s.second_next_pc, s.delay_slots, s.loading, s.fetched,
                                s.next_issue, s.negative, s.zero, s.overflow, s.carry);
    for (unsigned n = 0; n < 32; ++n) t += fmt::format(" r{}={:x}", n, s.registers[n]);
    return t;
}

struct outcome {
    bool trapped = false;
    std::uint64_t retired = 0, skipped = 0, rewinds = 0;
    std::uint64_t quiet = 0;  // accesses of others without a sync
};

/// Regions of random length; the core in region 0.
std::vector<std::uint16_t> random_regions(std::mt19937& random, std::size_t words) {
    std::vector<std::uint16_t> regions;
    while (regions.size() < words)
        regions.insert(regions.end(), 1 + random() % 12, static_cast<std::uint16_t>(random() % 4));
    regions.resize(words);
    return regions;
}

/// The regions that a path enters, one after the other.
std::vector<std::uint16_t> entered(const std::vector<std::uint32_t>& path,
                                   const std::vector<std::uint16_t>& regions) {
    std::vector<std::uint16_t> all;
    std::uint16_t now = 0;
    for (const std::uint32_t pc : path) {
        if (regions[pc / 4] == now) continue;
        now = regions[pc / 4];
        all.push_back(now);
    }
    return all;
}

// One random program on a core and on the reference, the same things happening to both.
outcome compare(std::uint32_t seed, bool lockstep) {
    std::mt19937 random(seed);
    core_config config = random_config(random);
    config.lockstep = lockstep;
    program_maker maker(seed);
    std::vector<std::uint8_t> sram = maker.make(), expected_sram = sram;
    test_registers registers, expected_registers;
    core c(config, sram, registers);
    reference_core reference(config, expected_sram, expected_registers);
    const core_state start = maker.start();
    c.set_state(start);
    const core_state before = reference.state();
    reference.state() = start;
    reference.state().registers[reg_pc] = before.pc;

    std::vector<std::uint16_t> regions, seen_regions;
    if (seed % 2 != 0) {
        regions = random_regions(random, sram.size() / 4);
        c.on_region(regions, [&](const region_record& r) { seen_regions.push_back(r.region); });
    }

    const cycle end = 4000;
    std::vector<event> events;
    for (cycle at = 1 + random() % 100; at < end; at += 1 + random() % (random() % 4 == 0 ? 8 : 300)) {
        const unsigned kind = random() % 7;
        const std::uint32_t value = random(), address = data_base + 4 * (value % 0xA00);
        const auto port = static_cast<sram_port>(random() % sram_ports);
        const slot_pattern pattern = random_pattern(random, c.first_slot(at));
        const bool reads = kind == 5;
        std::function<bool()> needs_sync;
        if (reads) needs_sync = [&c, address] { return c.stored(address, 256); };
        if (kind == 6) needs_sync = [&c, address] { return c.loaded(address, 4) || c.stored(address, 4); };
        events.push_back({at,
                          [&, kind, reads, value, address, port, pattern, at] {
                              if (kind == 0 || kind == 6) {
                                  const std::uint8_t bytes[] = {static_cast<std::uint8_t>(value), 1, 2, 3};
                                  c.write_sram(address, bytes);
                                  std::copy(std::begin(bytes), std::end(bytes),
                                            expected_sram.begin() + address);
                              } else if (kind == 1) {
                                  registers.status_value = expected_registers.status_value = value;
                              } else if (kind <= 3) {
                                  c.set_slot_pattern(port, pattern, at);
                                  reference.set_slot_pattern(port, pattern, at);
                              } else if (reads) {
                                  EXPECT_TRUE(std::equal(sram.begin() + address, sram.begin() + address + 256,
                                                         expected_sram.begin() + address));
                              }
                          },
                          needs_sync});
    }
    const auto check = [&](cycle now) {
        reference.run_until(now);
        if (::testing::Test::HasFailure()) return;
        ASSERT_EQ(text(c.state()), text(reference.state())) << "seed " << seed << " cycle " << now;
        ASSERT_TRUE(sram == expected_sram) << "seed " << seed << " cycle " << now;
        ASSERT_EQ(registers.stores, expected_registers.stores);
        ASSERT_EQ(registers.taken, expected_registers.taken);
        const core_counters n = c.counters();
        ASSERT_EQ(n.retired, reference.retired());
        ASSERT_EQ(n.load_use_cycles, reference.load_use());
        ASSERT_EQ(n.slot_cycles, reference.slot_wait());
        ASSERT_EQ(n.register_cycles, reference.register_wait());
        ASSERT_EQ(n.executed + n.skipped, n.retired);
    };
    std::uint64_t quiet = 0;
    drive(c, events, end, random, 700, check, [&](cycle now) {
        reference.run_until(now);
        ++quiet;
    });

    EXPECT_EQ(seen_regions, regions.empty() ? regions : entered(reference.path(), regions)) << seed;

    auto trap = c.pending_trap();
    if (trap && trap->at == end) trap.reset();  // the reference stops before that cycle
    EXPECT_EQ(trap.has_value(), reference.trap().has_value()) << "seed " << seed;
    if (trap && reference.trap()) {
        EXPECT_EQ(trap->kind, *reference.trap()) << "seed " << seed;
        EXPECT_EQ(trap->at, reference.trap_at()) << "seed " << seed;
        const auto& path = reference.path();
        const std::size_t n = std::min<std::size_t>(20, path.size());
        EXPECT_EQ(trap->history.size(), n);
        for (std::size_t k = 0; k < n && k < trap->history.size(); ++k)
            EXPECT_EQ(trap->history[k].pc, path[path.size() - n + k]) << "seed " << seed;
    }
    const core_counters n = c.counters();
    return {trap.has_value(), n.retired, n.skipped, n.rewinds, quiet};
}

void compare_many(std::uint32_t first, std::uint32_t count, bool lockstep) {
    std::uint64_t retired = 0, skipped = 0, rewinds = 0, quiet = 0, trapped = 0;
    for (std::uint32_t seed = first; seed < first + count && !::testing::Test::HasFailure(); ++seed) {
        const outcome o = compare(seed, lockstep);
        retired += o.retired;
        skipped += o.skipped;
        rewinds += o.rewinds;
        quiet += o.quiet;
        trapped += o.trapped;
    }
    // The comparison means something only when programs live, and when the core ran too far and loops were
    // skipped.
    EXPECT_GT(retired, count * 200u);
    EXPECT_LT(trapped, count * 9 / 10);
    if (!lockstep) {
        EXPECT_GT(rewinds, count);
        EXPECT_GT(quiet, count);
        EXPECT_GT(skipped, 0u);
    }
}

TEST(core, random_programs_ahead_equal_the_reference) { compare_many(1, 3000, false); }
TEST(core, random_programs_in_lockstep_equal_the_reference) { compare_many(1, 400, true); }

}  // namespace
}  // namespace vinic::lanai::testing
