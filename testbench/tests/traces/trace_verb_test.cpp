// SPDX-License-Identifier: Apache-2.0
// Traces of whole runs: well formed, the same however the simulator goes about it, and compared by `vinic`.
#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

const std::string compared = " --pcap p.pcapng --timeline t.json ";
const std::string all_traces = compared + "--wave w.vcd --log l.log ";

class traces_of_a_run : public testing::TestWithParam<const char*> {};

TEST_P(traces_of_a_run, are_well_formed_and_equal_in_lock_step_and_shuffled) {
    const program plain, lockstep, shuffled;
    const std::string workload = GetParam();
    const auto run = [&](const program& in, const std::string& how) {
        const auto outcome = in.run("run " + workload + how);
        EXPECT_EQ(outcome.status, 0) << outcome.errors;
    };
    const std::string size = workload == "all_to_all" ? "--nodes 3 -- sizes=8,9000 rounds=2 warmup=0"
                                                      : "-- sizes=8,9000 count=3 warmup=0";
    run(plain, all_traces + size);
    run(lockstep, compared + "--lockstep " + size);
    run(shuffled, compared + "--shuffle 5 " + size);
    const auto checked = plain.run("trace p.pcapng t.json w.vcd l.log --json");
    EXPECT_EQ(checked.status, 0) << checked.output;
    const json found = json::parse(checked.output)["traces"];
    ASSERT_EQ(found.size(), 4u);
    EXPECT_GE(found[1]["holds"]["messages"], 6);
    EXPECT_GE(found[0]["holds"]["packets"], 6);
    for (const char* file : {"p.pcapng", "t.json"}) {
        EXPECT_TRUE(plain.read(file) == lockstep.read(file)) << file;
        EXPECT_TRUE(plain.read(file) == shuffled.read(file)) << file;
    }
}

INSTANTIATE_TEST_SUITE_P(workloads, traces_of_a_run, testing::Values("pingpong", "stream", "all_to_all"));

// Through doorbell, descriptor fetch, payload, send, two cables, receive, data and completion: a message of 8
// bytes passes each once.
TEST(timeline, a_message_is_one_arrow_from_post_to_done) {
    const program vinic;
    const auto outcome = vinic.run("run pingpong --timeline t.json -- sizes=8 count=2 warmup=0");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    std::map<std::pair<int, int>, std::string> rows;
    std::vector<std::string> passed;
    for (const json& event : json::parse(vinic.read("t.json"))) {
        if (event["name"] == "thread_name" && event["ph"] == "M")
            rows[{event["pid"], event["tid"]}] = event["args"]["name"];
        if (event.contains("id") && event["id"] == 1)
            passed.push_back(event["ph"].get<std::string>() + " " + std::to_string(event["pid"].get<int>()) +
                             " " + rows[{event["pid"], event["tid"]}]);
    }
    ASSERT_GE(passed.size(), 8u);
    EXPECT_EQ(passed.front(), "s 1 process 1: VIPL");
    EXPECT_EQ(passed.back(), "f 2 process 1: VIPL");
    std::size_t next = 0;
    for (const char* row : {"t 1 doorbells and writes", "t 1 DMA", "t 1 send", "t 1 wire to switch0 port 0",
                            "t 2 wire from switch0 port 1", "t 2 receive", "t 2 DMA"}) {
        while (next < passed.size() && !passed[next].starts_with(row)) ++next;
        EXPECT_LT(next, passed.size()) << row << ": " << json(passed).dump();
    }
}

TEST(timeline, a_limit_is_kept_and_said) {
    const program vinic;
    const auto outcome =
        vinic.run("run stream --timeline t.json --timeline-limit 1 -- sizes=4096 count=400 warmup=0");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.errors.find("the timeline is full and ends at "), std::string::npos) << outcome.errors;
    EXPECT_LT(vinic.read("t.json").size(), 1'010'000u);
    EXPECT_EQ(vinic.run("trace t.json").status, 0);
}

TEST(traces, of_a_run_that_is_interrupted_are_whole) {
    const program vinic;
    vinic.write("w.lua", "process(0, function() while true do sleep(1000000) end end)\n");
    const auto outcome = vinic.run("run w.lua" + all_traces, "timeout --preserve-status -s INT 2");
    EXPECT_EQ(outcome.status, 130) << outcome.errors;
    const auto checked = vinic.run("trace p.pcapng t.json w.vcd l.log");
    EXPECT_EQ(checked.status, 0) << checked.output;
    EXPECT_EQ(checked.output.find("broke off"), std::string::npos) << checked.output;
}

TEST(trace, faults_are_status_1_and_other_files_bad_input) {
    const program vinic;
    vinic.write("l.log", "10 a x\n5 a y\n");
    const auto bad = vinic.run("trace l.log");
    EXPECT_EQ(bad.status, 1);
    EXPECT_NE(bad.output.find("l.log: log, NOT well formed\n"), std::string::npos) << bad.output;
    EXPECT_NE(bad.output.find("fault: line 2: 5 ps after 10 ps\n"), std::string::npos) << bad.output;
    vinic.write("x", "hello\n");
    EXPECT_EQ(vinic.run("trace x").status, 2);
    EXPECT_EQ(vinic.run("trace missing").status, 2);
}

TEST(compare, two_traces_by_their_content) {
    const program vinic;
    vinic.write("a", "10 a x\n20 a y\n");
    vinic.write("b", "10 a x\n25 a y\n");
    vinic.write("result.json", "{}");
    const auto differs = vinic.run("compare a b");
    EXPECT_EQ(differs.status, 1);
    EXPECT_EQ(differs.output, "first difference: line 2\na at 20 ps:\n  20 a y\nb at 25 ps:\n  25 a y\n");
    const json as_json = json::parse(vinic.run("compare a b --json").output);
    EXPECT_EQ(as_json["line"], 2);
    EXPECT_EQ(as_json["after"]["event"], "25 a y");
    const auto same = vinic.run("compare a a");
    EXPECT_EQ(same.status, 0);
    EXPECT_EQ(same.output, "the same log\n");
    EXPECT_EQ(vinic.run("compare a result.json").status, 2);
}

TEST(compare, two_captures_packet_by_packet) {
    const program vinic;
    const auto run = [&](const std::string& file, const std::string& more) {
        EXPECT_EQ(vinic.run("run pingpong --pcap " + file + more + " -- sizes=8 count=2 warmup=0").status, 0);
    };
    run("a", "");
    run("b", "");
    run("slower", " --set nic.lanai.clock_mhz=66");
    EXPECT_EQ(vinic.run("compare a b").status, 0);
    const auto differs = vinic.run("compare a slower");
    EXPECT_EQ(differs.status, 1);
    EXPECT_TRUE(differs.output.starts_with("first difference: packet 1\na at ")) << differs.output;
}

}  // namespace
}  // namespace vinic::testbench
