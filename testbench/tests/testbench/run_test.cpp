// SPDX-License-Identifier: Apache-2.0
// Whole runs: the same input gives the same bytes, however the simulator goes about it; and what they say is
// right.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

/// What every way to run it must say.
const std::string few = "--reproducible --json - --stats --fingerprint -- sizes=0,8,4096 count=3 warmup=1";

struct way {
    const char* name;
    const char* options;
};

class same_bytes : public testing::TestWithParam<std::tuple<const char*, way>> {};

TEST_P(same_bytes, as_the_plain_run) {
    const auto& [workload, how] = GetParam();
    const program vinic;
    const program elsewhere;
    const std::string arguments = std::string("run ") + workload + " ";
    const std::string few_of =
        std::string(workload) == "all_to_all"
            ? "--nodes 3 --reproducible --json - --stats --fingerprint -- sizes=0,8,4096 rounds=2 warmup=1"
            : few;
    const auto plain = vinic.run(arguments + few_of);
    ASSERT_EQ(plain.status, 0) << plain.errors;
    const auto other = elsewhere.run(arguments + how.options + " " + few_of);
    ASSERT_EQ(other.status, 0) << other.errors;
    EXPECT_EQ(plain.output, other.output);
    EXPECT_GE(json::parse(plain.output)["results"].size(), 3u);
}

INSTANTIATE_TEST_SUITE_P(
    run, same_bytes,
    testing::Combine(
        testing::Values("pingpong", "stream", "rate", "bidirectional", "all_to_all"),
        testing::Values(way{"again", ""}, way{"lockstep", "--lockstep"},
                        way{"traced",
                            "--wave w.vcd --log l.txt --profile p.txt --pcap p.pcapng --timeline t.json"},
                        way{"windowed",
                            "--wave w.vcd --wave-scope '*' --wave-scope '*.lanai.*' --gtkw w.gtkw "
                            "--wave-from doorbell:2 --wave-to doorbell:5"},
                        way{"shuffled", "--shuffle 1"}, way{"shuffled_otherwise", "--shuffle 77"})),
    [](const auto& of) { return std::string(std::get<0>(of.param)) + "_" + std::get<1>(of.param).name; });

TEST(run, table_has_units_and_a_row_for_each_size) {
    const auto outcome = program().run("run pingpong --reproducible -- sizes=0,8 count=2 warmup=1");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_NE(outcome.output.find("size (bytes)  latency (us)  min (us)  median (us)  p99 (us)  max (us)\n"),
              std::string::npos)
        << outcome.output;
    EXPECT_NE(outcome.output.find("cost: "), std::string::npos) << outcome.output;
    EXPECT_EQ(outcome.errors, "");
}

TEST(run, json_says_where_it_came_from) {
    const auto outcome =
        program().run("run pingpong --json --seed 3 --set nic.lanai.clock_mhz=120 -- sizes=8 count=1");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const json result = json::parse(outcome.output);
    EXPECT_EQ(result["format"], "vinic result 1");
    EXPECT_EQ(result["design"], "myvia");
    EXPECT_EQ(result["parameters"], json({{"nic.lanai.clock_mhz", "120"}}));
    EXPECT_EQ(result["provenance"]["seed"], 3);
    EXPECT_NE(result["provenance"]["command"].get<std::string>().find("vinic run pingpong --json"),
              std::string::npos);
    EXPECT_EQ(result["arguments"]["count"], "1");
    EXPECT_EQ(result["results"][0]["size_bytes"], 8);
    for (const char* key : {"messages", "instructions", "simulated_s", "events", "instructions_executed",
                            "startup_s", "wall_s", "cpu_s", "peak_memory_bytes"})
        EXPECT_GT(result["cost"].value(key, 0.0), 0.0) << key;
}

TEST(run, reproducible_leaves_out_what_may_differ) {
    const auto outcome = program().run("run pingpong --json --reproducible -- sizes=8 count=1");
    const json result = json::parse(outcome.output);
    EXPECT_EQ(result["cost"].size(), 3u);
    EXPECT_FALSE(result["provenance"].contains("command"));
    EXPECT_FALSE(result["provenance"].contains("date"));
}

TEST(run, payload_arrives_whole) {
    for (const char* workload : {"pingpong", "stream"}) {
        const auto outcome = program().run(std::string("run ") + workload +
                                           " -- verify=true sizes=1,4095,65536 count=3 warmup=1");
        EXPECT_EQ(outcome.status, 0) << outcome.errors;
    }
}

