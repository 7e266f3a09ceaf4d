// SPDX-License-Identifier: Apache-2.0
// Calls that `vinic exec --record` writes down and `vinic run FILE.trace` makes again.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <vector>

#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

using outcome = program::outcome;
using nlohmann::json;

const std::string programs = VINIC_BINARY_DIR "/tests/attached/attached_";

/// Leaves x.trace and the result in exec.json.
void record(const program& vinic, const std::string& what, const std::string& options = "") {
    const outcome run = vinic.run(
        "exec --record x.trace --json exec.json " + options + " -- " + programs + what, "timeout 100");
    ASSERT_EQ(run.status, 0) << run.errors;
}

/// When each process ended.
std::set<json> ends(const program& vinic, const std::string& result) {
    std::set<json> all;
    const json read = json::parse(vinic.read(result));
    for (const json& row : read["results"]) all.insert({row["process"], row["ended_us"]});
    return all;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream from(text);
    for (std::string line; std::getline(from, line);) all.push_back(line);
    return all;
}

class same_design : public testing::TestWithParam<const char*> {};

TEST_P(same_design, gets_the_recorded_times_to_the_picosecond) {
    const program vinic;
    ASSERT_NO_FATAL_FAILURE(record(vinic, GetParam()));
    const outcome again = vinic.run("run x.trace --json run.json", "timeout 100");
    ASSERT_EQ(again.status, 0) << again.errors;
    EXPECT_EQ(ends(vinic, "run.json"), ends(vinic, "exec.json"));
}
INSTANTIATE_TEST_SUITE_P(programs, same_design,
                         testing::Values("pingpong_vipl 8 20", "pingpong_vipl 4096 5",
                                         "rdma_poll_vipl 4096 5", "two_threads_vipl", "places_vipl"));

// The replay knows nothing of the program but its calls: on another design they take what the program's take
// there.
TEST(record, another_design_takes_what_the_program_takes_there) {
    const program vinic;
    ASSERT_NO_FATAL_FAILURE(record(vinic, "pingpong_vipl 8 20"));
    ASSERT_EQ(vinic.run("run x.trace --design clan --json run.json", "timeout 100").status, 0);
    ASSERT_NO_FATAL_FAILURE(record(vinic, "pingpong_vipl 8 20", "--design clan"));
    EXPECT_EQ(ends(vinic, "run.json"), ends(vinic, "exec.json"));
}

TEST(record, a_line_says_what_a_call_was_given_and_what_it_waited_for) {
    const program vinic;
    ASSERT_NO_FATAL_FAILURE(record(vinic, "rdma_poll_vipl 4096 2"));
    bool registered = false;
    bool written = false;
    bool awaited = false;
    for (const std::string& text : lines_of(vinic.read("x.trace"))) {
        const json line = json::parse(text);
        if (line.value("call", "") == "VipRegisterMem")
            registered = registered || line["bytes"] == 3 * (64 + 4096);
        if (line.value("call", "") == "VipPostSend" && line["descriptor"]["control"] == "rdma_write")
            // From the first buffer to the other's third.
            written = written || (line["descriptor"]["segments"] == json({{0, 3 * 64, 4096}}) &&
                                  line["descriptor"]["remote"] ==
                                      json({1 - line["process"].get<int>(), 0, 3 * 64 + 2 * 4096}));
        // The last word of the third buffer.
        if (line.value("call", "") == "spin")
            awaited = awaited || line["written"] == json({0, 3 * 64 + 3 * 4096 - 4});
    }
    EXPECT_TRUE(registered);
    EXPECT_TRUE(written);
    EXPECT_TRUE(awaited);
}

TEST(record, two_recordings_are_the_same_bytes) {
    const program vinic;
    ASSERT_NO_FATAL_FAILURE(record(vinic, "two_threads_vipl"));
    const std::string first = vinic.read("x.trace");
    ASSERT_NO_FATAL_FAILURE(record(vinic, "two_threads_vipl"));
    EXPECT_TRUE(vinic.read("x.trace") == first);
}

TEST(record, a_study_takes_a_trace) {
    const program vinic;
    ASSERT_NO_FATAL_FAILURE(record(vinic, "pingpong_vipl 8 5"));
    vinic.write("s.yaml", "workload: x.trace\naxes:\n  - bus.clock_mhz: [33, 66]\n");
    const outcome run = vinic.run("study run s.yaml", "timeout 100");
    EXPECT_EQ(run.status, 0) << run.output << run.errors;
    const outcome table = vinic.run("study export s.yaml --csv");
    EXPECT_NE(table.output.find("ended_us"), std::string::npos) << table.output << table.errors;
}

TEST(record, what_is_wrong_with_a_trace_is_one_line) {
    const program vinic;
    ASSERT_NO_FATAL_FAILURE(record(vinic, "pingpong_vipl 8 2"));
    const std::vector<std::string> lines = lines_of(vinic.read("x.trace"));
    const auto expect = [&](const std::string& text, const std::string& says,
                            const std::string& options = "") {
        vinic.write("bad.trace", text);
        const outcome run = vinic.run("run bad.trace " + options, "timeout 100");
        EXPECT_EQ(run.status, 2) << run.output;
        EXPECT_EQ(run.errors, "vinic: bad.trace: " + says + "\n");
    };
    const auto text_without = [&](std::size_t from, std::size_t to) {
        std::string text;
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (i < from || i >= to) text += lines[i] + "\n";
        return text;
    };
    expect("", "line 0: it is empty");
    expect("nonsense\n", "line 1 is no JSON: the file is damaged");
    expect("{\"format\": \"vinic calls 7\"}\n",
           "line 1: its format is 'vinic calls 7', this vinic reads 'vinic calls 1'");
    expect(text_without(lines.size() - 1, lines.size()),
           "process " + std::to_string(json::parse(lines.back())["process"].get<int>()) +
               " does not end with `exit`: the file is cut off");
    expect(text_without(1, 3), "line 2: n is 1, but 0 is the next of the thread: lines are missing");
    const std::string whole = vinic.read("x.trace");
    expect(whole.substr(0, whole.size() - lines.back().size() / 2),
           "line " + std::to_string(lines.size()) + " is no JSON: the file is damaged");
    const std::string begin = lines[0] + "\n" + R"({"at_ps":0,"process":0,"thread":0,"n":0,)";
    expect(begin + "\"call\":\"VipFly\"}\n", "line 2: there is no call 'VipFly'");
    expect(begin + "\"call\":\"VipDestroyVi\"}\n", "line 2: key 'vi' not found");
    expect(begin + "\"call\":\"VipDestroyVi\",\"vi\":0}\n",
           "line 2: 'vi' is 0, which has not been made before");
    expect(vinic.read("x.trace"), "its programs ran on 2 nodes, here are 1 (--nodes)",
           "--nodes 1 --set topology=back_to_back");
}

}  // namespace
}  // namespace vinic::testbench
