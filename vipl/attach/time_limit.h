// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <errno.h>
#include <signal.h>
#include <time.h>

#include <cstdint>

#include "vipl/attach/channel.h"

namespace vinic::vipl::attach {

/// While it lives, the simulator ends what the thread waits in when simulated time has come so far: a call
/// that signals end by EINTR, any other by `deadline`.
class time_limit {
public:
    time_limit(slot& s, std::uint64_t ps, bool from_now);
    ~time_limit();
    time_limit(const time_limit&) = delete;
    time_limit& operator=(const time_limit&) = delete;

    bool expired() const { return slot_.limit == limit::expired; }
    /// Of a call that has returned -1.
    bool ended_it() const { return errno == EINTR && expired(); }

    /// A time that the machine does not reach, and one that has passed when the limit has come. The C library
    /// hands the kernel the same place again after each signal.
    const timespec* deadline() const { return &deadline_; }
    /// The signal has come.
    void pass() { deadline_ = {}; }
    /// Of this thread; null: none.
    static thread_local time_limit* current;

private:
    static constexpr time_t far_s = 4'000'000'000;

    slot& slot_;
    sigset_t mask_;
    timespec deadline_{.tv_sec = far_s, .tv_nsec = 0};
};

}  // namespace vinic::vipl::attach
