// SPDX-License-Identifier: Apache-2.0
// Watching is free of consequences (DESIGN.md, rule 5): with everything on, results and fingerprints of every
// shipped workload are the same bytes; and what is seen is the same in every mode.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <numeric>
#include <sstream>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

const std::string everything =
    "--wave w.vcd --log l.txt --log-scope 'node*' --pcap p.pcapng --account --account-message 2 --svg m.svg "
    "--profile p.txt --itrace i.txt --itrace-function '*poll*' --stats s.csv --stats-every 100us";

struct shipped {
    const char* name;
    const char* options;
    const char* arguments;
};

class watching : public testing::TestWithParam<shipped> {};

json result_of(const program& in, const shipped& what, const std::string& options) {
    const auto outcome = in.run(fmt::format("run {} {} --json --reproducible --fingerprint {} -- {}",
                                            what.name, what.options, options, what.arguments));
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return json::parse(outcome.output);
}

TEST_P(watching, changes_no_byte_of_the_results) {
    const program plain, watched;
    const json before = result_of(plain, GetParam(), "");
    json after = result_of(watched, GetParam(), everything);
    for (const char* seen : {"account", "message"}) {
        EXPECT_TRUE(after.contains(seen)) << seen;
        after.erase(seen);
    }
    EXPECT_EQ(before.dump(2), after.dump(2));
    for (const char* trace :
         {"w.vcd", "l.txt", "p.pcapng", "m.svg", "p.txt", "p.txt.folded", "i.txt", "s.csv"})
        EXPECT_FALSE(watched.read(trace).empty()) << trace;
}

TEST_P(watching, sees_the_same_in_lockstep) {
    const program ahead, step;
    const std::string options =
        "--account --account-message 2 --profile p.txt --stats s.json --stats-every 300us";
    const json a = result_of(ahead, GetParam(), options);
    const json b = result_of(step, GetParam(), "--lockstep " + options);
    EXPECT_EQ(a.dump(2), b.dump(2));
    for (const char* trace : {"p.txt", "p.txt.folded", "s.json"})
        EXPECT_EQ(ahead.read(trace), step.read(trace)) << trace;
}

INSTANTIATE_TEST_SUITE_P(run, watching,
                         testing::Values(shipped{"pingpong", "", "sizes=0,8,6000 count=3 warmup=1"},
                                         shipped{"stream", "", "sizes=8,6000 count=5 warmup=1"},
                                         shipped{"rate", "", "sizes=8 count=20 warmup=1"},
                                         shipped{"bidirectional", "", "sizes=8,6000 count=3 warmup=1"},
                                         shipped{"all_to_all", "--nodes 3", "sizes=8 rounds=2 warmup=1"},
                                         shipped{"echo", "", "size=8 count=3 warmup=1"}),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(account_of_a_run, adds_up_and_agrees_with_what_the_workload_measured) {
    const program vinic;
    const auto outcome = vinic.run("run pingpong --json --account -- sizes=8,6000 count=20 warmup=3");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const json result = json::parse(outcome.output);
    ASSERT_EQ(result["account"].size(), 2u);
    for (std::size_t n = 0; n < 2; ++n) {
        const json& of = result["account"][n];
        EXPECT_EQ(of["count_messages"], 40);
        std::uint64_t last = 0;
        double mean = 0;
        for (const json& s : of["stages"]) {
            if (s["stage"] == "latency") continue;
            last += s["last_ps"].get<std::uint64_t>();
            mean += s["mean_ps"].get<double>();
        }
        const json& latency = of["stages"].back();
        EXPECT_EQ(last, latency["last_ps"].get<std::uint64_t>());
        EXPECT_NEAR(mean, latency["mean_ps"].get<double>(), 0.001);
        // Half of a round trip is the mean of its two messages: between them the programs take no time.
        EXPECT_NEAR(mean / 1e6, result["results"][n]["latency_us"].get<double>(), 0.0005);
    }
}

TEST(profile_of_a_run, counts_each_cycle_once) {
    const program vinic;
    const auto outcome =
        vinic.run("run pingpong --profile --json --reproducible -- sizes=8 count=3 warmup=1");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const json result = json::parse(outcome.output);
    ASSERT_EQ(vinic.run("run pingpong --profile p.txt -- sizes=8 count=3 warmup=1").status, 0);
    std::uint64_t by_function = 0, by_line = 0, by_stack = 0, instructions = 0;
    for (const json& f : result["profile"]["functions"]) {
        by_function += f["cycles"].get<std::uint64_t>();
        instructions += f["instructions"].get<std::uint64_t>();
        EXPECT_EQ(f["cycles"].get<std::uint64_t>(),
                  f["executing_cycles"].get<std::uint64_t>() + f["load_use_cycles"].get<std::uint64_t>() +
                      f["slot_cycles"].get<std::uint64_t>() + f["register_cycles"].get<std::uint64_t>() +
                      f["idle_cycles"].get<std::uint64_t>());
    }
    for (const json& l : result["profile"]["lines"]) by_line += l["cycles"].get<std::uint64_t>();
    std::istringstream folded(vinic.read("p.txt.folded"));
    for (std::string line; std::getline(folded, line);) by_stack += std::stoull(line.substr(line.rfind(' ')));
    EXPECT_EQ(by_function, by_line);
    EXPECT_EQ(by_function, by_stack);
    EXPECT_EQ(instructions, result["cost"]["instructions"].get<std::uint64_t>());
}

}  // namespace
}  // namespace vinic::testbench
