// SPDX-License-Identifier: Apache-2.0
// What a run of the program says, for tests that look at numbers.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
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

/// What is printed of the same simulation done in each of these ways is the same bytes.
inline void expect_same_bytes(const std::string& before, const std::string& arguments,
                              std::initializer_list<const char*> ways) {
    const auto run = [&](const std::string& way) {
        const auto outcome = program().run("run " + before + " " + way +
                                           " --reproducible --json - --stats --fingerprint -- " + arguments);
        EXPECT_EQ(outcome.status, 0) << outcome.errors;
        return outcome.output;
    };
    const std::string plain = run("");
    for (const char* way : ways) EXPECT_EQ(plain, run(way)) << way;
}

/// Over all modules, of the statistics whose name ends so: in the whole run, or of its measured part ("value").
inline double sum_of(const json& result, const std::string& statistic, const char* of = "whole_run") {
    double sum = 0;
    for (const json& one : result["statistics"])
        if (one["statistic"].get<std::string>().ends_with(statistic)) sum += one[of].get<double>();
    return sum;
}

}  // namespace vinic::testbench
