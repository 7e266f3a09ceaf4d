// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "testbench/attach/kernel_view.h"

namespace vinic::testbench {

/// The processes below the simulator that are no programs of it: a launcher, its daemons, shells, what programs
/// have started, also when who started it has ended. Programs may wait for them, so simulated time stands while
/// one of their threads runs.
class bystanders {
public:
    /// From here on those whose parents end stay below the simulator.
    bystanders();
    /// They are killed.
    ~bystanders();
    bystanders(const bystanders&) = delete;
    bystanders& operator=(const bystanders&) = delete;

    /// Whether no thread of them runs. `seen`: their threads are added. `programs`: who is none.
    bool all_stand(const std::set<pid_t>& programs, thread_runs& seen);
    /// Takes threads that have had a processor for longer than `grace` since `expect` for standing; how many.
    unsigned excuse_those_that_run(std::chrono::nanoseconds grace);
    void expect() { running_.clear(); }

private:
    std::vector<pid_t> found_;
    std::map<pid_t, std::uint64_t> running_;  ///< nanoseconds that they had had a processor
    std::set<pid_t> excused_;
};

}  // namespace vinic::testbench
