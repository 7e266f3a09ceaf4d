// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testbench/report/json.h"

namespace vinic::host {
class address_space;
class process;
}  // namespace vinic::host

namespace vinic::testbench {

class results;

/// What a process of a workload runs in.
struct process_environment {
    unsigned node = 0;
    unsigned index = 0;  ///< among the workload's processes
    host::process& self;
    host::address_space& memory;
    results& report;
};

struct workload_process {
    unsigned node = 0;
    std::string name;
    std::function<void(process_environment&)> body;
};

struct workload_argument {
    std::string name;
    std::string value;
    std::string default_text;
    std::string unit;
    std::string help;
};

/// Programs for the simulated machines: a script or C++ written against vipl.h.
class workload {
public:
    virtual ~workload() = default;
    virtual std::string description() const = 0;
    /// As they are in this run.
    virtual const std::vector<workload_argument>& arguments() const = 0;
    virtual std::vector<workload_process> processes() = 0;
};

}  // namespace vinic::testbench
