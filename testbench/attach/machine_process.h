// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace vinic::testbench {

/// A process of the machine, whoever started it.
class machine_process {
public:
    /// `ours`: a child, whose exit status the kernel keeps for us and which ends with us.
    machine_process(pid_t number, bool ours);
    /// A child that still runs is killed, with those that it has started.
    ~machine_process();
    machine_process(const machine_process&) = delete;
    machine_process& operator=(const machine_process&) = delete;

    pid_t number() const { return number_; }
    bool ours() const { return ours_; }
    /// Looks whether it has ended.
    bool ended();
    /// A file of its, also ours; -1: it has none of that number.
    int copy_of(int file) const;
    /// As a shell says it; 0 of one that is not ours.
    int exit_status() const;
    /// That ended it; 0: none did, or it is not known.
    int signal() const;

private:
    void note(int status);

    pid_t number_;
    bool ours_;
    int file_ = -1;  ///< of the kernel's for a process; readable when it has ended
    bool ended_ = false;
    int status_ = 0;
};

}  // namespace vinic::testbench
