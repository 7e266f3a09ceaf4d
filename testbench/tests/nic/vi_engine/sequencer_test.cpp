// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/sequencer.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "hw/nic/vi_engine/machine.h"
#include "testbench/tests/nic/timeline.h"

namespace vinic::nic {
namespace {

constexpr sim::picoseconds clock_ps = 30'000;

struct bench {
    sim::simulation simulation{test::configured({})};
    test::timeline script;
    sequencer order{sim::clock_domain::from_mhz(33), 7};
    std::vector<std::string> log;

    void note(const std::string& what) {
        log.push_back(what + " at " + std::to_string(sim::now() / clock_ps));
        EXPECT_EQ(sim::now() % clock_ps, 0u);
    }
};

machine steps(bench& b) {
    b.note("begun");
    co_await b.order.clocks(0);
    b.note("no clock");
    co_await b.order.clocks(3);
    b.note("three clocks");
    co_await b.order.clocks(1, 2);
    b.note("one clock, two accesses");
}

TEST(sequencer, steps_take_their_clocks_and_those_of_accesses_to_memory) {
    bench b;
    std::optional<machine> running;
    b.script.at(10 * clock_ps, [&] {
        b.order.input(rank::host,
                      [&] { running.emplace(b.order.start(rank::send, [&] { return steps(b); })); });
    });
    sc_core::sc_start();
    EXPECT_EQ(b.log, (std::vector<std::string>{"begun at 11", "no clock at 11", "three clocks at 14",
                                               "one clock, two accesses at 29"}));
}

// On an edge, or between two: seen on the next one.
TEST(sequencer, an_input_is_seen_on_the_edge_after_it) {
    bench b;
    for (const sim::picoseconds at : {5 * clock_ps - 1, 5 * clock_ps, 5 * clock_ps + 1})
        b.script.at(at, [&] { b.order.input(rank::link, [&] { b.note("seen"); }); });
    sc_core::sc_start();
    EXPECT_EQ(b.log, (std::vector<std::string>{"seen at 5", "seen at 6", "seen at 6"}));
}

machine wait(bench& b, condition& on, const char* name) {
    co_await on.changed();
    b.note(name);
}

TEST(sequencer, on_one_edge_ranks_decide_not_the_order_of_events) {
    bench b;
    condition changed(b.order);
    const machine last = b.order.start(rank::commands, [&] { return wait(b, changed, "commands"); });
    const machine middle = b.order.start(rank::receive, [&] { return wait(b, changed, "receive"); });
    const machine first = b.order.start(rank::doorbells, [&] { return wait(b, changed, "doorbells"); });
    b.script.at(clock_ps, [&] {
        b.order.input(rank::link, [&] { b.note("link"); });
        b.order.input(rank::host, [&] {
            b.note("host");
            changed.notify();
        });
    });
    sc_core::sc_start();
    EXPECT_EQ(b.log, (std::vector<std::string>{"host at 2", "link at 2", "doorbells at 2", "receive at 2",
                                               "commands at 2"}));
}

machine use(bench& b, pool& of, const char* name, std::uint64_t clocks) {
    co_await of.take();
    b.note(name);
    co_await b.order.clocks(clocks);
    of.give();
}

TEST(pool, who_waits_longest_is_next) {
    bench b;
    pool two(b.order, 2);
    std::vector<machine> users;
    b.script.at(0, [&] {
        b.order.input(rank::host, [&] {
            for (const auto& [name, clocks] :
                 {std::pair{"a", 5}, std::pair{"b", 2}, std::pair{"c", 1}, std::pair{"d", 1}})
                users.push_back(b.order.start(rank::send, [&, n = name, c = clocks] {
                    return use(b, two, n, static_cast<std::uint64_t>(c));
                }));
        });
    });
    sc_core::sc_start();
    EXPECT_EQ(b.log, (std::vector<std::string>{"a at 1", "b at 1", "c at 3", "d at 4"}));
    EXPECT_EQ(two.available(), 2u);
}

}  // namespace
}  // namespace vinic::nic
