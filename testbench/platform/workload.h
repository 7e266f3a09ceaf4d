// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include <cstdint>
#include <deque>
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

namespace vinic::driver {
class socket_layer;
}  // namespace vinic::driver

namespace vinic::testbench {

class measurement;
class node;
class results;

/// What a process of a workload runs in.
struct process_environment {
    unsigned node = 0;
    unsigned index = 0;  ///< among the workload's processes
    host::process& self;
    host::address_space& memory;
    results& report;
    measurement& measured;
    std::deque<sc_core::sc_event>& events;    ///< for events that live as long as the platform does
    driver::socket_layer* sockets = nullptr;  ///< of the node; null: it has none
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

/// What the command line says about a workload.
struct workload_options {
    std::vector<std::string> arguments;  ///< "name=value"
    std::uint64_t nodes = 2;
    std::uint64_t cards = 1;  ///< of each node
    std::uint64_t seed = 1;
    bool unsafe = false;                        ///< scripts may use io, os, package and debug
    std::string transport = "vi";               ///< that of the design: vi, udp or tcp
    std::vector<std::string> transports{"vi"};  ///< those that the design's cards have
};

/// Programs for the simulated machines: a script or C++ written against vipl.h.
class workload {
public:
    virtual ~workload() = default;
    virtual std::string description() const = 0;
    /// As they are in this run.
    virtual const std::vector<workload_argument>& arguments() const = 0;
    virtual std::vector<workload_process> processes() = 0;
    /// Before the simulation starts, for each node: a device that the workload plugs into it (by the buses'
    /// own `attach`); the platform keeps it. Null: none.
    virtual std::unique_ptr<sc_core::sc_module> device_for(node&) { return nullptr; }
    /// How many rows it will report; 0 when it does not know.
    virtual std::size_t expected_rows() const { return 0; }
    /// Of what it was made from, for the provenance.
    virtual std::string sha256() const = 0;
};

}  // namespace vinic::testbench
