// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hw/sim/simulation.h"
#include "testbench/report/json.h"

namespace vinic::testbench {

/// Whether a hierarchical name matches what a user typed: a part of it, or a pattern with * and ? for all of
/// it. Empty matches everything.
bool matches(const std::string& name, const std::string& pattern);

/// Statistics whose names match, as rows, by name; with their values as of now, or with their help.
json statistics_of(const sim::simulation& of, const std::string& pattern, bool values);

/// The parameters whose names match, as rows, by name.
json parameters_of(sim::simulation& of, const std::string& pattern);

}  // namespace vinic::testbench
