// SPDX-License-Identifier: Apache-2.0
// Whole systems with blocks in RTL: what every probe sees is what it sees with their models.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

struct workload {
    const char* name;
    const char* machine;
    const char* rtl;
    const char* run;
};

std::string run(const workload& what, const std::string& options) {
    const auto outcome = program().run(
        fmt::format("run {} --design {} {} --reproducible --json - --fingerprint -- {}",
                    std::string(what.run).substr(0, std::string(what.run).find(' ')), what.machine, options,
                    std::string(what.run).substr(std::string(what.run).find(' '))));
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.output;
}

class rtl_run : public testing::TestWithParam<workload> {};

TEST_P(rtl_run, gives_the_results_and_the_fingerprint_of_the_model) {
    const json model = json::parse(run(GetParam(), ""));
    const json with_rtl = json::parse(run(GetParam(), GetParam().rtl));
    ASSERT_TRUE(model.contains("fingerprint"));
    EXPECT_EQ(model["fingerprint"], with_rtl["fingerprint"]);
    EXPECT_EQ(model["results"], with_rtl["results"]);
}

TEST_P(rtl_run, gives_the_same_bytes_in_lockstep_and_shuffled) {
    const std::string rtl = GetParam().rtl;
    const std::string plain = run(GetParam(), rtl);
    EXPECT_EQ(plain, run(GetParam(), rtl + " --lockstep"));
    EXPECT_EQ(plain, run(GetParam(), rtl + " --shuffle 7"));
}

constexpr const char* doorbells = "--set nic.doorbells.impl=rtl";
constexpr const char* dma = "--set nic.dma.impl=rtl";
constexpr const char* link_ports = "--set nic.link.impl=rtl";
constexpr const char* lossy =
    "myvia --set link.bit_error_rate=1e-6 --set link.drop_rate=0.02 --set driver.retransmit_us=1000";
constexpr const char* core = "--set nic.lanai.impl=rtl";
constexpr const char* on_pcix = "myvia --set bus.kind=pcix --set bus.clock_mhz=133";

INSTANTIATE_TEST_SUITE_P(
    workloads, rtl_run,
    testing::Values(
        workload{"doorbells_pingpong", "myvia2", doorbells,
                 "pingpong sizes=0,8,5000 count=3 warmup=1 verify=true"},
        workload{"doorbells_stream", "myvia2", doorbells,
                 "stream sizes=8,5000 count=20 warmup=1 verify=true"},
        workload{"doorbells_rate", "myvia2", doorbells, "rate sizes=8 count=20 warmup=1 vis=4"},
        workload{"dma_pingpong", "myvia", dma, "pingpong sizes=0,8,5000 count=3 warmup=1 verify=true"},
        workload{"dma_stream", "myvia", dma, "stream sizes=8,5000 count=10 warmup=1 verify=true"},
        workload{"dma_stream_on_pcix", on_pcix, dma, "stream sizes=8,5000 count=10 warmup=1 verify=true"},
        workload{"dma_xuni", "xuni", dma, "pingpong sizes=0,8,5000 count=3 warmup=1 verify=true"},
        workload{"link_pingpong", "myvia", link_ports,
                 "pingpong sizes=0,8,5000 count=3 warmup=1 verify=true"},
        workload{"link_stream", "myvia", link_ports, "stream sizes=8,5000 count=10 warmup=1 verify=true"},
        workload{"link_lossy_stream", lossy, link_ports,
                 "stream sizes=5000 count=60 reliability=delivery verify=true"},
        workload{"link_xuni", "xuni", link_ports, "stream sizes=0,8,5000 count=3 warmup=1 verify=true"},
        workload{"link_clan", "clan", link_ports, "pingpong sizes=0,8,5000 count=3 warmup=1 verify=true"},
        workload{"core_xuni", "xuni", core, "pingpong sizes=0,8,5000 count=3 warmup=1 verify=true"}),
    [](const auto& of) { return std::string(of.param.name); });

constexpr const char* all =
    "--set nic.doorbells.impl=rtl --set nic.lanai.impl=rtl --set nic.dma.impl=rtl --set nic.link.impl=rtl";

class rtl_system : public testing::TestWithParam<workload> {};

TEST_P(rtl_system, gives_the_results_and_the_fingerprint_of_the_models) {
    const json models = json::parse(run(GetParam(), ""));
    const json with_rtl = json::parse(run(GetParam(), GetParam().rtl));
    EXPECT_EQ(models["fingerprint"], with_rtl["fingerprint"]);
    EXPECT_EQ(models["results"], with_rtl["results"]);
}

INSTANTIATE_TEST_SUITE_P(
    workloads, rtl_system,
    testing::Values(workload{"pingpong", "myvia2", all,
                             "pingpong sizes=0,8,5000 count=3 warmup=1 verify=true"},
                    workload{"stream", "myvia2", all, "stream sizes=8,5000 count=20 warmup=1 verify=true"},
                    workload{"rate", "myvia2", all, "rate sizes=8 count=20 warmup=1 vis=4"}),
    [](const auto& of) { return std::string(of.param.name); });

TEST(rtl_system, gives_the_same_bytes_shuffled) {
    const workload rate{"rate", "myvia2", all, "rate sizes=8 count=5 warmup=0 vis=2"};
    EXPECT_EQ(run(rate, all), run(rate, std::string(all) + " --shuffle 7"));
}

/// Where the firmware does not look into the FIFO, RTL would stand beside the path.
TEST(rtl_design, is_refused_where_firmware_polls_its_doorbells_in_memory) {
    for (const std::string design : {"myvia", "bvia", "firmvia"}) {
        const auto outcome =
            program().run(fmt::format("run pingpong --json r.json --design {} {}", design, doorbells));
        EXPECT_EQ(outcome.status, 2);
        EXPECT_NE(outcome.errors.find("doorbells.impl = rtl: firmware " + design +
                                      " does not use the doorbell FIFO"),
                  std::string::npos)
            << outcome.errors;
    }
}

}  // namespace
}  // namespace vinic::testbench
