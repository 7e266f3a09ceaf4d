// SPDX-License-Identifier: Apache-2.0
#include "hw/link/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "hw/sim/random.h"

namespace vinic::link {
namespace {

/// The same stream, a number for each character.
std::vector<picoseconds> expand(const schedule& s) {
    std::vector<picoseconds> times;
    for (const run& r : s.runs())
        for (std::uint64_t c = r.first; c < r.end(); ++c) times.push_back(r.time_of(c));
    return times;
}

schedule random_stream_of(sim::random_stream& random, picoseconds max_pause, picoseconds max_period) {
    schedule s;
    picoseconds at = random.below(50);
    const std::uint64_t runs = 1 + random.below(6);
    for (std::uint64_t i = 0; i < runs; ++i) {
        const run r{s.end(), 1 + random.below(9), at, random.below(max_period + 1)};
        s.append(r);
        at = r.last() + random.below(max_pause + 1);
    }
    return s;
}

TEST(schedule, times_and_counts) {
    schedule s;
    s.append({0, 4, 100, 10});
    s.append({4, 2, 200, 0});
    EXPECT_EQ(s.end(), 6u);
    EXPECT_EQ(s.time_of(3), 130u);
    EXPECT_EQ(s.time_of(5), 200u);
    EXPECT_EQ(s.time_of(6), never);
    EXPECT_EQ(s.passed(99), 0u);
    EXPECT_EQ(s.passed(100), 1u);
    EXPECT_EQ(s.passed(129), 3u);
    EXPECT_EQ(s.passed(199), 4u);
    EXPECT_EQ(s.passed(200), 6u);
    s.truncate(2);
    EXPECT_EQ(s.end(), 2u);
    EXPECT_EQ(s.passed(1000), 2u);
    s.forget(1);
    EXPECT_EQ(s.passed(50), 1u);
    EXPECT_EQ(s.time_of(1), 110u);
}

TEST(schedule, runs_that_continue_each_other_become_one) {
    schedule s;
    s.append({0, 4, 100, 10});
    s.append({4, 3, 140, 10});
    s.append({7, 1, 170, 99});
    EXPECT_EQ(s.runs().size(), 1u);
    EXPECT_EQ(s.runs()[0], (run{0, 8, 100, 10}));
}

// Each character: when it is available, not before `earliest`, and `spacing` after the one before.
TEST(schedule, following_equals_character_by_character) {
    sim::random_stream random(1, "schedule_test");
    for (int round = 0; round < 3000; ++round) {
        const schedule in = random_stream_of(random, 60, 12);
        const picoseconds spacing = random.below(13);
        const picoseconds earliest = random.below(200);
        schedule out;
        for (const run& r : in.runs()) out.follow(r, earliest, spacing);
        std::vector<picoseconds> expected;
        for (const picoseconds available : expand(in)) {
            picoseconds t = std::max(available, earliest);
            if (!expected.empty()) t = std::max(t, expected.back() + spacing);
            expected.push_back(t);
        }
        ASSERT_EQ(expand(out), expected) << round;
        ASSERT_LE(out.runs().size(), 2 * in.runs().size());
    }
}

TEST(schedule, counting_equals_character_by_character) {
    sim::random_stream random(2, "schedule_test");
    for (int round = 0; round < 2000; ++round) {
        schedule s = random_stream_of(random, 30, 12);
        const auto times = expand(s);
        for (picoseconds t = 0; t < 300; t += 1 + random.below(9))
            ASSERT_EQ(s.passed(t),
                      static_cast<std::uint64_t>(std::ranges::upper_bound(times, t) - times.begin()));
    }
}

// How full a buffer is after each arrival, and after each departure, counted.
TEST(schedule, thresholds_equal_counting) {
    sim::random_stream random(3, "schedule_test");
    unsigned found_above = 0;
    unsigned found_below = 0;
    for (int round = 0; round < 5000; ++round) {
        const schedule in = random_stream_of(random, 40, 12);
        schedule out;
        const picoseconds pause = random.below(100);
        const picoseconds spacing = random.below(20);
        for (const run& r : in.runs()) out.follow(r, pause, spacing);
        out.truncate(in.end() - random.below(in.end()));
        const std::uint64_t level = 1 + random.below(12);
        const std::uint64_t from = random.below(in.end());

        const auto came = expand(in);
        const auto went = expand(out);
        const auto count = [](const std::vector<picoseconds>& v, picoseconds t) {
            return static_cast<std::uint64_t>(std::ranges::upper_bound(v, t) - v.begin());
        };
        // Of several characters of one instant the occupancy is the same; the first one that makes it so is
        // the one of that number that the others do not need.
        std::uint64_t above = from;
        while (above < came.size() && above + 1 - std::min(above + 1, count(went, came[above])) <= level)
            ++above;
        ASSERT_EQ(first_above(in, out, level, from), above) << round;
        std::uint64_t below = from;
        while (below < went.size() && count(came, went[below]) - (below + 1) >= level) ++below;
        ASSERT_EQ(first_below(in, out, level, from), below < went.size() ? below : out.end()) << round;
        found_above += above < came.size();
        found_below += below < went.size();
    }
    EXPECT_GT(found_above, 500u);
    EXPECT_GT(found_below, 500u);
}

}  // namespace
}  // namespace vinic::link
