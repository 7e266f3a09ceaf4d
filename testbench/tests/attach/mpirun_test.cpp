// SPDX-License-Identifier: Apache-2.0
// The launchers of MPIs start the ranks, VIPL carries the data. MPICH is among the packages of this project;
// Open MPI is tested where it is there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

using outcome = program::outcome;

double latency_us(const std::string& text) {
    std::smatch found;
    return std::regex_search(text, found, std::regex("([0-9.]+) us one way")) ? std::stod(found[1]) : -1;
}

/// The programs of an MPI.
struct mpi {
    const char* compiler;
    const char* launcher;
};
void PrintTo(const mpi& of, std::ostream* to) { *to << of.launcher; }

class mpirun : public testing::TestWithParam<mpi> {};

// MPI starts the ranks; the times of what VIPL carries are its own.
TEST_P(mpirun, starts_ranks_whose_data_go_by_vipl) {
    const auto [compiler, launcher] = GetParam();
    if (std::system((std::string("command -v ") + compiler + " > /dev/null").c_str()) != 0)
        GTEST_SKIP() << compiler << " is not there";
    const program vinic;
    ASSERT_EQ(std::system(("cd '" + vinic.folder().string() + "' && " + compiler +
                           " -w -std=gnu89 -O2 -I" VINIC_SOURCE_DIR " -o mpi_start " VINIC_SOURCE_DIR
                           "/testbench/tests/attach/programs/mpi_start.c -L" VINIC_BINARY_DIR "/lib -lvipl")
                              .c_str()),
              0);
    std::set<double> latencies;
    for (int i = 0; i < 3; ++i) {
        const outcome run = vinic.run(
            "exec --launcher -n 2 --env OMPI_ALLOW_RUN_AS_ROOT=1 --env "
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 --json r.json -- " +
                std::string(launcher) + " ./mpi_start 50",
            "timeout 100");
        ASSERT_EQ(run.status, 0) << run.output << run.errors;
        latencies.insert(latency_us(run.output));
    }
    // When MPI_Bcast is seen is a race outside of the simulator (testbench/attach/README.md), so the polls of
    // the two may stand otherwise to each other: less than two of them, of 50 ns each.
    EXPECT_LT(*latencies.rbegin() - *latencies.begin(), 0.1) << testing::PrintToString(latencies);
    EXPECT_GT(*latencies.begin(), 5);
    EXPECT_LT(*latencies.begin(), 20);
    // Both ways, 50 times, and nothing of MPI's.
    EXPECT_EQ(nlohmann::json::parse(vinic.read("r.json"))["cost"]["messages"], 100);
}
INSTANTIATE_TEST_SUITE_P(launchers, mpirun,
                         testing::Values(mpi{"mpicc.openmpi", "mpirun.openmpi --oversubscribe -np 2"},
                                         mpi{"mpicc.mpich", "mpirun.mpich -np 2"}),
                         [](const auto& one) { return std::string(one.param.compiler).substr(6); });

}  // namespace
}  // namespace vinic::testbench
