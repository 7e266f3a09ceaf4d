// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {

/// A workload that sends nothing: one row, or an end of the kind that it is told.
extern const char* const trivial_workload;

/// `vinic study run s.yaml` in a process of its own.
class running_study {
public:
    explicit running_study(const program& in);
    /// Sends a signal; the exit status, or minus the signal that ended it.
    int end(int signal);

private:
    pid_t process_;
};

/// Runs a study of so many points, killed so many times at random moments, and expects what an undisturbed
/// run gives, byte for byte.
void expect_same_when_killed(int times, int points);

}  // namespace vinic::testbench
