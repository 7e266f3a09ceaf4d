// SPDX-License-Identifier: Apache-2.0
// Programs that something else starts: `vinic serve`, and `vinic exec --launcher`.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "testbench/tests/testbench/program.h"
#include "vipl/attach/channel.h"

namespace vinic::testbench {
namespace {

using outcome = program::outcome;
using nlohmann::json;

const std::string programs = VINIC_BINARY_DIR "/tests/attached/attached_";
const std::string pingpong = programs + "pingpong_vipl 8 20";

/// A program for the simulator at the socket "s" of the folder, after so many seconds.
std::string later(const std::string& seconds, const std::string& variables,
                  const std::string& command = pingpong) {
    return "(sleep " + seconds + "; VINIC_SOCKET=s " + variables + " " + command + ") & ";
}

/// Serves while the shell starts others.
outcome serve(const program& vinic, const std::string& others, const std::string& options = "") {
    return vinic.run("serve --socket s " + options, "{ " + others + " }; timeout 100");
}

std::set<json> ends(const std::string& result) {
    std::set<json> all;
    const json read = json::parse(result);
    for (const json& row : read["results"]) all.insert({row["process"], row["node"], row["ended_us"]});
    return all;
}

std::set<json> ends_of_exec(const program& vinic) {
    EXPECT_EQ(vinic.run("exec --json exec.json -- " + pingpong).status, 0);
    return ends(vinic.read("exec.json"));
}

// Which comes first is of no matter: time stands until all have come.
TEST(serve, programs_come_in_any_order_and_get_the_times_of_exec) {
    const program vinic;
    const auto expected = ends_of_exec(vinic);
    for (const auto& [first, second] : {std::pair("0.2", "0.6"), std::pair("0.6", "0.2")}) {
        const outcome run = serve(vinic, later(first, "VINIC_PROCESS=0") + later(second, "VINIC_PROCESS=1"),
                                  "--json serve.json");
        ASSERT_EQ(run.status, 0) << run.errors;
        EXPECT_EQ(ends(vinic.read("serve.json")), expected);
        EXPECT_TRUE(json::parse(vinic.read("serve.json"))["results"][0]["exit_status"].is_null());
    }
    EXPECT_FALSE(vinic.has("s"));
}

TEST(serve, a_program_may_say_its_node_or_nothing) {
    const program vinic;
    const auto expected = ends_of_exec(vinic);
    const outcome by_node =
        serve(vinic, later("0.5", "VINIC_NODE=0") + later("0.2", "VINIC_NODE=1"), "--json node.json");
    EXPECT_EQ(by_node.status, 0) << by_node.errors;
    EXPECT_EQ(ends(vinic.read("node.json")), expected);
    const outcome by_order =
        serve(vinic, later("0.2", "") + later("0.6", "VINIC_PROCESS=1"), "--json order.json");
    EXPECT_EQ(by_order.status, 0) << by_order.errors;
    EXPECT_NE(by_order.errors.find("(VINIC_NODE) becomes process 0 on node 0, as the next to come"),
              std::string::npos)
        << by_order.errors;
    EXPECT_EQ(ends(vinic.read("order.json")), expected);
}

// A stand-in for mpirun: starts two ranks and waits for them.
const std::string launcher =
    "sh -c 'PMI_RANK=1 " + pingpong + " & PMI_RANK=0 " + pingpong + " & wait; echo launched; exit 5'";

TEST(launcher, ranks_become_processes_and_the_exit_status_is_the_launchers) {
    const program vinic;
    const auto expected = ends_of_exec(vinic);
    const outcome run = vinic.run("exec --launcher -n 2 --json l.json -- " + launcher, "timeout 100");
    EXPECT_EQ(run.status, 5) << run.errors;
    EXPECT_EQ(ends(vinic.read("l.json")), expected);
    EXPECT_NE(run.output.find("us one way"), std::string::npos);
    EXPECT_NE(run.output.find("launched"), std::string::npos);
    for (const json& row : json::parse(vinic.read("l.json"))["results"])
        EXPECT_EQ(row["unproven_advances"], 0);
}

TEST(launcher, ranks_that_do_not_come_or_are_too_many_are_named) {
    const program vinic;
    const outcome none = vinic.run("exec --launcher -n 1 -- true", "timeout 100");
    EXPECT_NE(none.errors.find("vinic: the launcher has ended, and process 0 has not used VIPL\n"),
              std::string::npos)
        << none.errors;
    const outcome many =
        vinic.run("exec --launcher -n 1 -- sh -c 'PMI_RANK=3 " + pingpong + "'", "timeout 100");
    EXPECT_NE(many.errors.find("libvipl: the simulation has no process 3: it is for 1 (-n)\n"),
              std::string::npos)
        << many.errors;
}

TEST(serve, what_is_wrong_with_the_socket_is_one_line) {
    const program vinic;
    vinic.write("file", "");
    const outcome file = vinic.run("serve --socket file");
    EXPECT_EQ(file.status, 2);
    EXPECT_NE(file.errors.find("/file: there is a file of that name, which is no socket\n"),
              std::string::npos);
    EXPECT_TRUE(vinic.has("file"));

    const outcome second =
        vinic.run("serve --socket s", "{ timeout -s INT 4 '" VINIC_BINARY_DIR
                                      "/vinic' serve --socket s 2>/dev/null & sleep 2; }; timeout 100");
    EXPECT_EQ(second.status, 2);
    EXPECT_NE(second.errors.find("/s: another simulator listens there\n"), std::string::npos)
        << second.errors;

    const outcome stale =
        vinic.run("serve --socket t -n 1", "{ timeout -s KILL 1 '" VINIC_BINARY_DIR
                                           "/vinic' serve --socket t 2>/dev/null; }; timeout -s INT 2");
    EXPECT_NE(stale.errors.find("/t: replaced one that an earlier simulator left behind\n"),
              std::string::npos)
        << stale.errors;
}

TEST(serve, a_program_without_its_simulator_and_one_of_another_version_are_told_so) {
    const program vinic;
    const std::string errors = (vinic.folder() / "errors").string();
    EXPECT_NE(
        std::system(("VINIC_SOCKET=/nowhere VINIC_PROCESS=0 " + pingpong + " 2> '" + errors + "'").c_str()),
        0);
    EXPECT_TRUE(vinic.read("errors").starts_with(
        "libvipl: no simulator listens at /nowhere: No such file or directory\n"))
        << vinic.read("errors");
    const outcome run =
        vinic.run("serve --socket s -n 1",
                  "{ " + later("0.3", "", programs + "stranger_vipl > answer") + " }; timeout -s INT 2");
    EXPECT_EQ(vinic.read("answer"), "the program's libvipl speaks version 4711, the simulator version " +
                                        std::to_string(vipl::attach::protocol_version) +
                                        ": use the libvipl that comes with this vinic\n");
}

// Programs, and what they have started, go with a simulator that is interrupted.
TEST(launcher, nothing_is_left_after_an_interrupt) {
    const program vinic;
    const outcome run =
        vinic.run("exec --launcher -n 1 -- sh -c 'setsid sleep 31.4159 & sleep 31.4159'", "timeout -s INT 2");
    EXPECT_EQ(std::system("pgrep -f '[s]leep 31.4159' > /dev/null"), 256) << "a process is left";
}

}  // namespace
}  // namespace vinic::testbench
