// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace vinic::testbench {

/// What the machine's kernel says about a thread.
struct thread_view {
    pid_t thread;
    char state;            ///< as in /proc: R, S, D, T, Z ...
    std::uint64_t run_ns;  ///< how long it has had a processor
    std::uint64_t slices;  ///< how often, by when its state was read
};

/// How often threads that do not run have run, one by one: a thread that is blocked in both of two looks,
/// with the same count, has not run between them. (Of a sum, one that has run and another that has gone would
/// make the same.)
using thread_runs = std::vector<std::pair<pid_t, std::uint64_t>>;

/// The name of a process, as the kernel keeps it: cut after 15 bytes.
std::string name_of(pid_t process);

/// The threads of a process, by number; empty when there is no such process.
std::vector<thread_view> threads_of(pid_t process);

/// Asleep for something that somebody has to do; a thread that sleeps on the disk, or that is stopped, goes
/// on. So does one that has only said that it will sleep: it looks once more at what it waits for, and need
/// not sleep at all.
bool blocked(const thread_view& t);

/// Whether a signal that was sent to it has not reached it.
bool signal_pending(pid_t process, int signal);

/// Whether it has memory that other processes may write, beside ours.
bool shares_memory(pid_t process);

/// The children of a process and theirs, by number. Of a child that was found dead before, the parent has
/// been told when this returns: who lists children waits for the kernel's list of processes, which a process
/// that dies holds until then.
std::vector<pid_t> descendants_of(pid_t process);

}  // namespace vinic::testbench
