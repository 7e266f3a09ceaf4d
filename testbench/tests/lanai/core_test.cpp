// SPDX-License-Identifier: Apache-2.0
// The core against the reference interpreter: random programs, random slot patterns, random moments of sync.
#include "hw/nic/lanai/core.h"

#include <gtest/gtest.h>

#include <random>

#include "testbench/tests/lanai/harness.h"
#include "testbench/tests/lanai/random_program.h"
#include "testbench/tests/lanai/reference.h"

namespace vinic::lanai::testing {
namespace {

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
