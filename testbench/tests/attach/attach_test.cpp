// SPDX-License-Identifier: Apache-2.0
// Programs in C, started by `vinic exec`.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

using outcome = program::outcome;

const std::string programs = VINIC_BINARY_DIR "/tests/attached/attached_";

outcome exec(const program& vinic, const std::string& what, const std::string& options = "",
             const std::string& before = "timeout 100") {
    return vinic.run("exec " + options + " -- " + programs + what, before);
}

double printed_latency_us(const std::string& text) {
    std::smatch found;
    return std::regex_search(text, found, std::regex("([0-9.]+) us one way")) ? std::stod(found[1]) : -1;
}

double reported_latency_us(const std::string& json) {
    return nlohmann::json::parse(json)["results"][0]["latency_us"];
}

// A server that clocks its rounds by gettimeofday spends two system calls on it, and two microseconds of
// resolution; nothing else differs from the script.
TEST(attach, the_latency_of_a_c_program_is_that_of_the_script) {
    const program vinic;
    const outcome c = exec(vinic, "pingpong_vipl 8 200");
    ASSERT_EQ(c.status, 0) << c.errors;
    const outcome lua = vinic.run("run pingpong --json -- sizes=8 count=200");
    ASSERT_EQ(lua.status, 0) << lua.errors;
    EXPECT_NEAR(printed_latency_us(c.output), reported_latency_us(lua.output), 0.02);
}

TEST(attach, a_static_program_gets_the_same_numbers) {
    const program vinic;
    const outcome shared = exec(vinic, "pingpong_vipl 100 20");
    ASSERT_EQ(shared.status, 0) << shared.errors;
    const outcome fixed = exec(vinic, "pingpong_vipl_static 100 20");
    EXPECT_EQ(fixed.status, 0) << fixed.errors;
    EXPECT_EQ(fixed.output, shared.output);
}

class reproducible : public testing::TestWithParam<const char*> {};

// On one processor, on two, and with others that want them.
TEST_P(reproducible, every_run_has_the_same_simulated_times) {
    const program vinic;
    const std::string load =
        "(for i in 1 2 3; do timeout 4 sh -c 'while :; do :; done' & done) 2>/dev/null; ";
    std::set<std::string> outputs;
    std::set<std::string> results;
    for (const std::string before : {"timeout 100", "timeout 100 taskset -c 0", "timeout 100"}) {
        const std::string start = outputs.empty() ? before : load + before;
        const outcome run = exec(vinic, GetParam(), "--reproducible --fingerprint --json r.json", start);
        ASSERT_EQ(run.status, 0) << run.errors;
        outputs.insert(run.output);
        results.insert(vinic.read("r.json"));
    }
    EXPECT_EQ(outputs.size(), 1u) << testing::PrintToString(outputs);
    EXPECT_EQ(results.size(), 1u) << testing::PrintToString(results);
}
INSTANTIATE_TEST_SUITE_P(programs, reproducible,
                         testing::Values("pingpong_vipl 8 50", "rdma_poll_vipl 4096 5", "two_threads_vipl"));

TEST(attach, watching_lockstep_and_order_of_construction_change_nothing) {
    const program vinic;
    const std::string plain = exec(vinic, "pingpong_vipl 8 5", "--reproducible --json a.json").output;
    for (const std::string mode : {"--lockstep", "--shuffle 3", "--log x.log --pcap x.pcapng"}) {
        EXPECT_EQ(exec(vinic, "pingpong_vipl 8 5", "--reproducible --json b.json " + mode).output, plain)
            << mode;
        EXPECT_EQ(vinic.read("b.json"), vinic.read("a.json")) << mode;
    }
    EXPECT_TRUE(vinic.has("x.pcapng"));
}

TEST(attach, a_program_that_polls_memory_sees_whole_messages) {
    const program vinic;
    const outcome run = exec(vinic, "rdma_poll_vipl 8192 10", "--json r.json");
    EXPECT_EQ(run.status, 0) << run.errors;
    EXPECT_GT(printed_latency_us(run.output), 0) << run.output;
    for (const auto& row : nlohmann::json::parse(vinic.read("r.json"))["results"])
        EXPECT_EQ(row["unproven_advances"], 0);
}

TEST(attach, threads_call_at_once) {
    const program vinic;
    const outcome run = exec(vinic, "two_threads_vipl");
    EXPECT_EQ(run.status, 0) << run.errors;
    EXPECT_TRUE(run.output.starts_with("20 messages each way in ")) << run.output;
}