// The same conversation in C++ and in Lua: neither language costs simulated time.
TEST(run, a_workload_in_cpp_measures_what_the_script_does) {
    const program vinic;
    const json cpp = json::parse(vinic.run("run echo --json -- size=8 count=20").output);
    const json lua = json::parse(vinic.run("run pingpong --json -- sizes=8 count=20").output);
    const double a = cpp["results"][0]["latency_us"];
    const double b = lua["results"][0]["latency_us"];
    EXPECT_NEAR(a, b, 0.02 * b);
}

TEST(run, a_failed_check_is_status_1) {
    const program vinic;
    vinic.write("w.lua", "process(0, function() compute(10); check(1 == 2, 'sums'); row('n', 1) end)\n");
    const auto outcome = vinic.run("run w.lua --json out.json");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.errors, "vinic: check failed: sums\n");
    EXPECT_EQ(json::parse(vinic.read("out.json"))["failed_checks"], json({"sums"}));
}

TEST(run, a_time_limit_says_so) {
    const auto outcome = program().run("run pingpong --until 1ms -- sizes=8,16");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_NE(outcome.output.find("stopped by --until at 1000000000 ps, with 0 of 2 rows\n"),
              std::string::npos)
        << outcome.output;
    EXPECT_EQ(json::parse(program().run("run pingpong --until 1ms --json").output)["stopped_at_ps"],
              1000000000);
}

TEST(run, mistakes_of_scripts_are_not_silent) {
    const program vinic;
    const auto error_of = [&](const std::string& body) {
        vinic.write("w.lua", "process(0, function()\n" + body + "\nend)\n");
        const auto outcome = vinic.run("run w.lua");
        EXPECT_EQ(outcome.status, 2) << body;
        return outcome.errors;
    };
    EXPECT_NE(error_of("row('share', 0 / 0)").find("row: share is -nan, no result"), std::string::npos);
    EXPECT_NE(error_of("row('share', 1 / 0)").find("row: share is inf, no result"), std::string::npos);
    EXPECT_NE(error_of("barrier(2)").find("w.lua:2: barrier: only outside of processes"), std::string::npos);
    EXPECT_NE(error_of("open_endpoint { bytes = 8, sends = 1, receives = 1, relibility = 'delivery' }")
                  .find("w.lua:2: open_endpoint: there is no option 'relibility'"),
              std::string::npos);
    EXPECT_NE(
        error_of("open_endpoint { bytes = 8, sends = 1 }").find("w.lua:2: open_endpoint: expected receives"),
        std::string::npos);
}

TEST(run, a_call_that_nobody_takes_is_given_up) {
    const program vinic;
    vinic.write("w.lua",
                "process(0, function()\n"
                "  local e = open_endpoint { bytes = 8, sends = 1, receives = 1 }\n"
                "  e:call(1, 'nobody', 2)\n"
                "end)\n");
    const auto outcome = vinic.run("run w.lua", "timeout 60");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.errors.find("w.lua:3: nobody listens to port 'nobody' of node 1"), std::string::npos)
        << outcome.errors;
}

/// What a run that hangs says, which is the same in every mode.
std::string complaint_of_hanging(const std::string& script, const std::string& options = "") {
    std::string first, first_log;
    for (const char* mode : {"", "--lockstep", "--shuffle 3", "--lockstep --shuffle 5", "--itrace i.txt"}) {
        const program vinic;
        vinic.write("w.lua", script);
        const auto outcome =
            vinic.run("run w.lua --json out.json --log l.txt " + options + " " + mode, "timeout 120");
        EXPECT_EQ(outcome.status, 3) << mode << outcome.errors;
        EXPECT_FALSE(vinic.has("out.json")) << mode;
        if (*mode == 0) {
            first = outcome.errors;
            first_log = vinic.read("l.txt");
        }
        EXPECT_EQ(outcome.errors, first) << mode;
        EXPECT_TRUE(vinic.read("l.txt") == first_log) << mode;
    }
    return first;
}

