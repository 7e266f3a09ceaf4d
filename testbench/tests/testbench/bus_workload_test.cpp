// SPDX-License-Identifier: Apache-2.0
// `vinic run bus` against closed formulas: the clocks of a block from the phases of its tenures
// (hw/bus/tenure.h) and the host's parameters.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

const std::string hosts = VINIC_SOURCE_DIR "/testbench/validation/hosts/";
constexpr double blocks = 32;
/// From the start of the chain to its first address phase, and after its last data phase: once in a chain.
constexpr double once = 4 / blocks;

struct rates {
    json read, write;
};

rates measure(const std::string& options) {
    const auto outcome = program().run("run bus --json --reproducible " + options);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    const json rows = json::parse(outcome.output)["results"];
    EXPECT_EQ(rows[0]["direction"], "read");
    EXPECT_EQ(rows[1]["direction"], "write");
    return {rows[0], rows[1]};
}

double clocks_of(const json& row) { return row["block_clocks"].get<double>(); }

std::uint64_t parameter(const std::string& design, const std::string& name) {
    const auto outcome = program().run("params " + name + " --json --design " + design);
    const json all = json::parse(outcome.output);
    for (const auto& one : all["parameters"])
        if (one["parameter"] == "node0." + name) return std::stoull(one["value"].get<std::string>());
    ADD_FAILURE() << "no parameter " << name;
    return 0;
}

// PCI-X, a write: address, attributes, DEVSEL# one clock after (decode A), the host's wait states, the data,
// one clock of turnaround. Requests are arbitrated meanwhile.
double pcix_write_clocks(double data, double waits) { return 3 + waits + data + 1; }

// PCI-X, a read. Data of the last block sampled; REQ#, GNT#, address, sampled: 4 clocks; the host fetches;
// REQ#, GNT# of the completion, address, attributes: 4; DEVSEL#; one clock later the data.
double pcix_read_clocks(double data, double latency, double decode) {
    return 4 + latency + 4 + decode + 1 + data;
}

// PCI, a delayed read with decode B: a repetition takes 5 clocks from address to address (address, wait for
// DEVSEL#, STOP#, FRAME# up, turnaround); the first one at or after the host's latency gets its data two
// clocks after its address.
double pci_read_clocks(double data, double latency) { return 5 * std::ceil(latency / 5) + 2 + data + 1; }
double pci_write_clocks(double data) { return 2 + data + 1; }

TEST(bus_workload, pcix_hosts_take_the_clocks_of_the_formula) {
    for (const char* name : {"pcix_amd8131", "pcix_serverworks_gc", "pcix_rx2000"}) {
        const std::string design = hosts + name + ".yaml";
        const auto latency = static_cast<double>(parameter(design, "host.bridge.read_latency_clocks"));
        const auto waits = static_cast<double>(parameter(design, "host.bridge.write_wait_clocks"));
        const auto decode = static_cast<double>(parameter(design, "bus.target_decode_clocks"));
        const rates ours = measure("--design " + design);
        EXPECT_NEAR(clocks_of(ours.read), pcix_read_clocks(512, latency, decode), once) << name;
        EXPECT_NEAR(clocks_of(ours.write), pcix_write_clocks(512, waits), once) << name;
        const double expected = 4096 / (clocks_of(ours.read) * 7.5e-3);
        EXPECT_NEAR(ours.read["bandwidth_mbytes_per_s"].get<double>(), expected, 1e-6 * expected);
    }
}

TEST(bus_workload, other_latencies_and_blocks_follow_the_same_formula) {
    const std::string design = hosts + "pcix_amd8131.yaml";
    const auto decode = static_cast<double>(parameter(design, "bus.target_decode_clocks"));
    for (const int latency : {20, 100})
        for (const int bytes : {1024, 4096}) {
            const rates ours =
                measure(fmt::format("--design {} --set host.bridge.read_latency_clocks={} --set "
                                    "host.bridge.write_wait_clocks=4 -- block_bytes={}",
                                    design, latency, bytes));
            EXPECT_NEAR(clocks_of(ours.read), pcix_read_clocks(bytes / 8.0, latency, decode), once)
                << latency;
            EXPECT_NEAR(clocks_of(ours.write), pcix_write_clocks(bytes / 8.0, 4), once) << bytes;
        }
}

TEST(bus_workload, delayed_reads_take_the_clocks_of_the_formula) {
    const std::string design = hosts + "server_64_66.yaml";
    for (const int latency : {31, 76, 100}) {
        const rates ours = measure(fmt::format(
            "--design {} --set host.bridge.read_latency_clocks={} -- burst_bytes=256", design, latency));
        EXPECT_NEAR(clocks_of(ours.read) / 16, pci_read_clocks(32, latency), once) << latency;
        EXPECT_NEAR(clocks_of(ours.write) / 16, pci_write_clocks(32), once) << latency;
    }
}

TEST(bus_workload, more_outstanding_reads_hide_the_latency) {
    const std::string design = hosts + "pcix_rx2000.yaml";
    const double one = clocks_of(measure("--design " + design).read);
    const double four = clocks_of(measure("--design " + design + " -- splits=4").read);
    EXPECT_GT(one, 512 + 175);
    EXPECT_LT(four, 540) << "little more than the data";
}

// Watching and the order of construction change nothing here either.
TEST(bus_workload, same_bytes_in_every_mode) {
    const program vinic;
    const std::string run = "run bus --json - --reproducible --fingerprint --stats ";
    const auto plain = vinic.run(run + "-- blocks=4");
    ASSERT_EQ(plain.status, 0) << plain.errors;
    for (const char* how : {"--shuffle 3", "--lockstep", "--wave w.vcd --log l.txt"})
        EXPECT_EQ(vinic.run(run + how + " -- blocks=4").output, plain.output) << how;
}

TEST(bus_workload, wrong_arguments) {
    EXPECT_EQ(program().run("run bus -- block_bytes=8192").status, 2);
    EXPECT_NE(program().run("run bus -- blocs=2").errors.find("did you mean 'blocks'?"), std::string::npos);
}

}  // namespace
}  // namespace vinic::testbench
