// SPDX-License-Identifier: Apache-2.0
// The designs with a hardwired VI engine: each carries every workload, gives the same bytes however it is
// run, loses nothing, and has the shape that it is known for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <tuple>

#include "testbench/tests/testbench/run_result.h"

namespace vinic::testbench {
namespace {

constexpr const char* designs[] = {"clan", "hvia_ge", "xuni"};

struct workload {
    const char* name;
    const char* options;
    const char* arguments;
};

class hardwired_card : public testing::TestWithParam<std::tuple<const char*, workload>> {};

TEST_P(hardwired_card, gives_the_same_bytes_in_lockstep_and_shuffled) {
    const auto& [design, what] = GetParam();
    expect_same_bytes(fmt::format("{} --design {} {}", what.name, design, what.options), what.arguments,
                      {"--lockstep", "--shuffle 7", "--shuffle 12"});
}

INSTANTIATE_TEST_SUITE_P(
    run, hardwired_card,
    testing::Combine(testing::ValuesIn(designs),
                     testing::Values(workload{"pingpong", "", "sizes=0,8,5000 count=3 warmup=1 verify=true"},
                                     workload{"stream", "", "sizes=8,5000 count=20 warmup=1 verify=true"},
                                     workload{"bidirectional", "", "sizes=0,8,4096 count=3 warmup=1"},
                                     workload{"rate", "", "sizes=8 count=20 warmup=1"},
                                     workload{"all_to_all", "--nodes 3",
                                              "sizes=0,8,4096 rounds=2 warmup=1"})),
    [](const auto& of) { return std::string(std::get<0>(of.param)) + "_" + std::get<1>(of.param).name; });

class damaged : public testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};

TEST_P(damaged, reliable_messages_arrive_whole) {
    const auto& [design, level, network] = GetParam();
    const json result =
        result_of(fmt::format("stream --json - --stats --design {} --set link.{} -- sizes=8,20000 count=40 "
                              "verify=true reliability={}",
                              design, network, level));
    EXPECT_GT(sum_of(result, ".nic.reliability.went_back"), 0);
}

INSTANTIATE_TEST_SUITE_P(networks, damaged,
                         testing::Combine(testing::ValuesIn(designs),
                                          testing::Values("delivery", "reception"),
                                          testing::Values("bit_error_rate=1e-5", "drop_rate=0.05")),
                         [](const auto& of) {
                             const std::string network = std::get<2>(of.param);
                             return fmt::format("{}_{}_{}", std::get<0>(of.param), std::get<1>(of.param),
                                                network.substr(0, network.find('=')));
                         });

class hardwired : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(designs, hardwired, testing::ValuesIn(designs),
                         [](const auto& of) { return std::string(of.param); });

TEST_P(hardwired, stages_add_up_to_what_the_workload_measured) {
    const json result =
        result_of(fmt::format("pingpong --json - --account --design {} -- sizes=8 count=20", GetParam()));
    ASSERT_EQ(result["account"].size(), 1u);
    const json& of = result["account"][0];
    EXPECT_EQ(of["count_messages"], 40);
    double mean = 0;
    unsigned parts = 0;
    for (const json& s : of["stages"]) {
        const auto name = s["stage"].get<std::string>();
        if (name != "latency") mean += s["mean_ps"].get<double>();
        for (const char* part : {"doorbell: engine", "descriptor: engine", "payload: engine", "data: engine"})
            parts += name == part;
        EXPECT_FALSE(name.find("firmware") != std::string::npos || name.find("core") != std::string::npos)
            << name;
    }
    EXPECT_NEAR(mean / 1e6, result["results"][0]["latency_us"].get<double>(), 0.0005);
    EXPECT_EQ(parts, 4u);
}

TEST_P(hardwired, sends_again_the_same_bytes_in_lockstep_and_shuffled) {
    expect_same_bytes(fmt::format("stream --design {} --set link.drop_rate=0.05", GetParam()),
                      "sizes=8,20000 count=20 reliability=delivery",
                      {"", "--lockstep", "--shuffle 7", "--shuffle 12"});
}

// The doorbell queue may be as short as it likes: doorbells wait, none is lost.
TEST_P(hardwired, short_queues_lose_no_doorbell) {
    const json result =
        result_of(fmt::format("rate --json - --stats --design {} --set nic.doorbells.queue_depth=1 "
                              "--set nic.doorbells.decode_clocks=200 -- sizes=8 count=200",
                              GetParam()));
    EXPECT_GT(sum_of(result, ".nic.doorbells.refused"), 0);
}

// Whatever few of them there are, buffers and channels only cost time.
TEST_P(hardwired, works_with_one_of_everything) {
    result_of(fmt::format(
        "all_to_all --nodes 3 --json - --design {} --set nic.packets.buffers=1 --set nic.receive.buffers=1 "
        "--set nic.reliability.buffers=1 --set nic.dma.read_channels=1 --set nic.dma.write_channels=1 "
        "--set nic.descriptors.prefetch_descriptors=1 --set nic.descriptors.fetches=1 "
        "-- sizes=0,8,20000 rounds=2",
        GetParam()));
}

TEST(clan, wire_carries_cells) {
    const json result = result_of("pingpong --json - --stats --design clan -- sizes=0 count=10");
    // Back in the statistics: 53 bytes for each packet of 32 bytes without payload, and each route byte.
    const double packets = sum_of(result, ".nic.send.packets"), bytes = sum_of(result, ".nic.send.bytes");
    EXPECT_EQ(static_cast<unsigned long>(bytes - packets) % 53, 0u);
}

// A table in host memory behind a cache: what does not fit in it costs reads.
TEST(xuni, misses_of_the_translation_cache_cost_time) {
    const std::string run = "stream --json - --stats --design xuni ";
    const std::string arguments = " -- sizes=65536 count=40";
    const json fits = result_of(run + arguments);
    const json misses = result_of(run +
                                  "--set nic.translation.cache_entries=8 --set nic.translation.cache_ways=1 "
                                  "--set nic.translation.line_entries=1" +
                                  arguments);
    EXPECT_GT(sum_of(misses, ".nic.translation.misses"), 4 * sum_of(fits, ".nic.translation.misses"));
    EXPECT_LT(misses["results"][0]["bandwidth_mbytes_per_s"], fits["results"][0]["bandwidth_mbytes_per_s"]);
}

TEST(xuni, cut_through_shortens_the_way_of_long_messages) {
    const std::string run = "pingpong --json - --design xuni ", arguments = " -- sizes=4096 count=3";
    const double through = result_of(run + arguments)["results"][0]["latency_us"];
    const double stored =
        result_of(run + "--set nic.send.cut_through_bytes=0" + arguments)["results"][0]["latency_us"];
    EXPECT_GT(stored - through, 2.0);
}

// XUNI's core decides on connections, errors and sending again; nothing of that happens to a message that
// arrives.
TEST(xuni, core_has_no_part_in_messages_that_arrive) {
    const json result =
        result_of("pingpong --json - --stats --design xuni -- sizes=8,4096 count=20 reliability=delivery");
    EXPECT_EQ(sum_of(result, ".nic.control.events", "value"), 0);
    EXPECT_GT(sum_of(result, ".nic.control.events"), 0);
}

/// Of the first line of a profile that names the function.
double cycles_of(const std::string& profile, const std::string& function) {
    const std::size_t line = profile.find("\nvinic::xuni::" + function + "(");
    if (line == std::string::npos) return 0;
    return std::stod(profile.substr(profile.find(')', line) + 1));
}

TEST(xuni, profile_shows_the_firmware_that_sends_again) {
    const program vinic;
    const auto profile_of = [&](const std::string& network) {
        const auto outcome = vinic.run("run stream --design xuni --profile p.txt " + network +
                                       " -- sizes=20000 count=100 reliability=delivery");
        EXPECT_EQ(outcome.status, 0) << outcome.errors;
        return vinic.read("p.txt");
    };
    const std::string lossy = profile_of("--set link.drop_rate=0.05"), perfect = profile_of("");
    EXPECT_GT(cycles_of(lossy, "send_again"), 0) << lossy;
    EXPECT_GT(cycles_of(lossy, "time_over"), 0) << lossy;
    EXPECT_EQ(cycles_of(perfect, "send_again"), 0) << perfect;
    EXPECT_EQ(cycles_of(perfect, "time_over"), 0) << perfect;
}

TEST(xuni, wants_firmware_for_its_core) {
    const auto expect = [](const std::string& options, const std::string& text) {
        const auto outcome = program().run("run pingpong " + options + " -- sizes=8 count=1");
        EXPECT_EQ(outcome.status, 2) << options;
        EXPECT_NE(outcome.errors.find(text), std::string::npos) << outcome.errors;
    };
    expect("--design xuni --set firmware=myvia", "no symbol control_interface");
    expect("--design myvia --set firmware=xuni", "no symbol card_interface");
    expect("--design clan --set firmware=xuni", "runs none");
    expect("--design xuni --set nic.sram.bytes=4194304", "the host sees 2097152");
}

// Firmware of a user's own that breaks the rules of the contract is told so, with its place.
TEST(xuni, wild_firmware_stops_the_run_with_a_reason) {
    const auto expect = [](const std::string& body, const std::string& text) {
        const program vinic;
        std::filesystem::create_directory(vinic.folder() / "wild");
        vinic.write("wild/main.cpp",
                    "#include \"firmware/xuni/hardware.h\"\nusing namespace vinic::xuni;\n"
                    "extern \"C\" [[gnu::used]] const uint32_t control_interface = interface_version;\n"
                    "extern \"C\" int main() { for (;;) " +
                        body + " }\n");
        const auto outcome = vinic.run("run pingpong --design xuni --set firmware=./wild -- sizes=8 count=1");
        EXPECT_EQ(outcome.status, 3) << body;
        EXPECT_NE(outcome.errors.find("ps: " + text), std::string::npos) << outcome.errors;
    };
    expect("hardware::store(EVENT_TAKEN, 1);", "an event taken where there is none");
    expect("order(order_done, 0);", "an order on a command where there is none");
    expect("order(order_break, vinic::abi::vi_engine::max_vis);", "an order on a VI that there is not");
    expect("hardware::store(ORDER, order_report);", "an order for which there is no room");
    expect("order(static_cast<control_order>(99), 0);", "an order that there is not");
    expect("hardware::load(COMMAND + 4 * 32);", "access to an unmapped address");
}

TEST(hvia_ge, a_frame_cannot_wait_on_the_wire) {
    const auto outcome =
        program().run("run pingpong --design hvia_ge --set nic.send.cut_through_bytes=64 -- sizes=8");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.errors.find("cut_through_bytes"), std::string::npos) << outcome.errors;
}

}  // namespace
}  // namespace vinic::testbench
