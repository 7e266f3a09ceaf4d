// SPDX-License-Identifier: Apache-2.0
// What a run of the program says, for tests that look at numbers.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {

/// The JSON of `vinic run ARGUMENTS`.
inline json result_of(const std::string& arguments) {
    const auto outcome = program().run("run " + arguments);
    EXPECT_EQ(outcome.status, 0) << arguments << "\n" << outcome.errors;
    return outcome.status == 0 ? json::parse(outcome.output) : json::object();
}

/// Over all modules, of the statistics whose name ends so.
inline double sum_of(const json& result, const std::string& statistic) {
    double sum = 0;
    for (const json& one : result["statistics"])
        if (one["statistic"].get<std::string>().ends_with(statistic)) sum += one["value"].get<double>();
    return sum;
}

}  // namespace vinic::testbench
