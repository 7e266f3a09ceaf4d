// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "testbench/cli/command_line.h"
#include "testbench/cli/options.h"

namespace vinic::testbench {

struct exec_options : simulation_options {
    std::vector<std::string> programs;  ///< what followed "--": PROGRAM ARGS [: PROGRAM ARGS]
    std::optional<std::uint64_t> processes;
    std::vector<unsigned> map;             ///< node of each process; empty: one after the other
    std::vector<std::string> environment;  ///< "NAME=VALUE", or "NAME" for the caller's
    bool launcher = false;                 ///< the program starts the processes, as mpirun does
    bool real_time = false;
    std::string record;  ///< where the trace of calls goes; empty: nowhere
    unsigned grace_ms = 100;
    double cpu_scale = 0;
    std::string command;  ///< the whole command line, for the provenance
};
/// The exit status of the programs when they ran to their end; else as of every verb.
int exec(const exec_options&);

struct serve_options : exec_options {
    std::string socket;
};
int serve(const serve_options&);

}  // namespace vinic::testbench