class handlers : public testing::TestWithParam<const char*> {};

TEST_P(handlers, of_signals_call_while_their_thread_waits) {
    const program vinic;
    std::set<std::string> outputs;
    for (int i = 0; i < 3; ++i) {
        const outcome run =
            exec(vinic, std::string("handlers_vipl ") + GetParam(), "--reproducible --json r.json");
        EXPECT_EQ(run.status, 0) << run.errors;
        EXPECT_TRUE(std::regex_search(run.output, std::regex("[0-9] alarms, an answer after [0-9]+ us")))
            << run.output;
        outputs.insert(vinic.read("r.json"));
        for (const auto& row : nlohmann::json::parse(vinic.read("r.json"))["results"])
            EXPECT_EQ(row["unproven_advances"], 0);
    }
    EXPECT_EQ(outputs.size(), 1u);
}
// Of faults, only the program's own.
TEST(attach, a_handler_of_faults_gets_those_of_the_program) {
    const program vinic;
    for (const std::string when : {"early action", "early signal", "late action", "late signal"}) {
        const outcome run = exec(vinic, "faults_vipl " + when, "-n 1");
        EXPECT_EQ(run.status, 0) << run.errors;
        EXPECT_TRUE(run.output.starts_with("3 faults of its own, 0 of others\n")) << when << run.output;
    }
}

INSTANTIATE_TEST_SUITE_P(programs, handlers, testing::Values("alarm", "deep", "jump"));

TEST(attach, every_clock_is_the_simulations) {
    const program vinic;
    const outcome run = exec(vinic, "clocks_vipl", "-n 1");
    EXPECT_EQ(run.status, 0) << run.errors;
    EXPECT_EQ(run.output, "");
}

TEST(attach, the_time_stamp_counter_is_the_simulated_processors) {
    const program vinic;
    for (const std::string mhz : {"500", "733"}) {
        const outcome run = exec(vinic, "time_stamps_vipl " + mhz,
                                 "-n 1 --env VINIC_TRAP_RDTSC=1 --set host.cpu.clock_mhz=" + mhz);
        EXPECT_EQ(run.status, 0) << run.errors;
        EXPECT_EQ(run.output, "");
    }
}

TEST(attach, processor_time_is_charged_where_it_is_asked_for) {
    const program vinic;
    const outcome run = exec(vinic, "pingpong_vipl 8 20", "--cpu-scale 1000");
    EXPECT_EQ(run.status, 0) << run.errors;
    EXPECT_NE(run.errors.find(
                  "--cpu-scale charges processor time as it was measured: this run is not reproducible"),
              std::string::npos);
    // A round takes the program at least a microsecond of processor time, which counts a thousand times.
    EXPECT_GT(printed_latency_us(run.output), 500);
}

// Each on its own; what other calls do must not help it.
class time_limit : public testing::TestWithParam<const char*> {};
TEST_P(time_limit, ends_in_simulated_time) {
    const program vinic;
    const outcome run = exec(vinic, std::string("limits_vipl ") + GetParam(), "-n 1");
    EXPECT_EQ(run.status, 0) << run.errors;
    EXPECT_EQ(run.output, "");
}
INSTANTIATE_TEST_SUITE_P(entry_points, time_limit,
                         testing::Values("poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait",
                                         "sem_timedwait", "sem_clockwait", "pthread_cond_timedwait",
                                         "pthread_cond_clockwait", "pthread_cond_monotonic",
                                         "pthread_mutex_timedlock", "pthread_mutex_clocklock",
                                         "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock",
                                         "sigtimedwait", "alarm", "ualarm", "setitimer", "setitimer_virtual",
                                         "timer_create", "timer_absolute", "timerfd"),
                         [](const auto& one) { return std::string(one.param); });

TEST(attach, memory_of_every_kind_is_registered_and_keeps_its_bytes) {
    const program vinic;
    const outcome run = exec(vinic, "places_vipl");
    EXPECT_EQ(run.status, 0) << run.errors;
    EXPECT_EQ(run.output, "");
}

// A thread that has said to the kernel that it will sleep, and does not: time stands until it has posted.
// Several times, because what the simulator sees of it is chance.
TEST(attach, time_stands_while_a_thread_only_looks_asleep) {
    const program vinic;
    std::set<std::string> results;
    for (int i = 0; i < 20; ++i) {
        const outcome run = exec(vinic, "looks_asleep_vipl", "--reproducible --json r.json --grace 20000");
        ASSERT_EQ(run.status, 0) << run.errors;
        EXPECT_EQ(run.output, "received\n");
        results.insert(vinic.read("r.json"));
    }
    EXPECT_EQ(results.size(), 1u);
}

