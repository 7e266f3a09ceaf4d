// SPDX-License-Identifier: Apache-2.0
#include "hw/host/process.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "hw/host/cpu.h"
#include "testbench/tests/host/node.h"

namespace vinic::host {
namespace {

using test::node;
using test::ns;
using test::round_costs;
using times = std::vector<sim::picoseconds>;

TEST(process, a_woken_process_pays_for_its_wake_up) {
    node n(round_costs());
    wait_queue queue("the test");
    sim::picoseconds woken = 0;
    bool in_time = false;
    n.cpu.spawn("p", nullptr, [&](process& p) {
        in_time = p.block(queue);
        woken = p.now();
    });
    test::hardware([&] {
        test::wait_until(10'000'700);
        EXPECT_EQ(n.cpu.processes()[0]->activity(), "waits for the test");
        EXPECT_TRUE(queue.wake_one());
        EXPECT_FALSE(queue.wake_one());
    });
    n.run_us(100);
    EXPECT_TRUE(in_time);
    EXPECT_EQ(woken, (10'001 + 5000) * ns);
}

TEST(process, a_timeout_ends_a_wait_unless_the_wake_up_comes_at_the_same_instant) {
    for (const bool wake_first : {true, false}) {
        node n(round_costs());
        wait_queue queue("the test");
        std::vector<bool> in_time;
        n.cpu.spawn("p", nullptr, [&](process& p) {
            in_time.push_back(p.block(queue, 20'000 * ns));
            in_time.push_back(p.block(queue, 50'000 * ns));
        });
        sc_core::sc_event wake;
        test::hardware([&] {
            // Before and after the process's own timer in the kernel's order at that instant.
            test::wait_until(wake_first ? 0 : 19'000 * ns);
            sc_core::wait(sim::delay_until(20'000 * ns));
            if (!wake_first) sc_core::wait(sc_core::SC_ZERO_TIME);
            EXPECT_FALSE(queue.empty());
            EXPECT_TRUE(queue.wake_one());
            test::wait_until(50'000 * ns + 1);
            EXPECT_TRUE(queue.empty());
            EXPECT_FALSE(queue.wake_one());
        });
        n.run_us(100);
        EXPECT_EQ(in_time, (std::vector<bool>{true, false}));
    }
}

TEST(process, waiters_are_woken_in_order_of_time_then_number) {
    node n(round_costs({{"cpu.count", "4"}}));
    wait_queue queue("the test");
    std::vector<unsigned> order;
    for (int i = 0; i < 4; ++i)
        n.cpu.spawn("p", nullptr, [&](process& p) {
            p.compute(p.number() == 0 ? 20 : 10);
            p.block(queue);
            order.push_back(p.number());
        });
    test::hardware([&] {
        for (const int at : {50, 60, 70, 80}) {
            test::wait_until(at * test::us);
            queue.wake_one();
        }
    });
    n.run_us(100);
    EXPECT_EQ(order, (std::vector<unsigned>{1, 2, 3, 0}));
}

TEST(process, sleep_ends_at_its_time_and_then_costs_a_wake_up) {
    node n(round_costs());
    sim::picoseconds end = 0;
    n.cpu.spawn("p", nullptr, [&](process& p) {
        p.sleep_until(30'000 * ns);
        end = p.now();
    });
    n.run_us(100);
    EXPECT_EQ(end, (30'001 + 5000) * ns);
    n.cpu.settle();
    EXPECT_EQ(n.cpu.busy.value(), 5000 * ns);
}

TEST(process, yield_lets_others_go_first) {
    node n(round_costs());
    std::vector<std::pair<unsigned, sim::picoseconds>> order;
    for (int i = 0; i < 2; ++i)
        n.cpu.spawn("p", nullptr, [&](process& p) {
            p.compute(10);
            p.yield();
            order.emplace_back(p.number(), p.now());
        });
    n.run_us(100);
    // p0 1-11; p1 from 12: 2000 + 10 to 2022; p0 from 2023, + 2000; ends there; p1 from 4024, + 2000.
    const std::vector<std::pair<unsigned, sim::picoseconds>> expected{{0, 4023 * ns}, {1, 6024 * ns}};
    EXPECT_EQ(order, expected);
}

TEST(process, a_trap_may_block_and_return_a_value) {
    node n(round_costs());
    wait_queue queue("the test");
    int result = 0;
    sim::picoseconds end = 0;
    n.cpu.spawn("p", nullptr, [&](process& p) {
        result = p.trap([&] { return p.block(queue) ? 42 : 0; });
        end = p.now();
    });
    test::hardware([&] {
        test::wait_until(10'000 * ns);
        queue.wake_all();
    });
    n.run_us(100);
    EXPECT_EQ(result, 42);
    EXPECT_EQ(end, (10'001 + 5000 + 300) * ns);
}

TEST(process, an_exception_stops_the_run_and_is_kept) {
    node n(round_costs());
    n.cpu.spawn("p", nullptr, [](process&) { throw std::runtime_error("broken"); });
    n.run_us(100);
    ASSERT_TRUE(n.cpu.processes()[0]->failure());
    EXPECT_THROW(std::rethrow_exception(n.cpu.processes()[0]->failure()), std::runtime_error);
    EXPECT_LT(sim::now(), 100 * test::us);
}

/// Everything that a process does at one instant, in whatever order the kernel wakes the threads.
TEST(process, the_order_in_which_the_kernel_wakes_threads_does_not_matter) {
    const auto run = [](unsigned dummies) {
        node n(round_costs({{"cpu.count", "2"}, {"cpu.time_slice_us", "3"}}));
        std::vector<std::vector<sim::picoseconds>> seen(5);
        wait_queue queue("the test");
        // Unrelated events that permute the order in which the kernel wakes processes.
        for (unsigned i = 0; i < dummies; ++i)
            test::hardware([i] {
                for (unsigned k = 1; k < 300; ++k) sc_core::wait(sim::to_sc_time((i + 1) * 7 * ns));
            });
        n.cpu.on_interrupt([&](context& kernel) {
            kernel.compute(120);
            n.cpu.interrupt_level(false);
            queue.wake_all();
        });
        for (unsigned i = 0; i < 5; ++i)
            n.cpu.spawn("p", nullptr, [&seen, &queue, i](process& p) {
                for (int k = 0; k < 30; ++k) {
                    p.compute(500 * (1 + (k + i) % 3));
                    seen[i].push_back(sim::now());
                    if (k % 7 == 6) p.block(queue, sim::now() + 40'000 * ns);
                    if (k % 5 == 4) p.yield();
                    if (k % 4 == 3) p.stall([] { sc_core::wait(sim::to_sc_time(700 * ns)); });
                    if (k % 3 == 2) p.trap([&] { p.compute(1000); });
                }
            });
        test::hardware([&] {
            for (int k = 0; k < 20; ++k) {
                sc_core::wait(sim::to_sc_time(17'500 * ns));
                n.cpu.interrupt_level(true);
            }
        });
        n.run_us(3000);
        n.cpu.settle();
        seen.push_back({n.cpu.busy.value(), n.cpu.context_switches.value(), n.cpu.interrupts.value()});
        return seen;
    };
    const auto plain = run(0);
    for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(plain[i].size(), 30u);
    EXPECT_EQ(plain[5][2], 20u);
    for (const unsigned dummies : {1u, 3u, 8u}) EXPECT_EQ(run(dummies), plain);
}

}  // namespace
}  // namespace vinic::host
