// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include <cstdint>

#include "vipl/attach/channel.h"

namespace vinic::vipl::attach {

/// While it lives, the simulator ends what the thread waits in (EINTR) when simulated time has come so far.
class time_limit {
public:
    time_limit(slot& s, std::uint64_t ps, bool from_now);
    ~time_limit();
    time_limit(const time_limit&) = delete;
    time_limit& operator=(const time_limit&) = delete;

    bool expired() const { return slot_.limit == limit::expired; }
    /// Of a call that has returned -1.
    bool ended_it() const { return errno == EINTR && expired(); }

    /// Which no signal ends: woken instead.
    static thread_local pthread_cond_t* condition;

private:
    slot& slot_;
    sigset_t mask_;
};

}  // namespace vinic::vipl::attach
