// SPDX-License-Identifier: Apache-2.0
// Ten runs of each program are one, whatever the machine does meanwhile (about 1 minute), and twelve of the
// programs that wait outside, which are stopped and let go all the time (about 2 minutes).
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

using outcome = program::outcome;

const std::string programs = VINIC_BINARY_DIR "/tests/attached/attached_";

/// Three that want a processor, while the command runs.
const std::string load = "(for i in 1 2 3; do timeout 10 sh -c 'while :; do :; done' & done) 2>/dev/null; ";

struct attached_run {
    const char* options;
    const char* program;
};
void PrintTo(const attached_run& run, std::ostream* to) { *to << run.program; }

class ten_runs : public testing::TestWithParam<attached_run> {};

TEST_P(ten_runs, have_the_same_simulated_times) {
    const program vinic;
    std::set<std::string> outputs;
    std::set<std::string> results;
    for (int i = 0; i < 10; ++i) {
        const std::string processors = i % 2 == 0 ? "timeout 100 taskset -c 0" : "timeout 100 taskset -c 0,1";
        const outcome run = vinic.run(std::string("exec --reproducible --json r.json --record x.trace ") +
                                          GetParam().options + " -- " + programs + GetParam().program,
                                      (i < 4 ? "" : load) + processors);
        ASSERT_EQ(run.status, 0) << run.errors;
        outputs.insert(run.output);
        results.insert(vinic.read("r.json") + vinic.read("x.trace"));
    }
    EXPECT_EQ(outputs.size(), 1u) << testing::PrintToString(outputs);
    EXPECT_EQ(results.size(), 1u);
}
INSTANTIATE_TEST_SUITE_P(programs, ten_runs,
                         testing::Values(attached_run{"--fingerprint", "pingpong_vipl 8 200"},
                                         attached_run{"--fingerprint", "pingpong_vipl 4096 100"},
                                         attached_run{"--fingerprint", "rdma_poll_vipl 4096 20"},
                                         attached_run{"--fingerprint", "two_threads_vipl"},
                                         attached_run{"--fingerprint", "places_vipl"},
                                         attached_run{"-n 1", "limits_vipl poll"},
                                         attached_run{"-n 1", "limits_vipl pthread_cond_timedwait"}));

/// Runs the simulator, and stops its programs for a while, one after the other, until it has ended.
const std::string stops_programs =
    "timeout 200 sh -c '\"$@\" & v=$!; while kill -0 $v 2>/dev/null; do for p in $(pgrep -P $v); do "
    "kill -STOP $p; sleep 0.003; kill -CONT $p; done 2>/dev/null; sleep 0.01; done; wait $v' stopping ";

class twelve_runs : public testing::TestWithParam<attached_run> {};

TEST_P(twelve_runs, are_one_though_programs_are_stopped) {
    const program vinic;
    std::set<std::string> outputs;
    std::set<std::string> results;
    for (int i = 0; i < 12; ++i) {
        const std::string processors = i % 2 == 0 ? "taskset -c 0 " : "taskset -c 0,1 ";
        const outcome run =
            vinic.run(std::string("exec --reproducible --grace 60000 --json r.json --record x.trace ") +
                          GetParam().options + " -- " + programs + GetParam().program,
                      (i % 4 < 2 ? "" : load) + processors + stops_programs);
        ASSERT_EQ(run.status, 0) << "run " << i << ": " << run.errors;
        outputs.insert(run.output);
        results.insert(vinic.read("r.json") + vinic.read("x.trace"));
    }
    EXPECT_EQ(outputs.size(), 1u) << testing::PrintToString(outputs);
    EXPECT_EQ(results.size(), 1u);
}
INSTANTIATE_TEST_SUITE_P(programs, twelve_runs,
                         testing::Values(attached_run{"--fingerprint", "places_vipl"},
                                         attached_run{"--fingerprint", "looks_asleep_vipl"}));
}  // namespace
}  // namespace vinic::testbench
