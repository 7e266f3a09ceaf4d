// SPDX-License-Identifier: Apache-2.0
#include "hw/link/agenda.h"

#include <gtest/gtest.h>

#include <functional>
#include <tuple>
#include <vector>

#include "hw/sim/module.h"
#include "hw/sim/simulation.h"

namespace vinic::link {
namespace {

/// Does what its agenda says and writes down when.
struct worker : sim::module {
    worker() : sim::module("worker"), todo(4, 3, [this] { act(); }) {}
    void act() {
        while (const auto item = todo.next()) {
            done.emplace_back(sim::now(), item->kind, item->port);
            if (then) then(*item);
        }
    }
    agenda todo;
    std::vector<std::tuple<sim::picoseconds, unsigned, unsigned>> done;
    std::function<void(agenda::item)> then;
};

using list = std::vector<std::tuple<sim::picoseconds, unsigned, unsigned>>;

TEST(agenda, one_instant_goes_by_kind_then_port) {
    sim::simulation s;
    worker w;
    w.todo.set(2, 0, 100);
    w.todo.set(1, 2, 100);
    w.todo.set(1, 1, 100);
    w.todo.set(3, 0, 50);
    sc_core::sc_start();
    EXPECT_EQ(w.done, (list{{50, 3, 0}, {100, 1, 1}, {100, 1, 2}, {100, 2, 0}}));
    EXPECT_EQ(w.todo.activations(), 2u);
}

TEST(agenda, a_timer_can_be_moved_and_cancelled) {
    sim::simulation s;
    worker w;
    w.todo.set(0, 0, 10);
    w.todo.set(0, 0, 30);
    w.todo.set(1, 0, 20);
    w.todo.set(1, 0, sim::never);
    w.todo.set(2, 0, 40);
    w.todo.set(2, 0, 5);
    sc_core::sc_start();
    EXPECT_EQ(w.done, (list{{5, 2, 0}, {30, 0, 0}}));
    EXPECT_EQ(w.todo.activations(), 2u);
}

TEST(agenda, work_for_the_same_instant_can_come_up_meanwhile) {
    sim::simulation s;
    worker w;
    w.then = [&](agenda::item item) {
        if (item.kind != 2) return;
        w.todo.set(3, 0, sim::now());
        w.todo.set(0, 1, sim::now());  // earlier kind: before what is left of this instant
    };
    w.todo.set(2, 0, 10);
    w.todo.set(2, 1, 10);
    sc_core::sc_start();
    EXPECT_EQ(w.done, (list{{10, 2, 0}, {10, 0, 1}, {10, 2, 1}, {10, 0, 1}, {10, 3, 0}}));
    EXPECT_EQ(w.todo.activations(), 1u);
}

TEST(agenda, nothing_to_do_is_no_event) {
    sim::simulation s;
    worker w;
    w.todo.set(0, 0, 10);
    w.todo.set(0, 0, sim::never);
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

}  // namespace
}  // namespace vinic::link