// What a program starts counts, however it starts it.
class started : public testing::TestWithParam<const char*> {};
TEST_P(started, process_is_waited_for) {
    const program vinic;
    const outcome run = exec(vinic, std::string("starts_process_vipl ") + GetParam(), "-n 1");
    EXPECT_EQ(run.status, 0) << run.errors;
    EXPECT_EQ(run.output, "ready\n");
}
INSTANTIATE_TEST_SUITE_P(programs, started,
                         testing::Values("fork", "orphan", "vfork", "posix_spawn", "posix_spawnp", "popen"),
                         [](const auto& one) { return std::string(one.param); });

// What the kernel does for a process that dies: its peer hears of it.
class death : public testing::TestWithParam<std::pair<const char*, int>> {};
TEST_P(death, tells_the_peer) {
    const program vinic;
    const auto [how, status] = GetParam();
    const outcome run = exec(vinic, std::string("victim_vipl ") + how);
    EXPECT_EQ(run.status, status) << run.errors;
    EXPECT_EQ(run.output, "VipRecvWait: 11\nerror callback: 1\n") << run.errors;  // VIP_ERROR_CONN_LOST
}
INSTANTIATE_TEST_SUITE_P(programs, death,
                         testing::Values(std::pair("exit", 3), std::pair("kill", 128 + 9),
                                         std::pair("kill_in_call", 128 + 9)));

// A program whose simulator dies gets errors; it does not hang.
TEST(attach, a_program_outlives_its_simulator) {
    const program vinic;
    vinic.write("kill.sh",
                std::string("'" VINIC_BINARY_DIR "/vinic' exec -- ") + programs +
                    "pingpong_vipl 8 100000000 2> errors & sleep 1; kill -9 $!; sleep 1; pgrep -f '[8] "
                    "100000000' | wc -l > left");
    ASSERT_EQ(std::system(("cd '" + vinic.folder().string() + "' && sh kill.sh 2>/dev/null").c_str()), 0);
    EXPECT_EQ(vinic.read("left"), "0\n");
    EXPECT_NE(vinic.read("errors").find("the simulator has ended"), std::string::npos);
}

TEST(attach, a_library_of_another_version_is_told_so) {
    const program vinic;
    EXPECT_EQ(
        exec(vinic, "stranger_vipl", "-n 1").output,
        "the program's libvipl speaks version 4711, the simulator version 4: use the libvipl that comes with "
        "this vinic\n");
}

TEST(attach, without_a_simulator_a_program_says_what_is_missing) {
    const program vinic;
    EXPECT_NE(std::system(("VINIC_PROCESS=0 " + programs + "pingpong_vipl 2> '" +
                           (vinic.folder() / "errors").string() + "'")
                              .c_str()),
              0);
    EXPECT_TRUE(
        vinic.read("errors").starts_with("libvipl: no simulator: start the program with `vinic exec"));
}

TEST(attach, bad_input_is_one_line_and_nothing_starts) {
    const program vinic;
    const auto expect = [&](const std::string& arguments, const std::string& line) {
        const outcome run = vinic.run("exec " + arguments);
        EXPECT_EQ(run.status, 2) << arguments;
        EXPECT_EQ(run.errors, "vinic: " + line + "\n");
        EXPECT_EQ(run.output, "");
    };
    expect("", "exec: expected -- PROGRAM [ARGUMENTS] [: PROGRAM [ARGUMENTS]]");
    expect("-- echo a :", "exec: expected -- PROGRAM [ARGUMENTS] [: PROGRAM [ARGUMENTS]]");
    expect("-- ./nothing", "./nothing is no program that can be started");
    expect("--map 0,7 -- echo", "no node 7 for a program: there are 2 (--nodes)");
    expect("--map 0 -- echo", "--map names 1 nodes for 2 processes");
    expect("-n 3 -- echo a : echo b", "exec: -n does not go with several programs, of which each runs once");
}

TEST(attach, output_and_exit_status_are_the_programs) {
    const program vinic;
    const outcome run =
        vinic.run("exec -- sh -c 'echo one; exit 0' : sh -c 'sleep 0.1; echo two $VINIC_NODE; exit 7'");
    EXPECT_EQ(run.status, 7) << run.errors;
    EXPECT_EQ(run.output, "one\ntwo 00001\n");
}

}  // namespace
}  // namespace vinic::testbench
