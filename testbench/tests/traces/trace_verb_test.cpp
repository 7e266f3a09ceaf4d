// SPDX-License-Identifier: Apache-2.0
// Traces of whole runs: well formed, the same however the simulator goes about it, and compared by `vinic`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"
#include "traces/capture.h"
#include "traces/trace_check.h"

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

/// The third message of a run, from its post to its arrival, as the log says it.
struct span_of_time {
    sim::picoseconds from = 0, to = 0;
};
span_of_time third_message(const std::string& log) {
    span_of_time found;
    unsigned posts = 0, done = 0;
    traces::line_reader lines(log);
    while (lines.next()) {
        const std::string line(lines.line());
        const bool post = line.find(".vipl.call VipPostSend") != std::string::npos;
        const bool taken = line.find(".vipl.call VipRecvDone") != std::string::npos;
        const sim::picoseconds at = post || taken ? std::stoull(line) : 0;
        if (post && ++posts == 3) found.from = at;
        if (taken && ++done == 3) found.to = at + std::stoull(line.substr(line.find(" for ") + 5));
    }
    return found;
}

TEST(window, of_each_trace_holds_what_the_whole_trace_does_there) {
    const program vinic;
    const std::string workload = " -- sizes=8 count=2 warmup=1";
    ASSERT_EQ(vinic.run("run pingpong --log l --pcap p --timeline t" + workload).status, 0);
    std::string options = "run pingpong";
    for (const std::string trace : {"log", "pcap", "timeline"})
        options +=
            " --" + trace + " " + trace + " --" + trace + "-from message:3 --" + trace + "-to message:3";
    const auto outcome = vinic.run(options + workload);
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(vinic.run("trace log pcap timeline").status, 0) << vinic.run("trace log pcap timeline").output;
    const auto [from, to] = third_message(vinic.read("l"));
    ASSERT_GT(to, from);
    const auto within = [from = from, to = to](sim::picoseconds at) { return at > from && at < to; };

    std::vector<std::string> whole, part;
    const auto lines_of = [&](const char* file, std::vector<std::string>& into) {
        const std::string text = vinic.read(file);
        for (traces::line_reader lines(text); lines.next();)
            if (within(std::stoull(std::string(lines.line())))) into.emplace_back(lines.line());
        return text;
    };
    lines_of("l", whole);
    const std::string log = lines_of("log", part);
    EXPECT_EQ(part, whole);
    EXPECT_GT(part.size(), 100u);
    EXPECT_EQ(std::stoull(log), from);
    EXPECT_LE(std::stoull(log.substr(log.rfind('\n', log.size() - 2) + 1)), to);

    const std::string all_packets = vinic.read("p"), some_packets = vinic.read("pcap");
    std::vector<std::string> packets;
    for (const auto& p : traces::read_capture(all_packets).packets)
        if (within(p.at)) packets.emplace_back(p.comment);
    std::vector<std::string> found;
    for (const auto& p : traces::read_capture(some_packets).packets) {
        EXPECT_TRUE(within(p.at));
        found.emplace_back(p.comment);
    }
    EXPECT_EQ(found, packets);
    EXPECT_GE(found.size(), 2u);

    const auto stamp = [](const json& event) {
        return static_cast<sim::picoseconds>(std::llround(event["ts"].get<double>() * 1e6));
    };
    const auto slices = [&](const char* file) {
        std::vector<std::string> all;
        for (json event : json::parse(vinic.read(file)))
            if (event["ph"] == "X" && within(stamp(event))) {
                event.erase("tid");  // what overlaps may be stacked otherwise
                all.push_back(event.dump());
            }
        return all;
    };
    EXPECT_EQ(slices("timeline"), slices("t"));
    EXPECT_GT(slices("timeline").size(), 20u);
    std::set<std::string> arrows;
    for (const json& event : json::parse(vinic.read("timeline"))) {
        if (!event.contains("ts")) continue;
        EXPECT_GE(stamp(event), from) << event.dump();
        EXPECT_LE(stamp(event), to) << event.dump();
        if (event["ph"] == "s" || event["ph"] == "f")
            arrows.insert(event["ph"].get<std::string>() + " " + event["name"].get<std::string>());
    }
    // The third message is the second of node 0.
    EXPECT_TRUE(arrows.contains("s message 2 of node0.nic"));
    EXPECT_TRUE(arrows.contains("f message 2 of node0.nic"));
}

