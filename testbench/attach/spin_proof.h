// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace vinic::testbench {

/// A thread of a program that is stopped while it spins on memory.
class spin_proof {
public:
    ~spin_proof() { release(); }
    spin_proof() = default;
    spin_proof(const spin_proof&) = delete;
    spin_proof& operator=(const spin_proof&) = delete;

    /// Steps the thread through its loop. True: all its registers came back with no store and no system call
    /// between, so it will go round for ever unless its memory changes; it is stopped then. False: it is not
    /// known to, and runs.
    bool prove(pid_t thread);
    /// Whether it still goes round, after its memory may have changed; if not, it runs.
    bool still();
    void release();
    bool holds() const { return thread_ != 0; }
    pid_t thread() const { return thread_; }

private:
    bool goes_round();

    pid_t thread_ = 0;
    std::vector<std::uint64_t> loop_;  ///< addresses of its instructions; empty: not known yet
};

}  // namespace vinic::testbench
