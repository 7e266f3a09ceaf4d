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
    bool real_time = false;
    unsigned grace_ms = 100;
    std::string command;  ///< the whole command line, for the provenance
};
/// The exit status of the programs when they ran to their end; else as of every verb.
int exec(const exec_options&);

}  // namespace vinic::testbench
