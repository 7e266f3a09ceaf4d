// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/simulation.h"

#include <gtest/gtest.h>

#include "hw/sim/module.h"
#include "hw/sim/time.h"

namespace vinic::sim {
namespace {

struct waiter : module {
    explicit waiter(const sc_core::sc_module_name& name) : module(name) {
        SC_HAS_PROCESS(waiter);
        SC_THREAD(run);
    }
    void run() {
        wait(to_sc_time(123));
        seen = now();
    }
    picoseconds seen = 0;
};

TEST(simulation, each_has_a_kernel_of_its_own) {
    for (int i = 0; i < 3; ++i) {
        simulation s;
        waiter w("w");
        EXPECT_EQ(now(), 0u);
        sc_core::sc_start();
        EXPECT_EQ(w.seen, 123u);
    }
}

TEST(simulation, streams_depend_on_seed_and_name_only) {
    simulation s({}, 42);
    EXPECT_EQ(s.stream("a").next(), s.stream("a").next());
    EXPECT_NE(s.stream("a").next(), s.stream("b").next());
}

}  // namespace
}  // namespace vinic::sim
