// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "hw/sim/error.h"
#include "hw/sim/module.h"
#include "hw/sim/simulation.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"
#include "testbench/cli/options.h"
#include "testbench/report/comparison.h"
#include "testbench/report/results.h"
#include "testbench/report/sha256.h"
#include "testbench/report/statistics.h"
#include "testbench/report/table.h"

namespace vinic::testbench {
namespace {

// FIPS 180-4, the examples of its appendix.
TEST(sha256, examples_of_the_standard) {
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(table, a_key_carries_its_unit) {
    EXPECT_EQ(heading("latency_us"), "latency (us)");
    EXPECT_EQ(heading("size_bytes"), "size (bytes)");
    EXPECT_EQ(heading("bandwidth_mbytes_per_s"), "bandwidth (MB/s)");
    EXPECT_EQ(heading("rate_messages_per_s"), "rate (messages/s)");
    EXPECT_EQ(heading("nodes"), "nodes");
}

TEST(table, numbers_to_the_right_texts_to_the_left) {
    EXPECT_EQ(
        table_of_rows(json::parse(R"([{"what":"a","size_bytes":8},{"what":"long","size_bytes":4096}])")),
        "what  size (bytes)\n"
        "a                8\n"
        "long          4096\n");
}

TEST(table, a_row_may_lack_a_column) {
    EXPECT_EQ(table_of_rows(json::parse(R"([{"a":1},{"b":2.5}])")), "a      b\n1\n   2.500\n");
}

json result_with(const std::string& rows) {
    return json::parse(R"({"format":"vinic result 1","design":"d","results":)" + rows + "}");
}

TEST(comparison, rows_belong_together_by_what_was_chosen) {
    const comparison c(
        result_with(R"([{"size_bytes":0,"latency_us":8.0},{"size_bytes":8,"latency_us":10.0}])"),
        result_with(R"([{"size_bytes":8,"latency_us":12.5},{"size_bytes":0,"latency_us":8.0}])"));
    ASSERT_EQ(c.lines().size(), 2u);
    EXPECT_EQ(c.lines()[1].row, "size_bytes=8");
    EXPECT_EQ(c.lines()[0].ratio, 1.0);
    EXPECT_EQ(c.lines()[1].ratio, 1.25);  // 12.5 / 10
    EXPECT_TRUE(c.beyond(24.9));
    EXPECT_FALSE(c.beyond(25.1));
}

TEST(comparison, equal_results_are_within_no_tolerance_at_all) {
    const json one = result_with(R"([{"size_bytes":8,"latency_us":8.46}])");
    EXPECT_FALSE(comparison(one, one).beyond(0));
}

TEST(comparison, a_row_that_one_side_lacks_is_beyond_every_tolerance) {
    const json more =
        result_with(R"([{"size_bytes":8,"latency_us":8.46},{"size_bytes":16,"latency_us":8.5}])");
    const json fewer = result_with(R"([{"size_bytes":8,"latency_us":8.46}])");
    EXPECT_TRUE(comparison(more, fewer).beyond(1000));
    EXPECT_TRUE(comparison(fewer, more).beyond(1000));
}

TEST(comparison, parameters_that_differ_are_shown) {
    json a = result_with("[]");
    json b = a;
    b["parameters"] = {{"bus.width_bits", "32"}};
    EXPECT_NE(comparison(a, b).to_text(false).find("bus.width_bits: (design's) -> 32\n"), std::string::npos);
}

TEST(results, order_is_time_then_process_then_report) {
    results r;
    r.add_row(20, 0, {{"n", 3}});
    r.add_row(10, 1, {{"n", 2}});
    r.add_row(10, 0, {{"n", 0}});
    r.add_row(10, 0, {{"n", 1}});
    EXPECT_EQ(r.rows(), json::parse(R"([{"n":0},{"n":1},{"n":2},{"n":3}])"));
}

TEST(statistics, of_a_distribution_have_units_and_an_exact_mean) {
    sim::simulation simulation;
    struct block : sim::module {
        explicit block(const sc_core::sc_module_name& name) : module(name) {}
        sim::histogram<sim::unit::clocks> wait{*this, "wait", "waits"};
    } a("a");
    statistics_series series(simulation);
    for (const std::uint64_t clocks : {1u, 2u, 2u}) a.wait.add(clocks);
    series.add(100);
    a.wait.add(5);
    series.add(200);
    json changes = json::array();
    for (const json& one : series.rows())
        if (one["statistic"] == "a.wait.mean") changes.push_back(one["change"]);
    EXPECT_EQ(changes, json::parse("[1.667, 0.833]"));
}

TEST(statistics, of_what_was_measured_stand_beside_those_of_the_run) {
    sim::simulation simulation;
    struct block : sim::module {
        explicit block(const sc_core::sc_module_name& name) : module(name) {}
        sim::histogram<sim::unit::clocks> wait{*this, "wait", "waits"};
        sim::rate<sim::unit::bytes> rate{*this, "rate", "bytes"};
    } a("a");
    statistics_by_phase counted(simulation);
    const auto happens = [&](std::initializer_list<std::uint64_t> waits, std::uint64_t bytes) {
        for (const std::uint64_t clocks : waits) a.wait.add(clocks);
        a.rate.add(bytes);
    };
    happens({9, 9}, 1000);
    counted.end(run_phase::set_up, 1000);
    happens({1, 2}, 10);
    counted.end(run_phase::measured, 1040);
    happens({7}, 0);
    counted.end(run_phase::talk, 2000);
    happens({2}, 20);
    counted.end(run_phase::measured, 2020);
    const json rows = counted.rows(run_phase::measured);
    const auto row = [](const char* name, const json& value, const json& whole, const char* unit) {
        return json{{"statistic", name}, {"value", value}, {"whole_run", whole}, {"unit", unit}};
    };
    EXPECT_EQ(rows[0],
              row("a.rate", 500'000'000'000, 509'900'990'099, "bytes/s"));  // 30 in 60 ps, 1030 in 2020
    EXPECT_EQ(rows[1], row("a.wait.count", 3, 6, "samples"));
    EXPECT_EQ(rows[2], row("a.wait.mean", 1.667, 5, "clocks"));  // 1, 2, 2; and 7, 9, 9
    EXPECT_EQ(rows[3], row("a.wait.min", 1, 1, "clocks"));
    EXPECT_EQ(rows[6], row("a.wait.max", 2, 9, "clocks"));
}

TEST(options, times_have_units) {
    EXPECT_EQ(parse_time("10us", "--until"), 10'000'000u);
    EXPECT_EQ(parse_time("2.5 ms", "--until"), 2'500'000'000u);
    EXPECT_EQ(parse_time("1s", "--until"), 1'000'000'000'000u);
    for (const char* wrong : {"10", "us", "-1us", "0ps", "1 h", "", "1e30s", "10us!"})
        EXPECT_THROW(parse_time(wrong, "--until"), sim::input_error) << wrong;
}

}  // namespace
}  // namespace vinic::testbench
