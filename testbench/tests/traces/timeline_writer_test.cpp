// SPDX-License-Identifier: Apache-2.0
#include "traces/timeline_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "hw/sim/simulation.h"
#include "testbench/tests/traces/watched_block.h"
#include "testbench/tests/traces/wire.h"
#include "traces/trace_check.h"

namespace vinic::traces {
namespace {

using nlohmann::json;

/// Of a transaction that was no retry.
constexpr sim::field moved{"bytes", 8};

struct bus_block : sim::module {
    explicit bus_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::span_probe transaction{*this, "transaction", "transactions"};
};
struct core_block : sim::module {
    static constexpr std::array<const char*, 4> names{"", "main", "poll", "\"quoted\""};
    explicit core_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::value_probe function{*this, "function", 16, "functions", names};
};
struct nic_block : sim::module {
    explicit nic_block(const sc_core::sc_module_name& name) : module(name) {}
    core_block lanai{"lanai"};
};
struct library_block : sim::module {
    explicit library_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::span_probe call{*this, "call", "calls"};
};
struct node_block : sim::module {
    explicit node_block(const sc_core::sc_module_name& name) : module(name) {}
    bus_block bus{"bus"};
    nic_block nic{"nic"};
    library_block vipl{"vipl"};
};

struct world {
    const std::string path = temporary_path(".json");
    sim::simulation simulation;
    node_block node{"node3"};
    fabric_block fabric{"fabric"};
    account messages;
    std::optional<timeline_writer> writer;

    explicit world(std::uint64_t limit = timeline_writer::default_limit) {
        writer.emplace(path, messages, cable_map{{"fabric.cable0", {"switch0 port 2", "node3"}}}, limit);
    }
    ~world() { std::remove(path.c_str()); }

