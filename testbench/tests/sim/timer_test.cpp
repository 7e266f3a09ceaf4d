// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/timer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "hw/sim/random.h"
#include "hw/sim/simulation.h"

namespace vinic::sim {
namespace {

using list = std::vector<std::pair<picoseconds, unsigned>>;

/// Timers that write down when they fired and may then do something.
struct bench {
    explicit bench(unsigned count) {
        for (unsigned i = 0; i < count; ++i)
            timers.emplace_back([this, i] {
                fired.emplace_back(now(), i);
                if (then) then(i);
            });
    }
    simulation s;
    std::deque<timer> timers;
    list fired;
    std::function<void(unsigned)> then;
};

TEST(timer, fires_once_at_its_time_those_of_one_instant_as_they_were_set) {
    bench b(4);
    b.timers[3].set(20);
    b.timers[1].set(20);
    b.timers[0].set(30);
    b.timers[2].set(10);
    sc_core::sc_start();
    EXPECT_EQ(b.fired, (list{{10, 2}, {20, 3}, {20, 1}, {30, 0}}));
}

TEST(timer, a_cancelled_one_leaves_nothing_in_the_kernel) {
    bench b(2);
    b.timers[0].set(10);
    b.timers[1].set(now());
    EXPECT_TRUE(sc_core::sc_pending_activity());
    b.timers[0].cancel();
    EXPECT_TRUE(sc_core::sc_pending_activity());
    b.timers[1].cancel();
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST(timer, can_be_moved_and_cancelled) {
    bench b(4);
    b.timers[0].set(10);
    b.timers[0].set(40);
    b.timers[1].set(30);
    b.timers[1].no_later_than(35);
    b.timers[2].set(30);
    b.timers[2].no_later_than(20);
    b.timers[3].set(50);
    b.timers[3].set(never);
    b.then = [&](unsigned i) {
        if (i == 2) b.timers[1].cancel();
    };
    sc_core::sc_start();
    EXPECT_EQ(b.fired, (list{{20, 2}, {40, 0}}));
    EXPECT_EQ(now(), 40u);
}

TEST(timer, cancelled_is_no_event) {
    bench b(2);
    b.timers[0].set(10);
    b.timers[1].set(20);
    b.timers[0].cancel();
    b.timers[1].cancel();
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

TEST(timer, what_is_due_at_once_comes_behind_those_of_the_instant) {
    bench b(5);
    b.timers[4].set(10);
    b.then = [&](unsigned i) {
        if (i != 4) return;
        b.timers[1].set(now());
        b.timers[2].no_later_than(3);  // past
        b.timers[3].set(now());
        b.timers[3].cancel();
    };
    b.timers[0].set(10);
    sc_core::sc_start();
    EXPECT_EQ(b.fired, (list{{10, 4}, {10, 0}, {10, 1}, {10, 2}}));
}

TEST(timer, what_is_due_at_once_comes_behind_processes_of_this_delta_cycle) {
    bench b(3);
    sc_core::sc_event event("event");
    list order;
    sc_core::sc_spawn_options method;
    method.spawn_method();
    method.dont_initialize();
    method.set_sensitivity(&event);
    sc_core::sc_spawn([&] { order.emplace_back(now(), 9); }, "process", &method);
    b.then = [&](unsigned i) {
        order.emplace_back(now(), i);
        if (i != 0) return;
        b.timers[1].set(now());
        event.notify();
    };
    b.timers[0].set(10);
    sc_core::sc_start();
    EXPECT_EQ(order, (list{{10, 0}, {10, 9}, {10, 1}}));
}

TEST(timer, before_the_start_now_is_the_first_instant) {
    bench b(1);
    b.timers[0].set(0);
    sc_core::sc_start();
    EXPECT_EQ(b.fired, (list{{0, 0}}));
}

TEST(timer, one_instant_can_be_shuffled) {
    constexpr unsigned count = 20;
    std::vector<list> orders;
    for (const std::uint64_t seed : {0, 1, 2}) {
        bench b(2 * count);
        if (seed != 0) calendar::current().shuffle(seed);
        for (unsigned i = 0; i < count; ++i) b.timers[i].set(10);
        b.then = [&](unsigned i) {
            if (i < count) b.timers[count + i].set(now());
        };
        sc_core::sc_start();
        for (auto half = b.fired.begin(); half != b.fired.end(); half += count) {
            orders.emplace_back(half, half + count);
            std::ranges::sort(half, half + count);
        }
        for (unsigned i = 0; i < 2 * count; ++i) EXPECT_EQ(b.fired[i], std::pair(picoseconds{10}, i));
    }
    ASSERT_EQ(orders.size(), 6u);
    EXPECT_TRUE(std::ranges::is_sorted(orders[0]));
    for (const std::size_t shuffled : {2, 3, 4, 5}) EXPECT_FALSE(std::ranges::is_sorted(orders[shuffled]));
    EXPECT_NE(orders[2], orders[4]);
}

/// Against a list of times that is searched each time.
TEST(timer, random_settings) {
    constexpr unsigned count = 37;
    bench b(count);
    random_stream random(1, "timer_test");
    std::vector<std::optional<picoseconds>> due(count);
    unsigned left = 5000;
    const auto disturb = [&] {
        const auto i = static_cast<unsigned>(random.below(count));
        const picoseconds at = now() + 1 + random.below(100);
        switch (random.below(3)) {
            case 0:
                b.timers[i].set(at);
                due[i] = at;
                break;
            case 1:
                b.timers[i].no_later_than(at);
                due[i] = std::min(at, due[i].value_or(never));
                break;
            default:
                b.timers[i].cancel();
                due[i].reset();
        }
    };
    b.then = [&](unsigned i) {
        ASSERT_EQ(due[i], now()) << i;
        due[i].reset();
        for (const auto& other : due) ASSERT_GE(other.value_or(never), now());
        for (int n = 0; n < 4 && left > 0; ++n, --left) disturb();
    };
    for (int n = 0; n < 100; ++n) disturb();
    sc_core::sc_start();
    EXPECT_EQ(left, 0u);
    for (const auto& rest : due) EXPECT_FALSE(rest);
}

}  // namespace
}  // namespace vinic::sim
