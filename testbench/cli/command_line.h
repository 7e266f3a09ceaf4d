// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace vinic::testbench {

/// The exit status of vinic.
enum class status { done = 0, failed = 1, bad_input = 2, model_error = 3, interrupted = 130 };

/// The whole program: arguments without the program's name. Says what went wrong on standard error.
status run_command_line(std::vector<std::string> arguments);

}  // namespace vinic::testbench
