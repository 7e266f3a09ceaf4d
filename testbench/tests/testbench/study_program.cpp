// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/testbench/study_program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

namespace vinic::testbench {

const char* const trivial_workload = R"(
description "One row"
local n = argument { name = "n", default = 1, min = 0, max = 100000, help = "The value" }
local fate = argument { name = "fate", default = "well", help = "How it ends" }
process(0, function()
    row("size_bytes", n, "value_us", n * 1.5)
    check(fate ~= "check", "as told")
    if fate == "error" then error("as told") end
    if fate == "hang" then while true do end end
    if fate == "memory" then local all = ("x"):rep(1 << 30) end
end)
)";

running_study::running_study(const program& in) : process_(::fork()) {
    if (process_ != 0) return;
    if (::chdir(in.folder().c_str()) != 0 || !std::freopen("/dev/null", "w", stdout)) ::_exit(99);
    ::execl(VINIC_BINARY_DIR "/vinic", "vinic", "study", "run", "s.yaml", nullptr);
    ::_exit(99);
}

int running_study::end(int signal) {
    ::kill(process_, signal);
    int status = 0;
    ::waitpid(process_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void expect_same_when_killed(int times, int points) {
    const program vinic, undisturbed;
    const std::string text =
        fmt::format("workload: ./t.lua\naxes:\n - arguments.n: {{from: 1, to: {}, step: 1}}\n", points);
    for (const program* in : {&undisturbed, &vinic}) {
        in->write("t.lua", trivial_workload);
        in->write("s.yaml", text);
    }
    ASSERT_EQ(undisturbed.run("study run s.yaml").status, 0);
    unsigned random = 1;
    for (int i = 0; i < times; ++i) {
        running_study run(vinic);
        random = random * 1103515245 + 12345;
        std::this_thread::sleep_for(std::chrono::milliseconds(100 + random / 65536 % 900));
        run.end(SIGKILL);
    }
    const auto last = vinic.run("study run s.yaml");
    EXPECT_EQ(last.status, 0) << last.errors;
    const auto expected = undisturbed.run("study export s.yaml --csv");
    EXPECT_EQ(vinic.run("study export s.yaml --csv").output, expected.output);
    EXPECT_EQ(std::ranges::count(expected.output, '\n'), points + 1);
}

}  // namespace vinic::testbench