    std::string file(sim::picoseconds end) {
        writer->finish(end);
        writer.reset();
        return contents(path);
    }
    /// Events of one kind.
    static std::vector<json> of_kind(const std::string& file, const std::string& phase) {
        std::vector<json> found;
        for (const json& event : json::parse(file))
            if (event["ph"] == phase) found.push_back(event);
        return found;
    }
};

TEST(timeline_writer, stamps_are_microseconds_with_six_decimals) {
    world w;
    w.node.bus.transaction.report(1'000'001, 12'345'678'901'234, "memory read",
                                  {{"address", 4096}, {"bytes", 8}});
    const std::string file = w.file(12'345'678'901'234);
    EXPECT_NE(file.find("{\"ph\":\"X\",\"pid\":4,\"tid\":1200,\"ts\":1.000001,\"dur\":12345677.901233,"
                        "\"name\":\"memory read\",\"args\":{\"address\":\"0x1000\",\"bytes\":8}}"),
              std::string::npos)
        << file;
}

TEST(timeline_writer, functions_nest_as_they_call_and_end_with_the_run) {
    world w;
    const auto enter = [&](sim::picoseconds at, std::uint64_t f) { w.node.nic.lanai.function.set(at, f); };
    enter(0, 0);
    enter(1'000, 1);
    enter(2'000, 2);
    enter(3'000, 3);
    enter(4'000, 1);
    enter(5'000, 2);
    const std::string file = w.file(6'000);
    const auto begins = world::of_kind(file, "B"), ends = world::of_kind(file, "E");
    ASSERT_EQ(begins.size(), 4u);
    ASSERT_EQ(ends.size(), 4u);
    EXPECT_EQ(begins[2]["name"], "\"quoted\"");
    // The third returns to the first: two end at once.
    EXPECT_EQ(ends[0]["ts"], 0.004);
    EXPECT_EQ(ends[1]["ts"], 0.004);
    EXPECT_EQ(check_timeline(file).faults, std::vector<std::string>{});
}

TEST(timeline_writer, slices_that_overlap_get_rows_of_their_own) {
    world w;
    w.node.bus.transaction.report(1'000, 5'000, "first", {moved});
    w.node.bus.transaction.report(2'000, 3'000, "inside", {moved});
    w.node.bus.transaction.report(4'000, 6'000, "across", {moved});
    const std::string file = w.file(10'000);
    const auto slices = world::of_kind(file, "X");
    ASSERT_EQ(slices.size(), 3u);
    EXPECT_EQ(slices[0]["tid"], slices[1]["tid"]);
    EXPECT_NE(slices[0]["tid"], slices[2]["tid"]);
    EXPECT_EQ(check_timeline(file).faults, std::vector<std::string>{});
}

// Intervals of 20 us: all of the first and a tenth of the third; less than a percent shows as none.
TEST(timeline_writer, utilisation_is_percent_of_each_interval) {
    world w;
    w.node.bus.transaction.report(0, 20'000'000, "a", {{"bytes", 8}});
    w.node.bus.transaction.report(40'000'000, 42'000'000, "a retry");
    w.node.bus.transaction.report(120'000'000, 120'000'001, "c", {moved});
    const auto samples = world::of_kind(w.file(160'000'000), "C");
    ASSERT_EQ(samples.size(), 4u);
    const std::array<std::pair<double, int>, 4> expected{{{0, 100}, {20, 0}, {40, 10}, {60, 0}}};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(samples[i]["ts"], expected[i].first);
        EXPECT_EQ(samples[i]["args"]["percent"], expected[i].second);
    }
}

TEST(timeline_writer, queues_count_descriptors) {
    world w;
    const auto call = [&](sim::picoseconds at, const char* what) {
        w.node.vipl.call.report(at, at + 1, what, {{"card", 0}, {"vi", 7}, {"process", 2}});
    };
    call(10, "VipPostRecv");
    call(20, "VipPostSend");
    call(30, "VipPostSend");
    call(40, "VipSendDone");
    call(50, "VipRecvDone");
    const auto samples = world::of_kind(w.file(100), "C");
    ASSERT_EQ(samples.size(), 5u);
    EXPECT_EQ(samples[2]["args"], json({{"send", 2}, {"receive", 1}}));
    EXPECT_EQ(samples[4]["args"], json({{"send", 1}, {"receive", 0}}));
    EXPECT_EQ(samples[4]["name"], "VI 7 descriptors");
}

TEST(timeline_writer, a_cable_of_a_node_is_a_row_of_the_node) {
    world w;
    w.fabric.cable0.ab_transmission.report(100, 300, "packet");
    w.fabric.cable1.ba_transmission.report(200, 300, "packet");
    const auto slices = world::of_kind(w.file(1'000), "X");
    ASSERT_EQ(slices.size(), 2u);
    EXPECT_EQ(slices[0]["pid"], 4);
    EXPECT_EQ(slices[1]["pid"], fabric_process);
}

struct further_blocks : sim::module {
    explicit further_blocks(const sc_core::sc_module_name& name) : module(name) {}
    nic_block nic1{"nic1"};
    struct driver_block : sim::module {
        explicit driver_block(const sc_core::sc_module_name& name) : module(name) {}
        sim::span_probe send{*this, "send", "packets"};
    } driver{"driver"}, driver1{"driver1"};
};

TEST(timeline_writer, rows_of_a_further_card_follow_with_its_name) {
    const sim::simulation simulation;
    const further_blocks node("node3");
    const fabric_block fabric("fabric");
    const cable_map cables{{"fabric.cable0", {"switch0 port 2", "node3"}},
                           {"fabric.cable1", {"node3.nic1", "switch0 port 3"}}};
    const auto row = [&](const sim::probe& of) { return *timeline_row_of(of, cables); };
    const timeline_row core = row(node.nic1.lanai.function), in = row(fabric.cable0.ab_transmission),
                       out = row(fabric.cable1.ab_transmission), kernel = row(node.driver1.send);
    for (const timeline_row& one : {core, in, out, kernel}) EXPECT_EQ(one.track.process, 4u);
    EXPECT_EQ(core.title, "nic1 core");
    EXPECT_EQ(in.title, "wire from switch0 port 2");
    EXPECT_EQ(in.meter, "wire in busy");
    EXPECT_EQ(out.title, "nic1 wire to switch0 port 3");
    EXPECT_EQ(out.meter, "nic1 wire out busy");
    EXPECT_EQ(kernel.title, "nic1 kernel: VI packets out");
    EXPECT_LT(row(node.driver.send).track, kernel.track);
    EXPECT_LT(in.track, core.track);
    EXPECT_LT(core.track, out.track);
}

TEST(timeline_writer, a_full_file_is_whole_and_says_when) {
    world w(4'000);
    w.node.nic.lanai.function.set(0, 1);
    for (sim::picoseconds t = 0; t < 100'000; t += 1'000)
        w.node.bus.transaction.report(t, t + 10, "read", {moved});
    w.writer->finish(200'000);
    ASSERT_TRUE(w.writer->full_at().has_value());
    EXPECT_LT(*w.writer->full_at(), 100'000u);
    const std::string file = contents(w.path);
    EXPECT_LT(file.size(), 5'000u);
    EXPECT_EQ(check_timeline(file).faults, std::vector<std::string>{});
    EXPECT_GT(world::of_kind(file, "X").size(), 5u);
}

}  // namespace
}  // namespace vinic::traces
