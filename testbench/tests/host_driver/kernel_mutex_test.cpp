// SPDX-License-Identifier: Apache-2.0
#include "host_driver/kernel_mutex.h"

#include <gtest/gtest.h>

#include <vector>

#include "testbench/tests/host/node.h"

namespace vinic::driver {
namespace {

using host::test::ns;

/// Each process comes to the lock by pieces of work of these clocks (a clock is a nanosecond); the kernel
/// wakes at an instant in the order in which the last pieces began, or in another.
struct comers {
    std::vector<std::vector<host::clocks>> pieces;
};

struct turn {
    unsigned number;
    sim::picoseconds at;
    bool operator==(const turn&) const = default;
};

/// Who got the lock when; each holds it for 1000 clocks.
std::vector<turn> turns_of(const comers& all) {
    host::test::node n(host::test::round_costs({{"cpu.count", "4"}}));
    kernel_mutex mutex("test");
    std::vector<turn> turns;
    for (const auto& pieces : all.pieces)
        n.cpu.spawn("p", nullptr, [&](host::process& p) {
            for (const host::clocks piece : pieces) p.compute(piece);
            const kernel_mutex::guard lock(mutex, p);
            turns.push_back({p.number(), p.now()});
            p.compute(1000);
        });
    n.run_us(100);
    return turns;
}

TEST(kernel_mutex, at_one_instant_the_lower_number_gets_it) {
    const std::vector<host::clocks> at_once{9000}, late{8999, 1}, middle{4500, 4500};
    const std::vector<turn> first = turns_of({{at_once, late, middle}});
    ASSERT_EQ(first.size(), 3u);
    for (unsigned i = 0; i != 3; ++i) EXPECT_EQ(first[i].number, i);
    for (const comers& order :
         {comers{{at_once, middle, late}}, comers{{late, at_once, middle}}, comers{{late, middle, at_once}},
          comers{{middle, late, at_once}}, comers{{middle, at_once, late}}})
        EXPECT_EQ(turns_of(order), first);
}

/// The first has it from 9000 clocks after the start on, so gives it up when the second comes.
TEST(kernel_mutex, what_is_given_up_at_an_instant_is_free_at_it) {
    for (const std::vector<host::clocks>& second :
         {std::vector<host::clocks>{10'000}, std::vector<host::clocks>{9999, 1}}) {
        const std::vector<turn> turns = turns_of({{{9000}, second}});
        ASSERT_EQ(turns.size(), 2u);
        EXPECT_EQ(turns[1].at - turns[0].at, 1000 * ns);  // no wake-up between them
    }
}

}  // namespace
}  // namespace vinic::driver
