// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hw/sim/time.h"
#include "testbench/tests/vipl/consumer.h"

namespace vinic::testbench {
class node;
}

namespace vinic::vipl::test {

constexpr sim::picoseconds us = 1'000'000;
constexpr sim::picoseconds ms = 1'000 * us;

using settings = std::vector<std::pair<std::string, std::string>>;

/// What a program runs in.
class environment {
public:
    environment(testbench::node& on, host::process& thread, host::address_space& space)
        : machine(on), self(thread), memory(space) {}

    testbench::node& machine;
    host::process& self;
    host::address_space& memory;

    /// A further thread of the program; `join` waits for all of them.
    void thread(const std::function<void(host::process&)>& body);
    void join();
    /// Waits for what another program or thread does; fails the test after a second of simulated time.
    void until(const std::function<bool()>& condition);

private:
    unsigned running_ = 0;
};

/// Nodes of the MyVIA design with their firmware. Programs end by returning; `run` waits for all.
class machines {
public:
    explicit machines(unsigned count = 2, const settings& values = {});
    ~machines();

    void program(unsigned on, std::function<void(environment&)> body);
    void run();
    /// `run` is over soon, whether programs have ended or not.
    void abandon() { abandoned_ = true; }

private:
    struct parts;
    std::unique_ptr<parts> parts_;
    bool abandoned_ = false;
};

/// One program on one machine.
inline void alone(const std::function<void(environment&)>& body, const settings& values = {}) {
    machines m(1, values);
    m.program(0, body);
    m.run();
}

}  // namespace vinic::vipl::test
