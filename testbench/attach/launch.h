// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace vinic::testbench {

/// A program as the command line names it.
struct program_command {
    std::vector<std::string> words;        ///< the program and its arguments
    std::vector<std::string> environment;  ///< "NAME=VALUE", beside those that every program gets
};

/// The file that a command means, as a shell would find it. Throws input_error.
std::string find_program(const std::string& name);

/// Starts it with address-space randomisation off, in an environment that does not depend on who calls but
/// for PATH, HOME and LD_LIBRARY_PATH, padded so that its stack begins at the same place whatever they are.
/// `reads_input`: it has standard input. Throws input_error.
pid_t launch(const program_command& what, bool reads_input);

}  // namespace vinic::testbench
