// SPDX-License-Identifier: Apache-2.0
// The designs with a programmable card beside MyVIA: each carries every workload, gives the same bytes
// however it is run, and has the shape that it is known for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "testbench/tests/testbench/run_result.h"

namespace vinic::testbench {
namespace {

/// One column of the results.
std::vector<double> column(const json& of, const char* key) {
    std::vector<double> values;
    for (const json& row : of["results"]) values.push_back(row[key].get<double>());
    return values;
}

struct workload {
    const char* name;
    const char* options;
    const char* arguments;
};

class programmable_card : public testing::TestWithParam<std::tuple<const char*, workload>> {};

TEST_P(programmable_card, gives_the_same_bytes_in_lockstep_and_shuffled) {
    const auto& [design, what] = GetParam();
    expect_same_bytes(fmt::format("{} --design {} {}", what.name, design, what.options), what.arguments,
                      {"--lockstep", "--shuffle 7"});
}

INSTANTIATE_TEST_SUITE_P(
    run, programmable_card,
    testing::Combine(testing::Values("myvia2", "gm_pci64b", "bvia", "firmvia"),
                     testing::Values(workload{"pingpong", "", "sizes=0,8,5000 count=3 warmup=1 verify=true"},
                                     workload{"stream", "", "sizes=8,5000 count=20 warmup=1 verify=true"},
                                     workload{"bidirectional", "", "sizes=0,8,4096 count=3 warmup=1"},
                                     workload{"rate", "", "sizes=8 count=20 warmup=1 vis=4"},
                                     workload{"all_to_all", "--nodes 3", "sizes=0,8,4096 rounds=2 warmup=1"},
                                     workload{"active_vis", "", "vis=1,5 count=3 warmup=1"},
                                     workload{"buffer_reuse", "", "reuse=100,0 count=3 warmup=1"})),
    [](const auto& of) { return std::string(std::get<0>(of.param)) + "_" + std::get<1>(of.param).name; });

class accounted : public testing::TestWithParam<const char*> {};

TEST_P(accounted, stages_add_up_to_what_the_workload_measured) {
    const json result =
        result_of(fmt::format("pingpong --json - --account --design {} -- sizes=8 count=20", GetParam()));
    ASSERT_EQ(result["account"].size(), 1u);
    const json& of = result["account"][0];
    EXPECT_EQ(of["count_messages"], 40);
    double mean = 0;
    bool doorbell = false;
    for (const json& s : of["stages"]) {
        if (s["stage"] != "latency") mean += s["mean_ps"].get<double>();
        doorbell |= s["stage"].get<std::string>().starts_with("doorbell: ");
    }
    EXPECT_NEAR(mean / 1e6, result["results"][0]["latency_us"].get<double>(), 0.0005);
    EXPECT_TRUE(doorbell);
}

INSTANTIATE_TEST_SUITE_P(designs, accounted, testing::Values("myvia2", "gm_pci64b", "bvia", "firmvia"),
                         [](const auto& of) { return std::string(of.param); });

// A doorbell of MyVIA is two words of SRAM, one of MyVIA2 a word that the hardware queues; none is lost.
TEST(myvia2, doorbells_go_through_the_hardware) {
    const std::string arguments = " --json - --stats -- sizes=8 count=100 vis=8";
    const json polled = result_of("rate --design myvia" + arguments);
    const json queued = result_of("rate --design myvia2" + arguments);
    EXPECT_EQ(sum_of(polled, ".nic.doorbells.doorbells"), 0);
    const double doorbells = sum_of(queued, ".nic.doorbells.doorbells");
    EXPECT_GT(doorbells,
              300);  // a send and a receive descriptor of each message, warm-up and credits besides
    EXPECT_EQ(sum_of(queued, ".nic.doorbells.overflows"), 0);
}

// Programs that ring as fast as they can, on one node: their credits keep the FIFO from overflowing.
TEST(myvia2, several_programs_share_the_fifo) {
    const program vinic;
    vinic.write("many.lua", R"(
local programs, count = 4, 700
local leave = barrier(2 * programs)
for p = 1, programs do
    process(0, function()
        local e = open_endpoint { bytes = 8, sends = 1, receives = count }
        e:prepare(1, 8)
        e:call(1, "port" .. p)
        for i = 1, count do e:send(1); e:sent(); e:again(e:receive()) end
        row("program", p, "messages", count)
        leave()
    end)
    process(1, function()
        local e = open_endpoint { bytes = 8, sends = 1, receives = count }
        e:prepare(1, 8)
        e:listen("port" .. p)
        for i = 1, count do e:again(e:receive()); e:send(1); e:sent() end
        leave()
    end)
end
)");
    const auto outcome = vinic.run("run many.lua --design myvia2 --json - --stats");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const json result = json::parse(outcome.output);
    EXPECT_EQ(sum_of(result, ".nic.doorbells.overflows"), 0);
    EXPECT_GT(sum_of(result, ".nic.doorbells.doorbells"), 4 * 4 * 700);
}

TEST(bvia, latency_grows_with_active_vis_and_with_poor_buffer_reuse) {
    const auto latencies = [](const std::string& arguments) {
        return column(result_of(arguments), "latency_us");
    };
    const auto by_vis = latencies("active_vis --design bvia --json - -- vis=1,8,32 count=20");
    ASSERT_EQ(by_vis.size(), 3u);
    EXPECT_GT(by_vis[1], by_vis[0] * 1.03);
    EXPECT_GT(by_vis[2], by_vis[1] * 1.1);
    const auto by_reuse = latencies("buffer_reuse --design bvia --json - -- reuse=100,50,0 count=40");
    ASSERT_EQ(by_reuse.size(), 3u);
    EXPECT_GT(by_reuse[1], by_reuse[0] * 1.02);
    EXPECT_GT(by_reuse[2], by_reuse[1] * 1.02);
    // What it is compared with does not look at one VI after the other.
    for (const char* design : {"myvia2", "firmvia"}) {
        const auto flat =
            latencies(fmt::format("active_vis --design {} --json - -- vis=1,32 count=20", design));
        ASSERT_EQ(flat.size(), 2u);
        EXPECT_NEAR(flat[1], flat[0], flat[0] * 0.02) << design;
    }
}

TEST(bvia, offers_unreliable_delivery_only) {
    EXPECT_NE(program().run("run pingpong --design bvia -- sizes=8 reliability=delivery").status, 0);
}

}  // namespace
}  // namespace vinic::testbench
