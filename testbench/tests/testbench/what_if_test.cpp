// SPDX-License-Identifier: Apache-2.0
// What if a part of the machine took no time: NAME.free and --free.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "testbench/tests/testbench/run_result.h"

namespace vinic::testbench {
namespace {

/// Of each size, in microseconds; every payload is compared.
std::map<int, double> latencies(const std::string& options, const std::string& arguments = "sizes=8,4096") {
    const json result =
        result_of("pingpong " + options + " --json - --reproducible -- count=10 verify=true " + arguments);
    std::map<int, double> all;
    for (const json& row : result.value("results", json::array()))
        all[row["size_bytes"].get<int>()] = row["latency_us"].get<double>();
    return all;
}

struct design_parts {
    const char* design;
    double poll_us;  ///< a turn of the loop that polls: a message may meet another phase of it
    std::vector<std::string> parts;
};

TEST(what_if, free_is_never_slower_and_payloads_stay_whole) {
    const std::vector<design_parts> designs{
        {"myvia", 0.1, {"bus", "host", "link", "nic.lanai", "nic.translation"}},
        {"bvia", 0.6, {"link", "nic.lanai", "nic.translation"}},
        {"gm_pci64b", 0.1, {"link", "nic.lanai"}},
        {"xuni", 0, {"bus", "host", "link", "nic.translation"}},
        {"clan", 0, {"link", "nic.translation"}},
        {"udp_fe", 0, {"bus", "host", "link"}}};
    for (const auto& [design, poll_us, parts] : designs) {
        const std::string on = std::string("--design ") + design;
        const auto as_it_is = latencies(on);
        ASSERT_EQ(as_it_is.size(), 2u) << design;
        for (const auto& part : parts)
            for (const auto& [size, us] : latencies(on + " --free " + part))
                EXPECT_LE(us, as_it_is.at(size) + poll_us) << design << " " << part << " " << size;
    }
}

// The wire of myvia brings a byte in 4 ns over 3 m of cable at 4.92 ns each. Of 4 KB, which leave and arrive
// as one packet, the SRAM of either card takes 8 bytes in 7.5 ns, at the same time as the wire; so that is
// what is left.
TEST(what_if, a_free_link_saves_what_the_wire_takes) {
    const double wire = 4096 * 4e-3, slots = 4096 / 8 * 7.5e-3, cable = 3 * 4.92e-3;
    const auto as_it_is = latencies(""), free = latencies("--free link");
    EXPECT_GE(as_it_is.at(4096) - free.at(4096), wire - slots);
    EXPECT_LE(as_it_is.at(4096) - free.at(4096), wire + cable + 0.5)
        << "0.5 us for another phase of two polls";
}

TEST(what_if, a_free_link_takes_the_time_of_switches_too) {
    const auto latency = [](const std::string& topology, const std::string& free) {
        return latencies("--set topology=" + topology + free).at(8);
    };
    // From the arrival of the route byte on, 150 ns, and a second cable.
    EXPECT_GT(latency("switch", "") - latency("back_to_back", ""), 0.15);
    EXPECT_NEAR(latency("switch", " --free link"), latency("back_to_back", " --free link"), 0.05);
}

// What a core that is twice, and what one that is seven times as fast saves is less.
TEST(what_if, a_free_core_is_faster_than_any_clock) {
    const double free = latencies("--free nic.lanai").at(8);
    EXPECT_LT(free, latencies("--set nic.lanai.clock_mhz=266").at(8));
    EXPECT_LT(free, latencies("--set nic.lanai.clock_mhz=1000").at(8));
}

// Pages that no cache holds: one entry of the page table is read for each of the two sides of a message.
TEST(what_if, a_free_translation_has_no_misses_that_cost) {
    const auto latency = [](const std::string& options) {
        const json result = result_of("transfer --json - --reproducible " + options +
                                      " -- sizes=8 buffers=1024 count=32 warmup=8");
        return result["results"][0]["latency_us"].get<double>();
    };
    const double met = latency(""), free = latency("--free nic.translation");
    // A read of host memory takes the bridge 28 clocks of 15 ns until it has data, at the least.
    EXPECT_GE(met - free, 28 * 15e-3);
}

TEST(what_if, the_same_in_lock_step_shuffled_and_watched) {
    expect_same_bytes("pingpong --free link --free nic.translation", "sizes=8,2048 count=5",
                      {"--lockstep", "--shuffle 3", "--log l.log"});
    expect_same_bytes("pingpong --free nic.lanai --set nic.lanai.free_multiplier=2", "sizes=8,2048 count=5",
                      {"--lockstep", "--shuffle 3"});
    expect_same_bytes("pingpong --design xuni --free nic.translation --free link", "sizes=8,2048 count=5",
                      {"--shuffle 3"});
}

TEST(what_if, parts_that_are_not_there) {
    const auto said = [](const std::string& options) {
        const auto outcome = program().run("run pingpong " + options);
        EXPECT_EQ(outcome.status, 2);
        return outcome.errors;
    };
    EXPECT_EQ(said("--free wire"),
              "vinic: --set: no parameter is named 'wire.free'; what can be free: bus, host, link, "
              "nic.lanai, nic.translation\n");
    EXPECT_EQ(said("--design clan --free nic.lanai"),
              "vinic: --set: no parameter of this design is named 'nic.lanai.free'; bvia, firmvia, "
              "gm_pci64b, myvia, myvia2 have it\n");
}

}  // namespace
}  // namespace vinic::testbench