// MyVIA's doorbells are two stores into the card's SRAM: its data, and the word that is valid. Of pingpong
// the first four are receive descriptors, two of each node; the fifth is the first send.
TEST(window, opens_on_a_doorbell) {
    const program vinic;
    const auto outcome = vinic.run(
        "run pingpong --log l --log-scope '*.pci.write' --log-from doorbell:5 "
        "--log-to doorbell:6 -- sizes=8 count=2 warmup=0");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors, "");
    std::vector<std::string> words;
    const std::string log = vinic.read("l");
    for (traces::line_reader lines(log); lines.next();) {
        const std::string line(lines.line());
        const std::size_t data = line.find("data=") + 5;
        words.push_back(line.substr(data, line.find(' ', data) - data));
    }
    // From the first send's second store to the second one's.
    ASSERT_GE(words.size(), 3u) << log;
    EXPECT_EQ(words.front(), "0x80010000") << log;
    EXPECT_EQ(words.back(), "0x80010000") << log;
    EXPECT_EQ(std::ranges::count_if(words, [](const std::string& w) { return w.starts_with("0x8"); }), 2)
        << log;
}

// Of what lasts when the window opens, the part within is drawn.
TEST(window, of_a_timeline_opens_on_what_is_going_on) {
    const program vinic;
    ASSERT_EQ(vinic
                  .run("run stream --timeline t --timeline-from message:20 --timeline-to message:30 -- "
                       "sizes=4096 count=50 warmup=0")
                  .status,
              0);
    EXPECT_EQ(vinic.run("trace t").status, 0) << vinic.run("trace t").output;
    const json events = json::parse(vinic.read("t"));
    double opened = std::numeric_limits<double>::infinity();
    for (const json& event : events)
        if (event.contains("ts")) opened = std::min(opened, event["ts"].get<double>());
    bool function = false, depth = false;
    for (const json& event : events) {
        if (!event.contains("ts") || event["ts"] != opened) continue;
        function = function || event["ph"] == "B";
        depth = depth || (event["ph"] == "C" && event["name"].get<std::string>().ends_with("descriptors"));
    }
    EXPECT_TRUE(function);
    EXPECT_TRUE(depth);
}

TEST(window, that_is_wrong_is_said_before_anything_is_written) {
    const program vinic;
    const auto outcome =
        vinic.run("run pingpong --log l --pcap p --timeline t --timeline-from dorbell:2 -- sizes=8 count=1");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.errors.find("--timeline-from dorbell:2: "), std::string::npos) << outcome.errors;
    EXPECT_NE(outcome.errors.find("did you mean doorbell?"), std::string::npos) << outcome.errors;
    EXPECT_FALSE(vinic.has("l") || vinic.has("p") || vinic.has("t"));
    EXPECT_EQ(vinic.run("run pingpong --log-from 1us").status, 2);
    const auto never = vinic.run("run pingpong --pcap p --pcap-from message:900 -- sizes=8 count=1");
    EXPECT_EQ(never.status, 0);
    EXPECT_NE(never.errors.find("--pcap-from was not reached"), std::string::npos) << never.errors;
}