TEST(deadlock, says_who_waits_for_what) {
    const std::string said =
        complaint_of_hanging("local b = barrier(2)\nprocess(0, function() b() end, 'lonely')\n");
    EXPECT_NE(said.find("deadlock at "), std::string::npos) << said;
    EXPECT_NE(said.find("all processes wait and no event is left"), std::string::npos) << said;
    EXPECT_NE(said.find("lonely: waits for barrier of the workload"), std::string::npos) << said;
}

TEST(deadlock, includes_who_polls_and_who_waits_in_the_kernel) {
    const std::string said = complaint_of_hanging(
        "process(0, function()\n"
        "  local e = open_endpoint { bytes = 8, sends = 1, receives = 1 }\n"
        "  e:call(1, 'here')\n"
        "  e:receive()\n"
        "end, 'polling')\n"
        "process(1, function()\n"
        "  local e = open_endpoint { bytes = 8, sends = 1, receives = 1 }\n"
        "  e:listen('here')\n"
        "  VipRecvWait(e.vi)\n"
        "end, 'waiting')\n");
    EXPECT_NE(said.find("no event is left"), std::string::npos) << said;
    EXPECT_NE(said.find("polling: polls\n"), std::string::npos) << said;
    EXPECT_NE(said.find("waiting: waits for "), std::string::npos) << said;
}

TEST(deadlock, is_seen_though_timers_tick_for_ever) {
    const std::string said = complaint_of_hanging(
        "process(0, function()\n"
        "  local e = open_endpoint { bytes = 8, sends = 1, receives = 1 }\n"
        "  local _, remote = VipNSGetHostByName(e.nic, 'node1')\n"
        "  remote.discriminator = 'nowhere'\n"
        "  VipConnectRequest(e.vi, e:address('here'), remote)\n"
        "end, 'caller')\n",
        "--set link.drop_rate=1 --set workload.patience_ms=25");  // a card starts within 20
    EXPECT_NE(said.find("none has gone on for workload.patience_ms"), std::string::npos) << said;
    EXPECT_NE(said.find("caller: waits for the answer to a connection request"), std::string::npos) << said;
}

TEST(deadlock, is_not_what_ends_by_itself) {
    for (const auto& [mode, ms] : {std::pair{"--set workload.patience_ms=25", "30"}, {"--lockstep", "3"}}) {
        const program vinic;
        vinic.write("w.lua",
                    fmt::format("local b = barrier(2)\n"
                                "process(0, function() b(); row('n', 1) end)\n"
                                "process(0, function()\n"
                                "  local e = open_endpoint {{ bytes = 8, sends = 1, receives = 1 }}\n"
                                "  sleep({0}000000000)\n"
                                "  check(VipRecvWait(e.vi, {0}) == VIP_TIMEOUT, 'time-out')\n"
                                "  b()\n"
                                "end)\n",
                                ms));
        const auto outcome = vinic.run(std::string("run w.lua ") + mode, "timeout 60");
        EXPECT_EQ(outcome.status, 0) << mode << outcome.errors;
    }
}

// A process starts at the first edge of its clock; 1000 clocks later and from then on 2500 more.
TEST(run, compute_and_now_count_clocks) {
    const program vinic;
    vinic.write("w.lua",
                "process(0, function()\n"
                "  compute(1000)\n"
                "  local t = now()\n"
                "  compute(2500)\n"
                "  row('elapsed_ps', now() - t)\n"
                "end)\n");
    const auto outcome = vinic.run("run w.lua --json --set host.cpu.clock_mhz=500");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(json::parse(outcome.output)["results"][0]["elapsed_ps"], 2500 * 2000);  // 500 MHz: 2000 ps
}

TEST(run, rows_and_lines_come_in_the_order_of_time) {
    const program vinic;
    vinic.write("w.lua",
                "process(0, function() compute(2000); print('second', {}); row('n', 2) end)\n"
                "process(1, function() compute(1000); print('first', {}); row('n', 1) end)\n");
    const json result = json::parse(vinic.run("run w.lua --json").output);
    EXPECT_EQ(result["results"], json::parse(R"([{"n":1},{"n":2}])"));
    EXPECT_EQ(result["lines"], json({"first\ttable: 1", "second\ttable: 2"}));
}

TEST(run, until_stops_there) {
    const auto outcome = program().run("run pingpong --until 20us --json -- count=1000");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(json::parse(outcome.output)["cost"]["simulated_s"], 20e-6);
}

