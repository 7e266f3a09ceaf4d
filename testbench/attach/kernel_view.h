// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace vinic::testbench {

/// What the machine's kernel says about a thread.
struct thread_view {
    pid_t thread;
    char state;            ///< as in /proc: R, S, D, T, Z ...
    std::uint64_t run_ns;  ///< how long it has had a processor
    std::uint64_t slices;  ///< how often: a thread found asleep twice with the same has not run between
};

/// The name of a process, as the kernel keeps it: cut after 15 bytes.
std::string name_of(pid_t process);

/// The threads of a process, by number; empty when there is no such process.
std::vector<thread_view> threads_of(pid_t process);

/// Asleep for something that somebody has to do; a thread that sleeps on the disk, or that is stopped, goes
/// on.
bool blocked(const thread_view& t);

/// Whether a signal that was sent to it has not reached it.
bool signal_pending(pid_t process, int signal);

/// Whether it has memory that other processes may write, beside ours.
bool shares_memory(pid_t process);

/// The children of a process and theirs, by number.
std::vector<pid_t> descendants_of(pid_t process);

}  // namespace vinic::testbench
