// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/stretch.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hw/sim/random.h"
#include "hw/sim/simulation.h"
#include "hw/sim/timer.h"

namespace vinic::sim {
namespace {

using entry = std::pair<picoseconds, std::string>;

void run_to(picoseconds goal, bool by_itself = true) {
    const stretch until_goal(by_itself ? goal : 0);
    sc_core::sc_start(to_sc_time(goal - now()), sc_core::SC_RUN_TO_TIME);
}

TEST(stretch, timers_cost_no_steps_of_the_kernel) {
    for (const bool by_itself : {false, true}) {
        simulation s;
        std::vector<picoseconds> fired;
        timer again([&] {
            fired.push_back(now());
            again.set(now() + 10);
        });
        again.set(10);
        run_to(1000, by_itself);
        EXPECT_EQ(now(), 1000u);
        ASSERT_EQ(fired.size(), 99u);  // the kernel leaves what is due at the goal to its next start
        for (std::size_t i = 0; i < fired.size(); ++i) EXPECT_EQ(fired[i], 10 * (i + 1));
        const auto steps = sc_core::sc_delta_count();
        if (by_itself)
            EXPECT_LT(steps, 10u);
        else
            EXPECT_GE(steps, fired.size());
    }
}

TEST(stretch, nothing_acts_at_or_behind_the_goal) {
    simulation s;
    std::vector<picoseconds> fired;
    timer one([&] { fired.push_back(now()); });
    timer two([&] { fired.push_back(now()); });
    one.set(10);
    two.set(31);
    run_to(30);
    EXPECT_EQ(now(), 30u);
    EXPECT_EQ(fired, (std::vector<picoseconds>{10}));
    run_to(40);
    EXPECT_EQ(fired, (std::vector<picoseconds>{10, 31}));
}

TEST(stretch, time_stands_still_at_a_pause) {
    simulation s;
    std::vector<picoseconds> fired;
    timer one([&] {
        fired.push_back(now());
        pause();
    });
    timer two([&] { fired.push_back(now()); });
    one.set(10);
    two.set(20);
    run_to(30);
    EXPECT_EQ(now(), 10u);
    EXPECT_EQ(fired, (std::vector<picoseconds>{10}));
    run_to(30);
    EXPECT_EQ(fired, (std::vector<picoseconds>{10, 20}));
}

/// Timers that wake a thread, a thread that sets timers and sleeps in between: random, by the calendar and
/// step by step.
std::vector<entry> mixture(std::uint64_t seed, bool by_itself) {
    simulation s;
    std::vector<entry> seen;
    random_stream random(seed, "stretch_test");
    sc_core::sc_event woken("woken");
    std::deque<timer> timers;
    const auto note = [&](std::string who) { seen.emplace_back(now(), std::move(who)); };
    for (int i = 0; i < 8; ++i)
        timers.emplace_back([&, i] {
            note(std::to_string(i));
            timers[i].set(now() + 1 + random.below(50));
            if (random.chance(0.2)) woken.notify(delay_until(now() + random.below(40)));
            if (random.chance(0.1)) timers[(i + 1) % 8].set(now());
        });
    sc_core::sc_spawn([&] {
        for (int i = 0; i < 8; ++i) timers[i].set(now() + 1 + random.below(100));
        for (;;) {
            sc_core::wait(to_sc_time(1 + random.below(200)), woken);
            note("thread");
            timers[random.below(8)].no_later_than(now() + random.below(3));
        }
    });
    for (picoseconds goal = 0; goal < 20'000;) run_to(goal += 777, by_itself);
    return seen;
}

TEST(stretch, all_happens_in_the_same_order_as_step_by_step) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto step_by_step = mixture(seed, false);
        EXPECT_GT(step_by_step.size(), 1000u);
        EXPECT_EQ(mixture(seed, true), step_by_step) << seed;
    }
}

}  // namespace
}  // namespace vinic::sim
