// SPDX-License-Identifier: Apache-2.0
// Cycles of single instructions, worked out by hand from the rules at the top of core.h; traps; who may do
// what when.
#include <gtest/gtest.h>

#include <stdexcept>

#include "hw/nic/lanai/core.h"
#include "testbench/tests/lanai/assembler.h"
#include "testbench/tests/lanai/harness.h"

namespace vinic::lanai::testing {
namespace {

struct bench {
    explicit bench(const std::vector<std::uint32_t>& program, core_config config = {}) : sram(0x4000) {
        put_program(sram, 0, program);
        core = std::make_unique<lanai::core>(config, sram, registers);
    }
    // Issue cycles of the first instructions.
    std::vector<cycle> issues(std::size_t count) {
        std::vector<cycle> at;
        core->on_retire([&](const retire_record& r) { at.push_back(r.issue); });
        core->sync(200);
        at.resize(std::min(at.size(), count));
        return at;
    }
    std::uint32_t reg(unsigned n) const { return core->state().registers[n]; }

    std::vector<std::uint8_t> sram;
    test_registers registers;
    std::unique_ptr<lanai::core> core;
};

using cycles = std::vector<cycle>;

core_config lanai4() { return {.slots_per_cycle = 2, .slot_bytes = 4}; }
core_config lanai7() { return {.slots_per_cycle = 2, .slot_bytes = 8}; }

// One instruction a cycle; two words come with one fetch.
TEST(timing, plain_instructions) {
    EXPECT_EQ(bench({add_k(6, 1, 6), add_k(6, 1, 6), add_k(6, 1, 6), add_k(6, 1, 6)}).issues(4),
              (cycles{0, 1, 2, 3}));
}

// LANai 9: the slot of cycle 0 fetches, the load's data takes that of cycle 1: next issue 2. At an odd word
// the fetch is done already, and the load costs one cycle.
TEST(timing, one_slot_a_cycle) {
    EXPECT_EQ(bench({load(20, 0, 6), nop(), nop(), load(20, 4, 7), nop()}).issues(5),
              (cycles{0, 2, 3, 4, 5}));
    // Two slots a cycle hold fetch and data.
    EXPECT_EQ(bench({load(20, 0, 6), nop(), nop(), load(20, 4, 7), nop()}, lanai7()).issues(5),
              (cycles{0, 1, 2, 3, 4}));
}

// A byte store reads, modifies and writes: two data slots. LANai 9: fetch 0, data 1 and 2, next issue 3.
// LANai 7: fetch and read in cycle 0, write in cycle 1, next issue 2. At an odd word on LANai 7: both in its
// cycle.
TEST(timing, narrow_stores) {
    EXPECT_EQ(bench({store_byte(6, 20, 1), nop(), nop()}).issues(3), (cycles{0, 3, 4}));
    EXPECT_EQ(bench({store_byte(6, 20, 1), nop(), nop()}, lanai7()).issues(3), (cycles{0, 2, 3}));
    EXPECT_EQ(bench({nop(), store_byte(6, 20, 1), nop(), nop()}, lanai7()).issues(4), (cycles{0, 1, 2, 3}));
    EXPECT_EQ(bench({store(6, 20, 4), nop(), nop()}).issues(3), (cycles{0, 2, 3}));
    // LANai 4 fetches each word: three slots again.
    EXPECT_EQ(bench({nop(), store_byte(6, 20, 1), nop()}, lanai4()).issues(3), (cycles{0, 1, 3}));
}

// Loads and SLI are late by one for the very next instruction only.
TEST(timing, load_use) {
    EXPECT_EQ(bench({nop(), load(20, 0, 6), add_k(6, 1, 7), nop()}, lanai7()).issues(4),
              (cycles{0, 1, 3, 4}));
    EXPECT_EQ(bench({nop(), load(20, 0, 6), nop(), add_k(6, 1, 7)}, lanai7()).issues(4),
              (cycles{0, 1, 2, 3}));
    EXPECT_EQ(bench({nop(), constant(5, 6), add(7, 6, 8), nop()}, lanai7()).issues(4), (cycles{0, 1, 3, 4}));
    EXPECT_EQ(bench({nop(), load(20, 0, 6), store(6, 20, 4), nop()}, lanai7()).issues(3),
              (cycles{0, 1, 3}));  // store data
    EXPECT_EQ(bench({nop(), load(20, 0, 0), add_k(0, 1, 7), nop()}, lanai7()).issues(3),
              (cycles{0, 1, 2}));  // r0 is nobody's
    bench b({nop(), load(20, 0, 6), add_k(6, 1, 7), nop()}, lanai7());
    b.core->sync(4);
    EXPECT_EQ(b.core->counters().load_use_cycles, 1u);
    EXPECT_EQ(b.core->counters().retired, 3u);
}

// The load's address update does not wait.
TEST(timing, base_update_is_ready_at_once) {
    const std::uint32_t pop = encode({.format = form::rm,
                                      .op = operation::add,
                                      .rd = 6,
                                      .rs1 = 20,
                                      .update = true,
                                      .bytes = 4,
                                      .immediate = 4});
    EXPECT_EQ(bench({nop(), pop, add_k(20, 0, 7), nop()}, lanai7()).issues(4), (cycles{0, 1, 2, 3}));
}

// A jump to an odd word has to fetch; one that stays in the fetched words has not (loop of one aligned pair).
TEST(timing, fetch_after_a_jump) {
    // 0: bt 0xC; 4: slot; C: load at an odd word: fetch in cycle 2, data in 3.
    EXPECT_EQ(bench({branch(0xC), nop(), nop(), load(20, 0, 6), nop()}).issues(4), (cycles{0, 1, 2, 4}));
    bench loop({branch(0), nop()});
    loop.core->set_slot_pattern(sram_port::host_dma, {.first = 1, .count = 1000},
                                0);  // all slots but the first are taken
    loop.core->sync(100);
    EXPECT_EQ(loop.core->counters().slot_cycles, 0u);
}

// Reserved slots: the fetch waits for the first free one. Cycles 0..3 belong to the receive engine.
TEST(timing, waits_for_slots) {
    bench b({add_k(6, 1, 6), nop(), nop()});
    b.core->set_slot_pattern(sram_port::receive, {.first = 0, .count = 4}, 0);
    // Issues in 0, has its word in slot 4, so the next one issues in 5.
    EXPECT_EQ(b.issues(3), (cycles{0, 5, 6}));
    EXPECT_EQ(b.core->counters().slot_cycles, 4u);
}

// Two words of a period of 8/3 slots: due at 0, 2.67 -> 3, 5.33 -> 6.
TEST(timing, rational_period) {
    bench b({nop(), nop(), nop(), nop(), nop(), nop(), nop(), nop(), nop()});
    b.core->set_slot_pattern(sram_port::send,
                             {.first = 0, .period_numerator = 8, .period_denominator = 3, .count = 3}, 0);
    // 0: word in slot 1, next 2. 4: no fetch. 8: issues 3, slot 3 taken, word in 4. C in 5. 10: issues 6,
    // taken, word in 7.
    EXPECT_EQ(b.issues(7), (cycles{0, 2, 3, 5, 6, 8, 9}));
}

TEST(timing, register_accesses_cost_their_parameter) {
    const std::int32_t status = -512 + 0x50;
    bench b({nop(), load(0, status, 6), nop(), nop()}, {.register_load_cycles = 3});
    EXPECT_EQ(b.issues(4), (cycles{0, 1, 5, 6}));
    EXPECT_EQ(b.core->counters().register_cycles, 3u);
}

// Branches: one slot, taken or not; loads of the pc: two (A6). %pc reads as the address of the reading
// instruction.
TEST(timing, delay_slots) {
    bench b({branch(0x10), add_k(0, 1, 6), add_k(0, 2, 7), nop(), add_k(2, 0, 8), branch(0x14), nop()});
    b.core->sync(10);
    EXPECT_EQ(b.reg(6), 1u);
    EXPECT_EQ(b.reg(7), 0u);
    EXPECT_EQ(b.reg(8), 0x10u);
    bench back({load(20, 0x1000, 2), add_k(0, 1, 6), add_k(0, 2, 7), add_k(0, 3, 8), nop(), nop(),
                branch(0x18), nop()});
    put_word(back.sram, 0x1000, 0x10);
    back.core->sync(20);
    EXPECT_EQ(back.reg(6), 1u);
    EXPECT_EQ(back.reg(7), 2u);
    EXPECT_EQ(back.reg(8), 0u);
}

struct trap_case {
    const char* name;
    std::vector<std::uint32_t> program;
    trap_kind kind;
    std::uint32_t pc, address;
    std::size_t before;  // instructions that retired
};

TEST(traps, each_kind) {
    const trap_case cases[] = {
        {"illegal", {nop(), 0xD4980000u}, trap_kind::illegal_instruction, 4, 4, 1},
        {"misaligned", {nop(), load(0, 0x102, 6)}, trap_kind::misaligned_access, 4, 0x102, 1},
        {"unmapped", {constant(0x10000, 20), load(20, 0, 6)}, trap_kind::unmapped_access, 4, 0x10000, 1},
        {"misaligned jump", {add_k(0, 0x22, 9), jump(9), nop()}, trap_kind::misaligned_fetch, 0x22, 0x22, 3},
        {"jump nowhere", {branch(0x8000), nop()}, trap_kind::unmapped_fetch, 0x8000, 0x8000, 2},
        {"branch in slot", {branch(0x40), branch(0x80)}, trap_kind::branch_in_delay_slot, 4, 4, 1},
        {"branch in slot of an untaken one",
         {branch(0x40, condition::f), branch(0x80)},
         trap_kind::branch_in_delay_slot,
         4,
         4,
         1},
        {"push below the limit", {constant(0x1000, 4), push(6)}, trap_kind::stack_overflow, 4, 0xFFC, 1},
        {"frame below the limit",
         {constant(0x1010, 4), sub_k(4, 0x14, 4)},
         trap_kind::stack_overflow,
         4,
         0xFFC,
         1},
    };
    for (const bool lockstep : {false, true})
        for (const trap_case& t : cases) {
            bench b(t.program, {.stack_limit = 0x1000, .lockstep = lockstep});
            b.core->sync(1000);
            const auto trap = b.core->pending_trap();
            ASSERT_TRUE(trap) << t.name;
            EXPECT_EQ(trap->kind, t.kind) << t.name;
            EXPECT_EQ(trap->pc, t.pc) << t.name;
            EXPECT_EQ(trap->address, t.address) << t.name;
            EXPECT_EQ(trap->history.size(), t.before) << t.name;
            EXPECT_EQ(b.core->counters().retired, t.before) << t.name;
            EXPECT_EQ(trap->registers[reg_pc], t.pc) << t.name;
        }
}

// Twenty instructions of history, oldest first, over a loop.
TEST(traps, history) {
    bench b({add_k(6, 1, 6), compare_k(6, 50), branch(0, condition::ne), nop(), 0xD4980000u});
    b.core->sync(10000);
    const auto trap = b.core->pending_trap();
    ASSERT_TRUE(trap);
    ASSERT_EQ(trap->history.size(), 20u);
    for (std::size_t n = 0; n < 20; ++n) {
        EXPECT_EQ(trap->history[n].pc, n % 4 * 4);
        EXPECT_EQ(trap->history[n].word, word_at(b.sram, static_cast<std::uint32_t>(n % 4 * 4)));
    }
    EXPECT_EQ(b.core->counters().retired, 200u);
}

// One that waits for the load before it is found in the cycle in which it would issue, and is still there then.
TEST(traps, behind_a_load) {
    bench b({load(0, 0x1000, 6), load(6, 2, 7)});
    const run_result r = b.core->run_ahead(1000);
    EXPECT_EQ(r.reason, stop_reason::trap);
    // Two slots for the load, whose word is fetched; one cycle of interlock.
    EXPECT_EQ(r.at, 3u);
    b.core->sync(r.at);
    const auto trap = b.core->pending_trap();
    ASSERT_TRUE(trap);
    EXPECT_EQ(trap->kind, trap_kind::misaligned_access);
    EXPECT_EQ(trap->at, 3u);
    EXPECT_EQ(trap->pc, 4u);
}

// A trap that was only run into ahead is none when somebody repairs the code in time.
TEST(traps, speculative_trap_is_taken_back) {
    bench b({nop(), nop(), nop(), nop(), nop(), nop(), 0xD4980000u, branch(0x1C), nop()});
    const run_result r = b.core->run_ahead(1000);
    EXPECT_EQ(r.reason, stop_reason::trap);
    EXPECT_EQ(r.at, 6u);
    b.core->sync(3);
    EXPECT_FALSE(b.core->pending_trap());
    const std::uint8_t fixed[] = {0, 0, 0, 1};
    b.core->write_sram(0x18, fixed);
    EXPECT_EQ(b.core->run_ahead(1000).reason, stop_reason::idle);
    b.core->sync(10);
    EXPECT_FALSE(b.core->pending_trap());
}

// Code that the program itself, or another master, writes is executed as written, also after a rewind.
TEST(protocol, code_that_changes) {
    // r6 counts; the loop's first instruction is overwritten by the program with "add r6,2,r6" after 3
    // rounds.
    bench b({add_k(6, 1, 6), add_k(7, 1, 7), compare_k(7, 3), branch(0x18, condition::ne), nop(),
             store(20, 0, 0), branch(0), nop()});
    core_state s = b.core->state();
    s.registers[20] = add_k(6, 2, 6);
    b.core->set_state(s);
    // Rounds of 7 instructions (0, 4, 8, C, 10, 18, 1C) from cycles 0, 7, 14; the third has the store, in
    // cycle 19, whose word came with that of 10, so it costs one cycle too. The fourth begins in 22, the
    // fifth in 29.
    b.core->run_ahead(500);
    b.core->sync(19);  // rewinds across the store
    EXPECT_EQ(b.reg(6), 3u);
    EXPECT_EQ(word_at(b.sram, 0), add_k(6, 1, 6));
    b.core->sync(23);
    EXPECT_EQ(word_at(b.sram, 0), add_k(6, 2, 6));
    EXPECT_EQ(b.reg(6), 5u);
    const std::uint32_t w = add_k(6, 16, 6);
    const std::uint8_t bytes[] = {std::uint8_t(w >> 24), std::uint8_t(w >> 16), std::uint8_t(w >> 8),
                                  std::uint8_t(w)};
    b.core->write_sram(0, bytes);
    b.core->sync(30);
    EXPECT_EQ(b.reg(6), 5u + 16u);
}

TEST(protocol, stores_are_undone) {
    bench b({add_k(6, 1, 6), store(6, 20, 0), store_byte(6, 20, 9), branch(0), nop()});
    core_state s = b.core->state();
    s.registers[20] = 0x2000;
    b.core->set_state(s);
    for (std::uint32_t n = 0; n < 16; ++n) b.sram[0x2000 + n] = 0xAA;
    const std::vector<std::uint8_t> before = b.sram;
    b.core->run_ahead(1000);
    EXPECT_NE(b.sram, before);
    b.core->sync(1);  // only the addition
    EXPECT_EQ(b.sram, before);
    EXPECT_EQ(b.reg(6), 1u);
    EXPECT_EQ(b.core->counters().rewinds, 1u);
    EXPECT_GT(b.core->counters().reexecuted, 500u);
}

// Eleven instructions of a cycle each, cycles 0 to 10: with the limit at 11 the block is completed, with 10
// it stops where it has enough.
TEST(protocol, a_slice_ends_with_its_block_where_the_limit_allows) {
    std::vector<std::uint32_t> program(9, add_k(6, 1, 6));
    program.insert(program.end(), {branch(0), nop()});
    EXPECT_EQ(bench(program).core->run_ahead(5, 11).at, 11u);
    EXPECT_EQ(bench(program).core->run_ahead(5, 10).at, 5u);
    bench b(program);
    b.core->run_ahead(5, never);
    b.core->sync(7);
    EXPECT_EQ(b.reg(6), 7u);
}

TEST(protocol, device_accesses_wait_for_kernel_time) {
    const std::int32_t fifo = -512;
    bench b({nop(), nop(), load(0, fifo, 6), load(0, fifo, 7), store(7, 0, fifo), branch(0x14), nop()});
    run_result r = b.core->run_ahead(1000);
    EXPECT_EQ(r.reason, stop_reason::device_access);
    EXPECT_EQ(r.at, 2u);
    EXPECT_EQ(b.registers.taken, 0u);
    EXPECT_THROW(b.core->sync(3), std::logic_error);
    EXPECT_THROW(b.core->execute_device_access(5), std::logic_error);
    b.core->sync(2);
    b.core->execute_device_access(2);
    EXPECT_EQ(b.registers.taken, 1u);
    EXPECT_EQ(b.reg(6), 0x1004u);
    r = b.core->run_ahead(1000);
    EXPECT_EQ(r.at, 3u);
    b.core->sync(3);
    b.core->execute_device_access(3);
    r = b.core->run_ahead(1000);
    EXPECT_EQ(r.at, 5u);  // r7 is late by one
    b.core->sync(5);
    b.core->execute_device_access(5);
    ASSERT_EQ(b.registers.stores.size(), 1u);
    EXPECT_EQ(b.registers.stores[0], (std::tuple{0xFFFFFE00u, 0x1008u, cycle{5}}));
    EXPECT_EQ(b.core->run_ahead(1000).reason, stop_reason::idle);
}

TEST(protocol, others_may_write_what_the_core_worked_on_only_after_sync) {
    bench b({add_k(6, 1, 6), load(20, 0x100, 7), store(6, 20, 0x800), branch(0), nop()});
    b.core->run_ahead(100);
    const std::uint8_t byte[] = {1};
    EXPECT_THROW(b.core->write_sram(0, byte), std::logic_error);
    EXPECT_THROW(b.core->write_sram(0x100, byte), std::logic_error);
    EXPECT_THROW(b.core->invalidate_code(0, 4), std::logic_error);
    EXPECT_TRUE(b.core->loaded(0, 4));
    EXPECT_TRUE(b.core->loaded(0xC0, 0x100));
    EXPECT_FALSE(b.core->loaded(0x200, 0x100));
    EXPECT_TRUE(b.core->stored(0x7FE, 3));
    EXPECT_FALSE(b.core->stored(0x804, 0x100));
    EXPECT_FALSE(b.core->stored(0x700, 0x100));
    EXPECT_NO_THROW(b.core->write_sram(0x200, byte));
    EXPECT_THROW(b.core->set_slot_pattern(sram_port::send, {}, 5), std::logic_error);
    b.core->sync(50);
    EXPECT_NO_THROW(b.core->write_sram(0x100, byte));
    EXPECT_THROW(b.core->write_sram(0x3FFF, std::vector<std::uint8_t>(2)), std::out_of_range);
}

TEST(protocol, reset) {
    bench b({add_k(6, 1, 6), branch(0), nop()});
    b.core->run_ahead(100);
    b.core->reset(70);
    EXPECT_EQ(b.reg(6), 0u);
    EXPECT_EQ(b.reg(1), ~0u);
    EXPECT_EQ(b.core->state().next_issue, 70u);
    b.core->sync(71);
    EXPECT_EQ(b.reg(6), 1u);
}

// Profile and trace tell what was committed, once, and change nothing.
TEST(observation, instructions_and_trace) {
    const std::vector<std::uint32_t> program{load(20, 0, 6), add_k(6, 1, 7), add_k(8, 1, 8), branch(0),
                                             nop()};
    bench plain(program), profiled(program), traced(program);
    std::vector<instruction_record> profile;
    profiled.core->on_instruction([&](const instruction_record& r) { profile.push_back(r); }, false);
    std::vector<retire_record> records;
    traced.core->on_retire([&](const retire_record& r) { records.push_back(r); });
    for (bench* b : {&plain, &profiled, &traced}) {
        b->core->run_ahead(500);
        b->core->sync(123);
        b->core->run_ahead(2000);
        b->core->sync(1234);
    }
    EXPECT_EQ(plain.core->state(), profiled.core->state());
    EXPECT_EQ(plain.core->state(), traced.core->state());
    EXPECT_EQ(records.size(), plain.core->counters().retired);
    std::uint64_t issues = 0, waits = 0;
    for (const instruction_record& p : profile) {
        issues += p.times;
        waits += p.times * (p.load_use + p.slot_wait);
    }
    EXPECT_EQ(issues, plain.core->counters().retired);
    EXPECT_EQ(waits, plain.core->counters().load_use_cycles + plain.core->counters().slot_cycles);
    // 0: two slots, one cycle of wait; 4 waits for it; 10 is fetched apart from 0.
    for (const instruction_record& p : profile) {
        EXPECT_EQ(p.slot_wait, p.pc == 0 ? 1u : 0u);
        EXPECT_EQ(p.load_use, p.pc == 4 ? 1u : 0u);
        EXPECT_TRUE(p.pc != 0 || p.address == p.a);
        EXPECT_TRUE(p.pc != 4 || p.result == p.a + 1);
    }
}

}  // namespace
}  // namespace vinic::lanai::testing
