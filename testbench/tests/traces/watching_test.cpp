// SPDX-License-Identifier: Apache-2.0
// Watching is free of consequences (DESIGN.md, rule 5): with everything on, results and fingerprints of every
// shipped workload are the same bytes; and what is seen is the same in every mode.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <numeric>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"
#include "testbench/tests/testbench/run_result.h"

namespace vinic::testbench {
namespace {

const std::string everything =
    "--wave w.vcd --log l.txt --log-scope 'node*' --pcap p.pcapng --timeline t.json --account --profile "
    "p.txt "
    "--itrace i.txt --itrace-function '*poll*' --stats s.csv --stats-every 100us";
const std::string of_a_message = " --account-message 2 --svg m.svg";

struct shipped {
    const char* name;
    const char* options;
    const char* arguments;
    bool messages = true;  ///< two at least
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
    const bool messages = GetParam().messages;
    json after = result_of(watched, GetParam(), everything + (messages ? of_a_message : ""));
    EXPECT_EQ(after.erase("account"), 1u);
    EXPECT_EQ(after.erase("message"), messages ? 1u : 0u);
    EXPECT_EQ(before.dump(2), after.dump(2));
    for (const char* trace :
         {"w.vcd", "l.txt", "p.pcapng", "t.json", "p.txt", "p.txt.folded", "i.txt", "s.csv"})
        EXPECT_FALSE(watched.read(trace).empty()) << trace;
    EXPECT_EQ(watched.has("m.svg"), messages);
}

class watching_closely : public watching {};

TEST_P(watching_closely, sees_the_same_in_lockstep) {
    const program ahead, step;
    const std::string options =
        "--account --account-message 2 --profile p.txt --stats s.json --stats-every 300us";
    const json a = result_of(ahead, GetParam(), options);
    const json b = result_of(step, GetParam(), "--lockstep " + options);
    EXPECT_EQ(a.dump(2), b.dump(2));
    for (const char* trace : {"p.txt", "p.txt.folded", "s.json"})
        EXPECT_EQ(ahead.read(trace), step.read(trace)) << trace;
}

const std::vector<shipped> closely{{"pingpong", "", "sizes=0,8,6000 count=3 warmup=1"},
                                   {"stream", "", "sizes=8,6000 count=5 warmup=1"},
                                   {"rate", "", "sizes=8 count=20 warmup=1"},
                                   {"bidirectional", "", "sizes=8,6000 count=3 warmup=1"},
                                   {"all_to_all", "--nodes 3", "sizes=8 rounds=2 warmup=1"},
                                   {"echo", "", "size=8 count=3 warmup=1"}};
const std::vector<shipped> besides{{"active_vis", "", "vis=1,3 count=2 warmup=1"},
                                   {"buffer_reuse", "", "reuse=50 buffers=4 count=3 warmup=1"},
                                   {"bus", "", "blocks=4", false},
                                   {"completion", "", "way=wait sizes=8 segments=2 count=2 warmup=1"},
                                   {"overhead", "", "sizes=8 count=2"},
                                   {"overlap", "", "sizes=64 count=2 warmup=1"},
                                   {"setup_costs", "", "count=1 sizes=4096", false},
                                   {"transactions", "--nodes 3", "replies=8 count=2 warmup=1"},
                                   {"transfer", "", "sizes=64 count=2 warmup=1"}};

const auto name_of = [](const auto& of) { return std::string(of.param.name); };
INSTANTIATE_TEST_SUITE_P(run, watching, testing::ValuesIn(closely), name_of);
INSTANTIATE_TEST_SUITE_P(more, watching, testing::ValuesIn(besides), name_of);
INSTANTIATE_TEST_SUITE_P(run, watching_closely, testing::ValuesIn(closely), name_of);

TEST(watching_all, is_tried_with_every_workload_that_ships) {
    std::set<std::string> names{"bus", "echo"};
    for (const auto& file : std::filesystem::directory_iterator(VINIC_SOURCE_DIR "/testbench/workloads"))
        if (file.path().extension() == ".lua") names.insert(file.path().stem());
    std::set<std::string> tried;
    for (const auto* some : {&closely, &besides})
        for (const shipped& one : *some) tried.insert(one.name);
    EXPECT_EQ(tried, names);
}

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
        vinic.run("run pingpong --profile --stats --json --reproducible -- sizes=8,64 count=3 warmup=1");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const json result = json::parse(outcome.output);
    ASSERT_EQ(vinic.run("run pingpong --profile p.txt -- sizes=8,64 count=3 warmup=1").status, 0);
    const json& profile = result["profile"];
    std::uint64_t by_function = 0, by_line = 0, by_stack = 0, instructions = 0, unmeasured = 0;
    for (const json& f : profile["functions"]) {
        by_function += f["cycles"].get<std::uint64_t>();
        instructions += f["instructions"].get<std::uint64_t>();
        unmeasured += f["unmeasured_cycles"].get<std::uint64_t>();
        EXPECT_EQ(f["cycles"].get<std::uint64_t>(),
                  f["executing_cycles"].get<std::uint64_t>() + f["load_use_cycles"].get<std::uint64_t>() +
                      f["slot_cycles"].get<std::uint64_t>() + f["register_cycles"].get<std::uint64_t>() +
                      f["idle_cycles"].get<std::uint64_t>());
    }
    for (const json& l : profile["lines"]) by_line += l["cycles"].get<std::uint64_t>();
    std::istringstream folded(vinic.read("p.txt.folded"));
    for (std::string line; std::getline(folded, line);) by_stack += std::stoull(line.substr(line.rfind(' ')));
    EXPECT_EQ(by_function, by_line);
    EXPECT_EQ(by_function, by_stack);
    EXPECT_EQ(by_function, profile["measured_cycles"].get<std::uint64_t>());
    EXPECT_EQ(unmeasured, profile["unmeasured_cycles"].get<std::uint64_t>());
    const auto counted = [&](const std::string& what, const char* of) {
        return sum_of(result, "nic.lanai." + what, of);
    };
    EXPECT_EQ(static_cast<double>(instructions), counted("retired", "value"));
    // A core issues or waits in each of its cycles.
    EXPECT_EQ(static_cast<double>(by_function + unmeasured),
              counted("retired", "whole_run") + counted("load_use_wait", "whole_run") +
                  counted("slot_wait", "whole_run") + counted("register_wait", "whole_run"));
}

TEST(what_was_measured, is_what_the_workload_says_and_else_begins_with_the_first_descriptor) {
    const program vinic;
    const auto time_of = [&](const std::string& script, const char* which) {
        vinic.write("own.lua", script);
        const auto outcome = vinic.run("run own.lua --json --reproducible --stats");
        EXPECT_EQ(outcome.status, 0) << outcome.errors;
        return sum_of(json::parse(outcome.output), "workload.simulated_time", which);
    };
    // Of clocks of 1 ns, 3000 and 4000 lie between measure() and measured().
    EXPECT_EQ(time_of("process(0, function() compute(2000) measure() compute(3000) measured() compute(5000) "
                      "measure() compute(4000) measured() end)",
                      "value"),
              7e6);
    const std::string silent = "process(0, function() sleep(2000000) end)";
    EXPECT_EQ(time_of(silent, "value"), time_of(silent, "whole_run"));
    const std::string talks =
        "process(0, function() local e = open_endpoint { bytes = 8, sends = 1, receives = 1 }\n"
        "  e:call(1, 'port') e:prepare(1, 8) e:send(1) e:sent() end)\n"
        "process(1, function() local e = open_endpoint { bytes = 8, sends = 1, receives = 1 }\n"
        "  e:listen('port') e:receive() end)";
    vinic.write("talks.lua", talks);
    const json result = json::parse(vinic.run("run talks.lua --json --reproducible --stats").output);
    const auto both = [&](const char* name) {
        return std::pair(sum_of(result, name, "value"), sum_of(result, name, "whole_run"));
    };
    EXPECT_EQ(both("vipl.messages"), std::pair(1.0, 1.0));
    EXPECT_EQ(both("agent.registrations").first, 0);  // before that, and so is the boot
    EXPECT_GT(both("agent.registrations").second, 0);
    EXPECT_LT(both("simulated_time").first, 1e9);
    EXPECT_GT(both("simulated_time").second, 1e10);
}

}  // namespace
}  // namespace vinic::testbench
