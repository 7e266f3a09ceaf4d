// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {

/// A workload that sends nothing: one row, or an end of the kind that it is told.
extern const char* const trivial_workload;

/// `vinic study run s.yaml`, or another verb, in a process of its own.
class running_study {
public:
    explicit running_study(const program& in, const std::vector<std::string>& options = {},
                           const std::string& verb = "run");
    /// Sends a signal; the exit status, or minus the signal that ended it.
    int end(int signal);
    bool has_ended() const;
    pid_t process() const { return process_; }

private:
    pid_t process_;
    bool has_ended_ = false;
    int status_ = 0;
};

/// Processes that work in a folder.
std::vector<pid_t> processes_in(const std::filesystem::path& folder);

/// Runs a study of so many points on an engine, local or slurm, of which so many times at random moments the
/// study, one of its workers, or all are killed; expects what an undisturbed run on this machine gives, byte
/// for byte.
void expect_same_when_killed(int times, int points, const std::string& engine);

/// Whether something holds within half a minute.
template <typename Condition>
bool soon(Condition&& holds) {
    for (int i = 0; i < 600; ++i) {
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
}

}  // namespace vinic::testbench