// Each row of a node that the table of rows has, of a run that uses all of them.
TEST(timeline, shows_every_unit_of_a_node) {
    const program vinic;
    ASSERT_EQ(vinic.run("run all_to_all --nodes 3 --timeline t -- sizes=8 rounds=2 warmup=0").status, 0);
    std::set<std::string> rows, counters;
    for (const json& event : json::parse(vinic.read("t"))) {
        if (event["name"] == "thread_name" && event["pid"] == 1)
            rows.insert(event["args"]["name"].get<std::string>());
        if (event["ph"] == "C" && event["pid"] == 1) counters.insert(event["name"].get<std::string>());
    }
    for (const char* row :
         {"CPU 0", "driver: interrupts", "host bridge: loads", "bus", "doorbells and writes", "doorbell FIFO",
          "core", "DMA 0", "DMA 1", "DMA 2", "send", "receive"})
        EXPECT_TRUE(rows.contains(row)) << row;
    for (const char* counter : {"VI 0 descriptors", "bus busy", "interrupt line"})
        EXPECT_TRUE(counters.contains(counter)) << counter;
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

void expect_whole_traces(const program& vinic) {
    std::string files = "trace p.pcapng t.json w.vcd l.log";
    if (vinic.has("w.fst")) files += " w.fst";
    const auto checked = vinic.run(files);
    EXPECT_EQ(checked.status, 0) << checked.output << checked.errors;
    EXPECT_EQ(checked.output.find("broke off"), std::string::npos) << checked.output;
}

TEST(traces, of_a_run_that_is_interrupted_are_whole) {
    const program vinic;
    vinic.write("w.lua", "process(0, function() print('begun') while true do sleep(1000000) end end)\n");
    const auto outcome = vinic.run("run w.lua" + all_traces, "timeout --preserve-status -s INT 2");
    EXPECT_EQ(outcome.status, 130) << outcome.errors;
    EXPECT_EQ(outcome.output, "begun\n");
    expect_whole_traces(vinic);
}

TEST(traces, of_a_run_that_cannot_go_on_are_whole) {
    const program vinic;
    vinic.write("w.lua",
                "local b = barrier(2)\n"
                "process(0, function() print('begun') check(false, 'a check') b() end, 'lonely')\n");
    const auto outcome = vinic.run("run w.lua" + all_traces, "timeout 60");
    EXPECT_EQ(outcome.status, 3) << outcome.errors;
    EXPECT_EQ(outcome.output, "begun\n");
    EXPECT_NE(outcome.errors.find("check failed: "), std::string::npos) << outcome.errors;
    expect_whole_traces(vinic);
    const auto as_json = vinic.run("run w.lua --json -", "timeout 60");
    EXPECT_EQ(as_json.output, "");
    EXPECT_NE(as_json.errors.find("begun\n"), std::string::npos) << as_json.errors;
}

// A block of the model throws in the midst of the run.
TEST(traces, of_a_run_with_a_model_error_are_whole) {
    const program vinic;
    vinic.write("w.lua",
                "process(0, function() print('begun') local kept = {}\n"
                "  while true do\n"
                "    kept[#kept + 1] = open_endpoint { bytes = 4 << 20, sends = 1, receives = 1 }\n"
                "  end\n"
                "end)\n");
    const auto outcome = vinic.run("run w.lua --set host.memory.size_mbytes=16" + all_traces, "timeout 60");
    EXPECT_EQ(outcome.status, 3) << outcome.errors;
    EXPECT_NE(outcome.errors.find("node0.host.memory at "), std::string::npos) << outcome.errors;
    EXPECT_EQ(outcome.output, "begun\n");
    expect_whole_traces(vinic);
}

TEST(trace, faults_are_status_1_and_other_files_bad_input) {
    const program vinic;
    vinic.write("l.log", "10 a x\n5 a y\n");
    const auto bad = vinic.run("trace l.log");
    EXPECT_EQ(bad.status, 1);
    EXPECT_NE(bad.output.find("l.log: log, NOT well formed\n"), std::string::npos) << bad.output;
    EXPECT_NE(bad.output.find("fault: line 2: 5 ps after 10 ps\n"), std::string::npos) << bad.output;
    vinic.write("i.txt", "10 1 node0.nic.lanai main+0x0 nop\n20 node0.nic.lanai main+0x4 nop\n");
    const auto bad_instructions = vinic.run("trace i.txt");
    EXPECT_EQ(bad_instructions.status, 1);
    EXPECT_EQ(bad_instructions.output,
              "i.txt: instructions, NOT well formed\n  from 10 ps to 10 ps\n             2 instructions\n"
              "             1 cores\n  fault: line 2: no stamp, cycle and name\n");
    for (const char* other : {"hello\n", "1,2,3\n", "5\n", "5 6\n", "5 6 7\n", "12"}) {
        vinic.write("x", other);
        EXPECT_EQ(vinic.run("trace x").status, 2) << other;
    }
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

TEST(compare, two_waveforms_signal_by_signal) {
    const program vinic;
    const auto wave = [&](const std::string& file, const std::string& ids, const std::string& changes) {
        std::string text = "$timescale 1 ps $end\n$scope module node0 $end\n";
        text += "$var wire 1 " + ids.substr(0, 1) + " frame $end\n$var wire 4 " + ids.substr(1) +
                " ad [3:0] $end\n";
        vinic.write(file, text + "$upscope $end\n$enddefinitions $end\n" + changes);
    };
    wave("a.vcd", "xy", "#100\n0x\nb01z1 y\n#200\n1x\n#300\nb0 y\n");
    wave("same.vcd", "pq", "#100\nb01z1 q\n0p\n#200\n1p\n#300\nb0000 q\n");
    wave("b.vcd", "xy", "#100\n0x\nb01z1 y\n#250\n1x\n#300\nb0 y\n");
    wave("short.vcd", "xy", "#100\n0x\nb01z1 y\n#200\n1x\n");
    EXPECT_EQ(vinic.run("compare a.vcd same.vcd").output, "the same waveform\n");
    EXPECT_EQ(vinic.run("compare a.vcd b.vcd").output,
              "first difference: change 3\na.vcd at 200 ps:\n  node0.frame 1\nb.vcd at 250 ps:\n"
              "  node0.frame 1\n");
    EXPECT_NE(vinic.run("compare a.vcd short.vcd").output.find("node0.ad does not change any more"),
              std::string::npos);
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
