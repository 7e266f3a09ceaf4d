// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hw/host/process.h"

namespace vinic::driver {

/// Mutual exclusion of processes in kernel mode, first come, first served: who gives it up hands it over,
/// since another could take it before the one that was woken runs.
class kernel_mutex {
public:
    explicit kernel_mutex(const std::string& what) : free_("the lock of " + what) {}

    class guard {
    public:
        guard(kernel_mutex& mutex, host::process& on) : mutex_(mutex) {
            if (mutex_.held_) on.block(mutex_.free_);
            mutex_.held_ = true;
        }
        ~guard() { mutex_.held_ = mutex_.free_.wake_one(); }
        guard(const guard&) = delete;
        guard& operator=(const guard&) = delete;

    private:
        kernel_mutex& mutex_;
    };

private:
    host::wait_queue free_;
    bool held_ = false;
};

}  // namespace vinic::driver
