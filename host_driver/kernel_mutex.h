// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include <set>
#include <string>

#include "hw/host/process.h"

namespace vinic::driver {

/// Mutual exclusion of processes in kernel mode, first come, first served; at one instant the lower process
/// number, and what is given up at an instant is free at it. Who gives it up hands it over, since another
/// could take it before the one that was woken runs.
class kernel_mutex {
public:
    explicit kernel_mutex(const std::string& what) : free_("the lock of " + what) {}

    class guard {
    public:
        guard(kernel_mutex& mutex, host::process& on) : mutex_(mutex) {
            mutex_.asking_.insert(on.number());
            sc_core::wait(sc_core::SC_ZERO_TIME);  // who else asks, or gives up, at this instant?
            const bool first = *mutex_.asking_.begin() == on.number();
            mutex_.asking_.erase(on.number());
            if (mutex_.held_ || !first) on.block(mutex_.free_);
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
    std::set<unsigned> asking_;  ///< process numbers, at this instant
    bool held_ = false;
};

}  // namespace vinic::driver
