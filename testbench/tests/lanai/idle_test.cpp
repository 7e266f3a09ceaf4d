// SPDX-License-Identifier: Apache-2.0
// Idle loops are skipped, and nobody can tell: same state, same counters, same cycles as in lock-step.
#include <gtest/gtest.h>

#include <map>

#include "hw/nic/lanai/core.h"
#include "testbench/tests/lanai/assembler.h"
#include "testbench/tests/lanai/harness.h"
#include "testbench/tests/lanai/reference.h"

namespace vinic::lanai::testing {
namespace {

constexpr std::int32_t fifo = -512, clock = -512 + 0x40, status = -512 + 0x50;
constexpr std::uint32_t mailbox = 0x1000;

struct run {
    run(const std::vector<std::uint32_t>& program, core_config config) : sram(0x4000) {
        put_program(sram, 0, program);
        core = std::make_unique<lanai::core>(config, sram, registers);
        core_state s = core->state();
        s.registers[20] = mailbox;
        s.registers[reg_sp] = 0x3000;
        core->set_state(s);
    }
    std::vector<std::uint8_t> sram;
    test_registers registers;
    std::unique_ptr<lanai::core> core;
};

// Waits for the mailbox with a call in the loop, then counts in r6 and begins again.
const std::vector<std::uint32_t> poll_program{// 0: call 0x20, which loads the mailbox into r8
                                              add_k(2, 0x10, 15), push(15), branch(0x20), nop(),
                                              // 10: back at 0 while it is zero
                                              compare_k(8, 0), branch(0, condition::eq), nop(), branch(0x40),
                                              // 20: function of firmware: push fp, load, return
                                              push(5), add_k(4, 8, 5), load(20, 0, 8), load(5, -4, 2),
                                              add_k(5, 0, 4), load(5, -8, 5), nop(), nop(),
                                              // 40: (slot of 1C) count, clear the mailbox, begin again
                                              add_k(6, 1, 6), store(0, 20, 0), branch(0), nop()};

TEST(idle, polling_the_sram_is_skipped_and_the_exit_is_exact) {
    run ahead(poll_program, {}), one_by_one(poll_program, {.lockstep = true});
    std::vector<event> events[2];
    std::vector<std::pair<cycle, std::uint16_t>> regions[2];
    for (unsigned which = 0; which < 2; ++which) {
        run& r = which == 0 ? ahead : one_by_one;
        std::vector<std::uint16_t> of_word(16, 1);  // the caller, and from 20 on the function that it calls
        std::fill(of_word.begin() + 8, of_word.end(), std::uint16_t{2});
        r.core->on_region(of_word, [&seen = regions[which]](const region_record& c) {
            seen.emplace_back(c.issue, c.region);
        });
        for (const cycle at : {1003u, 1217u, 5000u, 5001u, 20011u, 39999u}) {
            events[which].push_back({at, [&r] {
                                         const std::uint8_t rung[] = {0, 0, 0, 1};
                                         r.core->write_sram(mailbox, rung);
                                     }});
        }
    }
    std::vector<core_state> states[2];
    std::vector<core_counters> counters[2];
    for (unsigned which = 0; which < 2; ++which) {
        run& r = which == 0 ? ahead : one_by_one;
        std::mt19937 random(3);
        drive(*r.core, events[which], 50000, random, 3000, [&](cycle) {
            states[which].push_back(r.core->state());
            counters[which].push_back(r.core->counters());
        });
    }
    ASSERT_EQ(states[0], states[1]);
    ASSERT_EQ(counters[0].size(), counters[1].size());
    for (std::size_t n = 0; n < counters[0].size(); ++n) {
        EXPECT_EQ(counters[0][n].retired, counters[1][n].retired);
        EXPECT_EQ(counters[0][n].load_use_cycles, counters[1][n].load_use_cycles);
        EXPECT_EQ(counters[0][n].slot_cycles, counters[1][n].slot_cycles);
    }
    EXPECT_EQ(ahead.sram, one_by_one.sram);
    EXPECT_GT(regions[0].size(), 2000u);  // two for each iteration, skipped or not
    EXPECT_EQ(regions[0], regions[1]);
    EXPECT_EQ(ahead.core->state().registers[6], 5u);  // 5000 and 5001 are one
    const core_counters& n = ahead.core->counters();
    EXPECT_GT(n.skipped, n.retired * 9 / 10);
    EXPECT_EQ(n.executed + n.skipped, n.retired);
    EXPECT_EQ(one_by_one.core->counters().skipped, 0u);
}

// A loop is idle only when a store writes what is there already.
TEST(idle, a_counter_in_memory_forbids_it) {
    run r({load(20, 0, 6), nop(), add_k(6, 1, 6), store(6, 20, 0), branch(0), nop()}, {});
    EXPECT_EQ(r.core->run_ahead(100000).reason, stop_reason::limit);
    r.core->sync(100000);
    EXPECT_EQ(r.core->counters().skipped, 0u);
    run silent({load(20, 0, 6), nop(), add_k(6, 0, 6), store(6, 20, 0), branch(0), nop()}, {});
    EXPECT_EQ(silent.core->run_ahead(100000).reason, stop_reason::idle);
}

// The mailbox is added up, round after round: long not idle, then it adds nothing any more.
TEST(idle, a_loop_that_was_busy_for_long_may_become_idle) {
    const std::vector<std::uint32_t> program{load(20, 0, 8), nop(), add(6, 8, 6), branch(0), nop()};
    run ahead(program, {}), one_by_one(program, {.lockstep = true});
    for (run* r : {&ahead, &one_by_one}) {
        r->core->write_sram(mailbox, std::vector<std::uint8_t>{0, 0, 0, 1});
        r->core->sync(300000);
        r->core->write_sram(mailbox, std::vector<std::uint8_t>{0, 0, 0, 0});
    }
    EXPECT_EQ(ahead.core->counters().skipped, 0u);
    EXPECT_EQ(ahead.core->run_ahead(600000).reason, stop_reason::idle);
    ahead.core->sync(700000);
    one_by_one.core->sync(700000);
    EXPECT_EQ(ahead.core->state(), one_by_one.core->state());
    EXPECT_EQ(ahead.core->counters().retired, one_by_one.core->counters().retired);
}

TEST(idle, a_counter_in_a_register_forbids_it) {
    run r({add_k(6, 1, 6), branch(0), nop()}, {});
    EXPECT_EQ(r.core->run_ahead(100000).reason, stop_reason::limit);
}

// Flags, too, are state: the loop alternates its carry and has a period of two rounds.
TEST(idle, a_period_of_two_rounds) {
    const std::uint32_t flip = encode(
        {.format = form::ri, .op = operation::xor_, .rd = 6, .rs1 = 6, .sets_flags = true, .immediate = 1});
    const std::vector<std::uint32_t> program{flip, branch(0x10, condition::ne), nop(), nop(), branch(0),
                                             nop()};
    run ahead(program, {}), one_by_one(program, {.lockstep = true});
    EXPECT_EQ(ahead.core->run_ahead(100000).reason, stop_reason::idle);
    ahead.core->sync(12347);
    one_by_one.core->sync(12347);
    EXPECT_EQ(ahead.core->state(), one_by_one.core->state());
    EXPECT_EQ(ahead.core->counters().retired, one_by_one.core->counters().retired);
    EXPECT_GT(ahead.core->counters().skipped, 0u);
}

// A clock that is read bounds the skip by its next tick; a status that only events change does not.
TEST(idle, registers_bound_the_skip) {
    run polled({load(0, status, 6), compare_k(6, 7), branch(0, condition::ne), nop(), branch(0x10), nop()},
               {});
    run_result r = polled.core->run_ahead(1'000'000);
    EXPECT_EQ(r.reason, stop_reason::idle);
    EXPECT_EQ(r.at, never);
    polled.core->sync(777);
    polled.registers.status_value = 7;
    EXPECT_EQ(polled.core->run_ahead(1'000'000).reason, stop_reason::idle);  // in the last branch
    polled.core->sync(800);
    EXPECT_GE(polled.core->state().pc, 0x10u);

    // Waits for tick 100 of 1000 cycles each.
    const std::vector<std::uint32_t> wait{load(0, clock, 6),
                                          compare_k(6, 100),
                                          branch(0, condition::ne),
                                          nop(),
                                          add_k(7, 1, 7),
                                          branch(0x14),
                                          nop()};
    run ahead(wait, {}), one_by_one(wait, {.lockstep = true});
    ahead.registers.tick_cycles = one_by_one.registers.tick_cycles = 1000;
    r = ahead.core->run_ahead(500);
    EXPECT_EQ(r.reason, stop_reason::idle);
    EXPECT_EQ(r.at, 1000u);
    for (run* x : {&ahead, &one_by_one}) {
        std::mt19937 random(1);
        drive(*x->core, {{99'990, {}}, {100'020, {}}}, 100'100, random, 50'000, [](cycle) {});
    }
    EXPECT_EQ(ahead.core->state(), one_by_one.core->state());
    EXPECT_EQ(ahead.core->state().registers[7], 1u);
    EXPECT_GT(ahead.core->counters().skipped, ahead.core->counters().retired * 9 / 10);
}

// A register with a side effect of reading is no idle poll.
TEST(idle, reading_a_fifo_forbids_it) {
    run r({load(0, fifo, 6), nop(), branch(0), nop()}, {});
    EXPECT_EQ(r.core->run_ahead(1000).reason, stop_reason::device_access);
}

// Engines that take slots in a regular pattern: the loop is idle when its phase recurs, up to the end of the
// pattern.
TEST(idle, slot_patterns) {
    const std::vector<std::uint32_t> program{load(20, 0, 6), compare_k(6, 0), branch(0, condition::eq),
                                             nop()};
    for (const std::uint64_t period : {5u, 7u, 16u}) {
        run ahead(program, {}), one_by_one(program, {.lockstep = true});
        for (run* x : {&ahead, &one_by_one}) {
            std::vector<event> events{
                {100,
                 [=] {
                     x->core->set_slot_pattern(
                         sram_port::receive, {.first = 103, .period_numerator = period, .count = 2000}, 100);
                 }},
                {400,
                 [=] {
                     x->core->set_slot_pattern(
                         sram_port::host_dma,
                         {.first = 900, .period_numerator = 9, .period_denominator = 2, .count = 300}, 400);
                 }},
                {30'011, {}}};
            std::mt19937 random(5);
            drive(*x->core, events, 60'000, random, 20'000, [](cycle) {});
        }
        EXPECT_EQ(ahead.core->state(), one_by_one.core->state()) << period;
        EXPECT_EQ(ahead.core->counters().slot_cycles, one_by_one.core->counters().slot_cycles) << period;
        EXPECT_GT(ahead.core->counters().skipped, ahead.core->counters().retired / 3) << period;
    }
}

// The trap after a skipped loop names the instructions that really came last.
TEST(idle, history_goes_through_the_skip) {
    const std::vector<std::uint32_t> program{load(20, 0, 6), compare_k(6, 0), branch(0, condition::eq), nop(),
                                             0xD4980000u};
    std::vector<retired_word> histories[2];
    for (const bool lockstep : {false, true}) {
        run r(program, {.lockstep = lockstep});
        std::mt19937 random(1);
        drive(*r.core,
              {{9'001,
                [&] {
                    const std::uint8_t one[] = {0, 0, 0, 1};
                    r.core->write_sram(mailbox, one);
                }}},
              10'000, random, 5'000, [](cycle) {});
        ASSERT_TRUE(r.core->pending_trap());
        histories[lockstep] = r.core->pending_trap()->history;
    }
    ASSERT_EQ(histories[0].size(), 20u);
    for (std::size_t n = 0; n < 20; ++n) EXPECT_EQ(histories[0][n].pc, histories[1][n].pc);
}

// Records of instructions stand for skipped rounds as if they had been executed.
TEST(idle, instructions_count_skipped_rounds) {
    struct sums {
        std::uint64_t times = 0, load_use = 0, slot_wait = 0;
        bool operator==(const sums&) const = default;
    };
    run ahead(poll_program, {}), one_by_one(poll_program, {.lockstep = true});
    std::map<std::uint32_t, sums> found[2];
    std::uint64_t skipped = 0;
    for (const bool first : {true, false}) {
        run& x = first ? ahead : one_by_one;
        x.core->on_instruction(
            [&, first](const instruction_record& r) {
                sums& s = found[first][r.pc];
                s.times += r.times;
                s.load_use += r.times * r.load_use;
                s.slot_wait += r.times * r.slot_wait;
                if (r.skipped) skipped += r.times;
            },
            false);
        std::mt19937 random(2);
        drive(*x.core, {{3'000, {}}, {7'777, {}}}, 20'000, random, 9'000, [](cycle) {});
    }
    EXPECT_EQ(found[0], found[1]);
    EXPECT_EQ(skipped, ahead.core->counters().skipped);
    EXPECT_GT(skipped, 0u);
}

}  // namespace
}  // namespace vinic::lanai::testing
