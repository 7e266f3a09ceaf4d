// SPDX-License-Identifier: Apache-2.0
#include "hw/host/poll.h"

#include <gtest/gtest.h>

#include "hw/host/cpu.h"
#include "hw/sim/random.h"
#include "testbench/tests/host/node.h"

namespace vinic::host {
namespace {

using test::bytes_of;
using test::node;
using test::ns;
using test::round_costs;
using test::word_at;

TEST(poll_history, a_cycle_is_known_after_whole_rounds_and_its_own_next_look_only) {
    poll_history history;
    const poll_point a{.key = 1}, b{.key = 2}, c{.key = 3};
    const auto looks = [&](std::initializer_list<poll_point> points) {
        for (const auto& p : points) history.record(p, 5);
    };
    looks({a});
    EXPECT_TRUE(history.cycle_from(a, 2).empty());
    looks({a});
    EXPECT_EQ(history.cycle_from(a, 2), (std::vector{a}));
    EXPECT_TRUE(history.cycle_from(a, 3).empty());
    EXPECT_TRUE(history.cycle_from(b, 2).empty());
    history.clear();
    looks({a, a, b, a, a, b, a});
    // The look at b broke the run of a's; of the period of three, the two looks from it on have come twice.
    EXPECT_TRUE(history.cycle_from(a, 2).empty());
    looks({a});
    EXPECT_EQ(history.cycle_from(b, 2), (std::vector{b, a, a}));
    EXPECT_TRUE(history.cycle_from(a, 2).empty());
    looks({b});
    EXPECT_EQ(history.cycle_from(a, 2), (std::vector{a, a, b}));
    looks({c});
    EXPECT_TRUE(history.cycle_from(a, 2).empty());
    EXPECT_TRUE(history.cycle_from(c, 2).empty());
}

TEST(poll_nap, looks_lie_where_the_cycle_puts_them) {
    poll_nap nap;
    nap.begin({{.key = 1, .cost = 10}, {.key = 2, .cost = 5}});
    // Looks at 10, 15, 25, 30, ...
    EXPECT_EQ(nap.to_look(0), 10u);
    EXPECT_EQ(nap.to_look(10), 10u);
    EXPECT_EQ(nap.to_look(11), 15u);
    EXPECT_EQ(nap.to_look(16), 25u);
    nap.advance(15);
    EXPECT_EQ(nap.looks(), 2u);
    EXPECT_EQ(nap.looks(9), 2u);
    EXPECT_EQ(nap.looks(10), 3u);
    EXPECT_EQ(nap.to_look(0), 10u);  // the look at 15 has been
    EXPECT_EQ(nap.to_look(11), 15u);
}

struct polled {
    explicit polled(node& on) : n(on) {}
    poll_point point(unsigned i, clocks cost, sim::picoseconds deadline = sim::never) {
        return {.key = i, .cost = cost, .watched = {64 * i, 4}, .deadline = deadline};
    }
    bool changed(unsigned i) { return word_at(n.ram, 64 * i) != 0; }
    void write(unsigned i, std::uint32_t value, sim::picoseconds visible_at) {
        n.ram.write_at(64 * i, bytes_of(value), visible_at);
    }
    node& n;
};

TEST(poll, a_look_finds_what_is_visible_at_its_own_instant) {
    for (const bool step : {false, true}) {
        node n(round_costs({{"cpu.step_by_step", step ? "1" : "0"}}));
        polled words(n);
        sim::picoseconds found = 0;
        n.cpu.spawn("p", nullptr, [&](process& p) {
            while (!p.poll(words.point(1, 40), [&] { return words.changed(1); })) {
            }
            found = p.now();
        });
        test::hardware([&] {
            test::wait_until(8000 * ns);
            words.write(1, 1, 10'001 * ns);
        });
        n.run_us(100);
        // Looks at 1 + 40 k: the 250th at 10001 sees it, then the line misses for 150.
        EXPECT_EQ(found, (10'001 + 150) * ns);
        n.cpu.settle();
        EXPECT_EQ(n.cpu.polls.value(), 250u);
        EXPECT_EQ(n.cpu.busy.value(), 10'150 * ns);
    }
}

TEST(poll, alternating_queues_are_slept_through_and_the_right_one_finds_it) {
    for (const bool step : {false, true}) {
        node n(round_costs({{"cpu.step_by_step", step ? "1" : "0"}}));
        polled words(n);
        std::pair<unsigned, sim::picoseconds> found{};
        const auto look = [&](process& p, unsigned i, clocks cost) {
            if (!p.poll(words.point(i, cost), [&] { return words.changed(i); })) return false;
            found = {i, p.now()};
            return true;
        };
        n.cpu.spawn("p", nullptr, [&](process& p) {
            while (!look(p, 1, 40) && !look(p, 2, 60)) {
            }
        });
        test::hardware([&] {
            test::wait_until(50'000 * ns);
            words.write(2, 1, 60'050 * ns);
            words.write(1, 1, 60'102 * ns);
        });
        n.run_us(100);
        // Looks at queue 2 at 1 + 100 k, at queue 1 at 41 + 100 k: 60101 sees queue 2, 60141 would have
        // seen 1.
        EXPECT_EQ(found, (std::pair<unsigned, sim::picoseconds>{2, (60'101 + 150) * ns}));
        n.cpu.settle();
        EXPECT_EQ(n.cpu.polls.value(), 1202u);
    }
}

TEST(poll, a_sleeping_process_costs_no_events) {
    node n(round_costs());
    polled words(n);
    n.cpu.spawn("p", nullptr, [&](process& p) {
        while (!p.poll(words.point(1, 100), [&] { return words.changed(1); })) {
        }
    });
    n.run_us(1);
    EXPECT_FALSE(sc_core::sc_pending_activity_at_future_time());
    n.run_us(999'999);
    n.cpu.settle();
    EXPECT_EQ(n.cpu.polls.value(), 9'999'999u);  // from 1 ns: the look at 1 s + 1 ns is yet to come
    EXPECT_EQ(n.cpu.busy.value(), 999'999'999 * ns);
}

TEST(poll, a_change_between_the_looks_of_a_round_is_not_slept_through) {
    // The word of the first queue changes while the second is looked at, in the very round after which the
    // process may sleep, whichever that is.
    for (unsigned at = 100; at < 3000; at += 50) {
        node n(round_costs());
        polled words(n);
        sim::picoseconds found = 0;
        n.cpu.spawn("p", nullptr, [&](process& p) {
            for (unsigned i = 1; !p.poll(words.point(i, 100), [&] { return words.changed(i); }); i = 3 - i) {
            }
            found = p.now();
        });
        test::hardware([&] { words.write(1, 1, at * ns); });
        n.run_us(100);
        // Looks at queue 1 at 101 + 200 k.
        const std::uint64_t k = at <= 101 ? 0 : (at - 101 + 199) / 200;
        EXPECT_EQ(found, (101 + 200 * k + 150) * ns) << at;
    }
}

TEST(poll, a_write_to_memory_that_the_program_may_read_itself_wakes_it) {
    for (const bool step : {false, true}) {
        node n(round_costs({{"cpu.step_by_step", step ? "1" : "0"}}));
        address_space space(n.ram, 0, 0);
        auto* const flag = static_cast<volatile std::uint32_t*>(space.allocate(4));
        const auto where = space.translate(reinterpret_cast<virtual_address>(flag));
        sim::picoseconds seen = 0;
        n.cpu.spawn("p", &space, [&](process& p) {
            while (*flag == 0) p.poll({.key = 1, .cost = 40}, [] { return false; });
            seen = p.now();
        });
        test::hardware([&] {
            test::wait_until(8000 * ns);
            n.ram.write_at(where, bytes_of(std::uint32_t{1}), 10'002 * ns);
        });
        n.run_us(100);
        EXPECT_EQ(seen, 10'041 * ns);
    }
}

TEST(poll, a_program_that_counts_its_looks_can_say_so) {
    node n(round_costs());
    sim::picoseconds end = 0;
    n.cpu.spawn("p", nullptr, [&](process& p) {
        p.counts_polls(true);
        for (int i = 0; i < 100; ++i) p.poll({.key = 1, .cost = 40}, [] { return false; });
        end = p.now();
    });
    n.run_us(100);
    EXPECT_EQ(end, 4001 * ns);
}

// --- Sleeping against step by step, over random programs

struct outcome {
    std::vector<std::vector<std::uint64_t>> seen;  ///< by process: time and queue of each find or timeout
    std::vector<std::uint64_t> counts;
    bool operator==(const outcome&) const = default;
};

void random_program(process& p, polled& words, sim::random_stream random, std::vector<std::uint64_t>& seen) {
    const unsigned queues = 1 + static_cast<unsigned>(random.below(3));
    const unsigned first = 1 + p.number() * 4;
    std::vector<std::uint32_t> last(queues, 0);
    for (int round = 0; round < 25; ++round) {
        const sim::picoseconds deadline =
            random.below(3) == 0 ? sim::now() + (random.below(60'000) + 1) * ns : sim::never;
        bool over = false;
        while (!over) {
            for (unsigned q = 0; q < queues && !over; ++q) {
                const auto point = words.point(first + q, 30 + 7 * q, deadline);
                over = p.poll(point, [&] {
                    return word_at(words.n.ram, 64 * (first + q)) != last[q] || sim::now() >= deadline;
                });
                if (!over) continue;
                const std::uint32_t now_there = word_at(words.n.ram, 64 * (first + q));
                seen.insert(seen.end(), {sim::now(), q, now_there});
                last[q] = now_there;
            }
        }
        if (random.below(2)) p.compute(random.below(2000));
        if (random.below(4) == 0) p.trap([&] { p.compute(random.below(3000)); });
        if (random.below(6) == 0) p.sleep_for(random.below(20'000) * ns);
        if (random.below(6) == 0) p.stall([&] { sc_core::wait(sim::to_sc_time(random.below(900'000) + 1)); });
        if (random.below(8) == 0) p.yield();
    }
}

outcome run_random(std::uint64_t seed, bool step, unsigned processors, unsigned processes, unsigned dummies) {
    node n(round_costs({{"cpu.step_by_step", step ? "1" : "0"},
                        {"cpu.count", std::to_string(processors)},
                        {"cpu.context_switch_clocks", "150"},
                        {"cpu.process_wake_clocks", "210"},
                        {"cpu.time_slice_us", "9"}}));
    polled words(n);
    outcome result;
    result.seen.resize(processes);
    for (unsigned i = 0; i < dummies; ++i)
        test::hardware([i] {
            for (;;) sc_core::wait(sim::to_sc_time((i + 1) * 37 * ns));
        });
    n.cpu.on_interrupt([&](context& kernel) {
        kernel.compute(100);
        n.cpu.interrupt_level(false);
    });
    for (unsigned i = 0; i < processes; ++i)
        n.cpu.spawn("p", nullptr, [&, i](process& p) {
            random_program(p, words, {seed, "p" + std::to_string(i)}, result.seen[i]);
        });
    test::hardware([&] {
        sim::random_stream random(seed, "dma");
        for (std::uint32_t k = 1; k < 3000; ++k) {
            // Whole clocks, so that writes often become visible at the very instant of a look.
            sc_core::wait(sim::to_sc_time((random.below(1500) + 1) * ns));
            const auto word = static_cast<unsigned>(1 + random.below(4 * processes));
            words.write(word, k, sim::now() + (1 + random.below(300)) * ns);
            if (random.below(10) == 0) n.cpu.interrupt_level(true);
        }
    });
    n.run_us(2000);
    n.cpu.settle();
    result.counts = {n.cpu.busy.value(), n.cpu.polls.value(), n.cpu.interrupts.value(),
                     n.cpu.context_switches.value(), n.cpu.traps.value()};
    return result;
}

TEST(poll, sleeping_gives_the_times_and_counts_of_stepping) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed)
        for (const auto& [processors, processes] : {std::pair{1u, 1u}, {1u, 3u}, {2u, 3u}, {4u, 4u}}) {
            const outcome stepped = run_random(seed, true, processors, processes, 0);
            EXPECT_GT(stepped.seen[0].size(), 10u);
            EXPECT_EQ(run_random(seed, false, processors, processes, 0), stepped)
                << seed << ' ' << processors;
            EXPECT_EQ(run_random(seed, false, processors, processes, 3), stepped)
                << seed << ' ' << processors;
        }
}

}  // namespace
}  // namespace vinic::host
