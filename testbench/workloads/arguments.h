// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testbench/platform/workload.h"

namespace vinic::testbench {

/// Splits "name=value"; throws input_error.
std::pair<std::string, std::string> split_argument(const std::string& text);

/// Throws input_error, with the nearest name, for an argument that the workload did not declare.
void check_argument_names(const std::string& workload, const workload_options& given,
                          const std::vector<workload_argument>& declared);

/// Declares a whole number between `least` and `most`; returns what was given for it, or the default.
std::uint64_t declare_number(std::vector<workload_argument>& to, const workload_options& given,
                             workload_argument what, std::uint64_t least, std::uint64_t most);

}  // namespace vinic::testbench
