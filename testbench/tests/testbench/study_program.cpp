// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/testbench/study_program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

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

running_study::running_study(const program& in, const std::vector<std::string>& options,
                             const std::string& verb)
    : process_(::fork()) {
    if (process_ != 0) return;
    std::vector<std::string> words{"vinic", "study", verb, "s.yaml"};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (::chdir(in.folder().c_str()) != 0 || !std::freopen("/dev/null", "w", stdout)) ::_exit(99);
    ::execv(VINIC_BINARY_DIR "/vinic", arguments.data());
    ::_exit(99);
}

int running_study::end(int signal) {
    if (has_ended_) return status_;
    ::kill(process_, signal);
    ::waitpid(process_, &status_, 0);
    has_ended_ = true;
    return status_ = WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
}

bool running_study::has_ended() const {
    siginfo_t how{};
    return has_ended_ ||
           (::waitid(P_PID, static_cast<id_t>(process_), &how, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            how.si_pid != 0);
}

std::vector<pid_t> processes_in(const std::filesystem::path& folder) {
    std::vector<pid_t> all;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::error_code none;
        if (std::filesystem::read_symlink(entry.path() / "cwd", none) == folder)
            all.push_back(std::stoi(entry.path().filename().string()));
    }
    return all;
}

namespace {

/// The same sequence on every machine.
class dice {
public:
    unsigned below(unsigned limit) {
        state_ = state_ * 1103515245 + 12345;
        return state_ / 65536 % limit;
    }

private:
    unsigned state_ = 1;
};

/// The study, one of its workers, or all of them.
void kill_some(dice& random, running_study& study, const program& in) {
    std::vector<pid_t> workers = processes_in(in.folder());
    std::erase(workers, study.process());
    const unsigned whom = random.below(3);
    if (whom == 1 && !workers.empty()) ::kill(workers[random.below(workers.size())], SIGKILL);
    if (whom == 2)
        for (const pid_t worker : workers) ::kill(worker, SIGKILL);
    if (whom != 1) study.end(SIGKILL);
}

}  // namespace

void expect_same_when_killed(int times, int points, const std::string& engine) {
    const program vinic, undisturbed;
    const std::string text =
        fmt::format("workload: ./t.lua\naxes:\n - arguments.n: {{from: 1, to: {}, step: 1}}\n", points);
    for (const program* in : {&undisturbed, &vinic}) {
        in->write("t.lua", trivial_workload);
        in->write("s.yaml", text);
    }
    ASSERT_EQ(undisturbed.run("study run s.yaml").status, 0);
    dice random;
    const std::vector<std::string> options{"--engine", engine, "--retry"};
    auto study = std::make_unique<running_study>(vinic, options);
    for (int i = 0; i < times; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100 + random.below(900)));
        kill_some(random, *study, vinic);
        if (study->has_ended()) study = std::make_unique<running_study>(vinic, options);
    }
    study->end(SIGKILL);
    // Workers that were killed are points that failed.
    const auto last = vinic.run("study run s.yaml --retry --engine " + engine);
    EXPECT_EQ(last.status, 0) << last.errors;
    const auto expected = undisturbed.run("study export s.yaml --csv");
    EXPECT_EQ(vinic.run("study export s.yaml --csv").output, expected.output);
    EXPECT_EQ(std::ranges::count(expected.output, '\n'), points + 1);
}

}  // namespace vinic::testbench
