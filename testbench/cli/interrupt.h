// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace vinic::testbench {

/// The user stopped the run with Ctrl-C (or SIGTERM, SIGHUP): exit status 130.
class interrupted : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// While it lives, SIGINT, SIGTERM and SIGHUP only raise a flag; a second one, later, ends the program at
/// once.
class interrupt_guard {
public:
    interrupt_guard();
    ~interrupt_guard();
    interrupt_guard(const interrupt_guard&) = delete;
    interrupt_guard& operator=(const interrupt_guard&) = delete;

    /// Also where no guard lives: nothing was raised then.
    static bool raised();
    /// It was Ctrl-C: neither a signal to end, nor a terminal that has gone.
    static bool by_user();
};

}  // namespace vinic::testbench
