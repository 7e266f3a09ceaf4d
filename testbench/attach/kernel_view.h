// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace vinic::testbench {

/// What the machine's kernel says about a thread.
struct thread_view {
    pid_t thread;
    char state;            ///< as in /proc: R, S, D, T, Z ...
    std::uint64_t run_ns;  ///< how long it has had a processor
    std::uint64_t slices;  ///< how often: a thread found asleep twice with the same has not run between
};

/// The threads of a process, by number; empty when there is no such process.
std::vector<thread_view> threads_of(pid_t process);

/// The living children of a process and theirs.
std::vector<pid_t> descendants_of(pid_t process);

}  // namespace vinic::testbench
