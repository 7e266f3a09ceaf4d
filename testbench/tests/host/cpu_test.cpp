// SPDX-License-Identifier: Apache-2.0
#include "hw/host/cpu.h"

#include <gtest/gtest.h>

#include "hw/sim/error.h"
#include "testbench/tests/host/node.h"

namespace vinic::host {
namespace {

using test::node;
using test::ns;
using test::round_costs;
using times = std::vector<sim::picoseconds>;

TEST(cpu, work_takes_its_clocks) {
    node n(round_costs());
    times at;
    n.cpu.spawn("p", nullptr, [&](process& p) {
        at.push_back(p.now());
        p.compute(100);
        at.push_back(p.now());
        p.copy(1000);
        at.push_back(p.now());
        p.trap([&] { p.compute(50); });
        at.push_back(p.now());
        p.barrier();
        at.push_back(p.now());
    });
    n.run_us(10);
    // Ready at 0, so on a processor at edge 1. Copy: 30 + 1000/0.5; trap: 200 + 50 + 300.
    EXPECT_EQ(at, (times{1 * ns, 101 * ns, 2131 * ns, 2681 * ns, 2711 * ns}));
    n.cpu.settle();
    EXPECT_EQ(n.cpu.busy.value(), 2710 * ns);
    EXPECT_EQ(n.cpu.traps.value(), 1u);
    EXPECT_EQ(n.cpu.bytes_copied.value(), 1000u);
    EXPECT_TRUE(n.cpu.processes()[0]->finished());
}

TEST(cpu, clocks_that_are_no_whole_picoseconds_do_not_drift) {
    node n(round_costs({{"cpu.clock_mhz", "450"}}));
    sim::picoseconds end = 0;
    n.cpu.spawn("p", nullptr, [&](process& p) {
        for (int i = 0; i < 450 * 3 - 1; ++i) p.compute(1);
        end = p.now();
    });
    n.run_us(10);
    EXPECT_EQ(end, 3'000'000u);  // edge 1350 of 450 MHz is exactly 3 us
}

TEST(cpu, software_is_free_in_the_what_if) {
    node n(round_costs(), true);
    sim::picoseconds end = 0;
    n.cpu.spawn("p", nullptr, [&](process& p) {
        p.compute(100);
        p.copy(1000);
        p.trap([&] { p.compute(50); });
        end = p.now();
    });
    n.run_us(10);
    EXPECT_EQ(end, 1 * ns);
}

TEST(cpu, round_robin_by_slices_in_order_of_readiness_then_number) {
    // A slice is 100 us = 100000 clocks, a change of process 2000. All are ready at 0, on at 1.
    node n(round_costs());
    std::vector<std::pair<unsigned, sim::picoseconds>> ends;
    for (int i = 0; i < 3; ++i)
        n.cpu.spawn(fmt::format("p{}", i), nullptr, [&](process& p) {
            p.compute(p.number() == 1 ? 50'000 : 150'000);
            ends.emplace_back(p.number(), p.now());
        });
    n.run_us(1000);
    // p0 from 1 to 100001, then p1: 2000 + 50000 to 152001; it ends, p2 from 152002 (the next edge), slice to
    // 252002 with 98000 done; p0: 2000 + 50000 to 304002; p2 from 304003: 2000 + 52000 to 358003.
    const std::vector<std::pair<unsigned, sim::picoseconds>> expected{
        {1, 152'001 * ns}, {0, 304'002 * ns}, {2, 358'003 * ns}};
    EXPECT_EQ(ends, expected);
    EXPECT_EQ(n.cpu.context_switches.value(), 4u);
}

TEST(cpu, two_processors_take_the_first_two_and_the_third_waits_for_the_first_slice_to_end) {
    node n(round_costs({{"cpu.count", "2"}}));
    std::vector<std::pair<unsigned, sim::picoseconds>> ends;
    for (int i = 0; i < 3; ++i)
        n.cpu.spawn(fmt::format("p{}", i), nullptr, [&](process& p) {
            p.compute(p.number() == 2 ? 10'000 : 120'000);
            ends.emplace_back(p.number(), p.now());
        });
    n.run_us(1000);
    // Both slices end at 100001; one waits, so only processor 0 changes hands: p2 to 112001, p0 back at
    // 112002 (another process was on it: 2000 again) for 20000 more; p1 is never interrupted.
    const std::vector<std::pair<unsigned, sim::picoseconds>> expected{
        {2, 112'001 * ns}, {1, 120'001 * ns}, {0, 134'002 * ns}};
    EXPECT_EQ(ends, expected);
}

TEST(cpu, a_slice_that_nobody_waited_for_begins_anew) {
    node n(round_costs());
    sim::picoseconds late = 0;
    n.cpu.spawn("long", nullptr, [](process& p) { p.compute(1'000'000); });
    n.cpu.spawn("late", nullptr, [&](process& p) {
        p.compute(1);
        late = p.now();
    });
    auto& sleeper = *n.cpu.processes()[1];
    (void)sleeper;
    n.run_us(1);
    EXPECT_EQ(late, 0u);
    n.run_us(2000);
    EXPECT_EQ(late, (100'001 + 2000 + 1) * ns);
}

TEST(cpu, a_process_that_comes_in_the_third_slice_waits_for_its_end) {
    node n(round_costs());
    sim::picoseconds late = 0;
    n.cpu.spawn("long", nullptr, [](process& p) { p.compute(1'000'000); });
    test::hardware([&] {
        test::wait_until(250'000 * ns);
        n.cpu.spawn("late", nullptr, [&](process& p) {
            p.compute(1);
            late = p.now();
        });
    });
    n.run_us(2000);
    EXPECT_EQ(late, (300'001 + 2000 + 1) * ns);
}

TEST(cpu, no_slice_ends_in_kernel_mode) {
    node n(round_costs());
    times ends;
    n.cpu.spawn("kernel", nullptr, [&](process& p) {
        p.trap([&] { p.compute(150'000); });
        p.compute(10);
        ends.push_back(p.now());
    });
    n.cpu.spawn("user", nullptr, [&](process& p) {
        p.compute(1);
        ends.push_back(p.now());
    });
    n.run_us(1000);
    // The kernel is left at 1 + 200 + 150000 + 300 = 150501, so at 150502 the processor changes hands: user
    // ends at 150502 + 2000 + 1, and the first goes on at the next edge with 9 clocks left after 2000.
    EXPECT_EQ(ends, (times{152'503 * ns, (152'504 + 2000 + 9) * ns}));
}

TEST(cpu, an_interrupt_suspends_a_process_for_entry_handler_and_exit) {
    node n(round_costs());
    sim::picoseconds end = 0, handled = 0;
    n.cpu.on_interrupt([&](context& kernel) {
        handled = sim::now();
        kernel.compute(100);
        n.cpu.interrupt_level(false);
    });
    n.cpu.spawn("p", nullptr, [&](process& p) {
        p.compute(10'000);
        end = p.now();
    });
    test::hardware([&] {
        test::wait_until(3'000'500);
        n.cpu.interrupt_level(true);
    });
    n.run_us(100);
    // 3000.5 + 1000 ns delivery: seen at edge 4001, handler at 4501, back at 4501 + 100 + 400 = 5001.
    EXPECT_EQ(handled, 4501 * ns);
    EXPECT_EQ(end, (10'001 + 1000) * ns);
    EXPECT_EQ(n.cpu.interrupts.value(), 1u);
    n.cpu.settle();
    EXPECT_EQ(n.cpu.busy.value(), 11'000 * ns);
}

TEST(cpu, a_line_that_stays_asserted_interrupts_again) {
    node n(round_costs());
    times handled;
    n.cpu.on_interrupt([&](context&) {
        handled.push_back(sim::now());
        if (handled.size() == 2) n.cpu.interrupt_level(false);
    });
    test::hardware([&] { n.cpu.interrupt_level(true); });
    n.run_us(100);
    // Idle processor: 1000 ns, next edge 1001, + 500; exit ends at 1901, taken again at 1902.
    EXPECT_EQ(handled, (times{1501 * ns, (1902 + 500) * ns}));
}

TEST(cpu, a_line_released_in_time_interrupts_nobody) {
    node n(round_costs());
    n.cpu.on_interrupt([&](context&) { FAIL(); });
    test::hardware([&] {
        n.cpu.interrupt_level(true);
        test::wait_until(900 * ns);
        n.cpu.interrupt_level(false);
    });
    n.run_us(100);
    EXPECT_EQ(n.cpu.interrupts.value(), 0u);
}

TEST(cpu, a_stalled_processor_is_interrupted_only_afterwards) {
    node n(round_costs());
    sim::picoseconds end = 0, handled = 0;
    n.cpu.spawn("p", nullptr, [&](process& p) {
        p.stall([] { test::wait_until(5'000'300); });
        p.compute(10);
        end = p.now();
    });
    test::hardware([&] {
        n.cpu.post_interrupt([&](context&) { handled = sim::now(); });
        test::wait_until(2000 * ns);
        n.cpu.post_interrupt([&](context&) { handled = sim::now(); });
    });
    n.run_us(100);
    // The first at edge 1, before the process began: 1 + 500, back at 901. The stall ends at 5000.3,
    // execution goes on at 5001; the second interrupt at 5002: handler 5502, back at 5902 with 9 clocks left.
    EXPECT_EQ(handled, 5502 * ns);
    EXPECT_EQ(end, (5902 + 9) * ns);
}

TEST(cpu, a_wrong_value_is_an_input_error) {
    EXPECT_THROW(node(round_costs({{"cpu.count", "0"}})), sim::input_error);
}

}  // namespace
}  // namespace vinic::host
