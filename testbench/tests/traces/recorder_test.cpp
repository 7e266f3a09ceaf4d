// SPDX-License-Identifier: Apache-2.0
#include "traces/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "testbench/tests/traces/watched_block.h"

namespace vinic::traces {
namespace {

class listing : public recorder {
public:
    listing() : recorder(std::vector<std::string>{"*"}) {}
    std::vector<std::tuple<sim::picoseconds, std::string, std::uint64_t>> seen;

protected:
    void emit(const record& r) override { seen.emplace_back(r.at, probes()[r.probe]->name(), r.bits); }
};

// Several sources, each in order of its own time, some ahead of the kernel and some behind it by up to 2 ms;
// few and many reports between two flushes.
TEST(recorder, sorts_by_time_then_name_then_as_reported_wherever_stretches_end) {
    constexpr sim::picoseconds stretch = 100'000'000, latest = 1'900'000'000;
    for (const unsigned each : {20u, 3000u}) {
        sim::simulation s;
        watched_block a("node0");
        watched_block b("node1");
        listing l;
        std::mt19937 random(each);
        std::vector<std::tuple<sim::picoseconds, std::string, std::uint64_t>> expected;
        const std::array<sim::value_probe*, 4> probes{&a.bus, &a.state, &b.bus, &b.frame};
        std::uint64_t number = 0;
        sim::picoseconds now = latest;
        for (unsigned round = 0; round < 40; ++round, now += stretch) {
            for (unsigned n = 0; n < each; ++n) {
                sim::value_probe& p = *probes[random() % probes.size()];
                const sim::picoseconds at = (now - latest + random() % (latest + stretch)) / 64 * 64;
                p.set(at, ++number, 0);
                expected.emplace_back(at, p.name(), number);
            }
            l.flush(now);
        }
        l.finish(now + stretch);
        std::ranges::sort(expected);
        ASSERT_EQ(l.seen.size(), expected.size());
        EXPECT_TRUE(l.seen == expected);
    }
}

// Its begin is known only when it ends, and must not come after what was emitted.
TEST(recorder, a_span_longer_than_records_are_held_back_comes_later) {
    sim::simulation s;
    watched_block b("node0");
    listing l;
    b.state.set(1'000'000, 1);
    l.flush(3'000'000'000);
    b.block.report(500'000, 3'000'000'000, "read");
    l.finish(3'000'000'000);
    ASSERT_EQ(l.seen.size(), 3u);
    EXPECT_EQ(std::get<0>(l.seen[0]), 1'000'000u);
    EXPECT_EQ(std::get<0>(l.seen[1]), 500'000u);
    EXPECT_EQ(std::get<0>(l.seen[2]), 3'000'000'000u);
}

}  // namespace
}  // namespace vinic::traces