// Longer than any stretch that the runner takes at once.
TEST(run, long_gaps_end_where_they_should) {
    const program vinic;
    vinic.write("w.lua",
                "process(0, function() local t = now() sleep(200000000000) row('t', now() - t) end)\n");
    const auto whole = vinic.run("run w.lua --json --log l.txt", "timeout 60");
    ASSERT_EQ(whole.status, 0) << whole.errors;
    EXPECT_EQ(whole.errors, "");
    EXPECT_GE(json::parse(whole.output)["results"][0]["t"], 200'000'000'000u);
    const auto cut = vinic.run("run w.lua --json --until 150ms", "timeout 60");
    ASSERT_EQ(cut.status, 0) << cut.errors;
    EXPECT_EQ(cut.errors, "");
    EXPECT_EQ(json::parse(cut.output)["cost"]["simulated_s"], 0.15);
}

TEST(run, ctrl_c_ends_a_script_that_only_computes) {
    const program vinic;
    vinic.write("w.lua", "process(0, function() while true do pcall(function() end) end end)\n");
    for (const char* signal : {"INT", "HUP"}) {
        const auto outcome = vinic.run("run w.lua --json out.json",
                                       std::string("timeout --preserve-status -k 5 -s ") + signal + " 2");
        EXPECT_EQ(outcome.status, 130) << outcome.errors;
        EXPECT_TRUE(outcome.errors.starts_with("vinic: interrupted at ")) << outcome.errors;
        EXPECT_FALSE(vinic.has("out.json"));
    }
}

TEST(run, ctrl_c_leaves_no_half_result) {
    const program vinic;
    vinic.write("w.lua", "process(0, function() while true do sleep(1000000) end end)\n");
    const auto outcome =
        vinic.run("run w.lua --json out.json --log l.txt", "timeout --preserve-status -s INT 2");
    EXPECT_EQ(outcome.status, 130) << outcome.errors;
    EXPECT_NE(outcome.errors.find("vinic: interrupted at "), std::string::npos) << outcome.errors;
    EXPECT_FALSE(vinic.has("out.json"));
}

TEST(run, firmware_of_ones_own) {
    const program vinic;
    vinic.write("d.yaml", "base: myvia\nfirmware: ./fw\n");
    vinic.write("fw/main.cpp", "#include \"firmware/myvia/main.cpp\"\n");
    ASSERT_EQ(vinic.run("firmware build fw -o own.elf").status, 0);
    const auto own = vinic.run("run pingpong --set firmware=./own.elf --json -- sizes=8 count=2");
    ASSERT_EQ(own.status, 0) << own.errors;
    const auto folder = vinic.run("run pingpong --design d.yaml --json -- sizes=8 count=2");
    ASSERT_EQ(folder.status, 0) << folder.errors;
    const auto shipped = vinic.run("run pingpong --json -- sizes=8 count=2");
    EXPECT_EQ(json::parse(own.output)["results"], json::parse(shipped.output)["results"]);
    EXPECT_EQ(json::parse(folder.output)["results"], json::parse(shipped.output)["results"]);
}

TEST(run, nodes_that_are_not_alike) {
    const program vinic;
    vinic.write("d.yaml", "base: myvia\nnode1: {nic.lanai.clock_mhz: 66}\n");
    const json alike = json::parse(vinic.run("run pingpong --json -- sizes=8 count=2").output);
    const json unlike =
        json::parse(vinic.run("run pingpong --design d.yaml --json -- sizes=8 count=2").output);
    EXPECT_GT(unlike["results"][0]["latency_us"], alike["results"][0]["latency_us"]);
}

TEST(run, topologies) {
    const program vinic;
    vinic.write("d.yaml",
                "base: myvia\n"
                "topology:\n"
                "  switches: {left: 4, right: 4}\n"
                "  cables: [[node0, left:0], [left:3, right:3], [right:1, node1]]\n");
    const auto latency = [&](const std::string& options) {
        const auto outcome = vinic.run("run pingpong --json " + options + " -- sizes=8 count=2");
        EXPECT_EQ(outcome.status, 0) << outcome.errors;
        return json::parse(outcome.output)["results"][0]["latency_us"].get<double>();
    };
    const double direct = latency("--set topology=back_to_back");
    const double one = latency("--set topology=switch");
    const double two = latency("--design d.yaml");
    EXPECT_LT(direct, one);
    EXPECT_LT(one, two);
}

}  // namespace
}  // namespace vinic::testbench
