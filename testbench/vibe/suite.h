// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/validation/simulations.h"

namespace vinic::testbench::vibe {

/// A program with arguments, and which of the columns that it prints tell rows apart and are shown.
struct test {
    std::string name;
    std::string program;
    std::vector<std::pair<std::string, std::string>> arguments;
    std::string varied;  ///< an argument that takes each of `values_of_varied`; empty: none
    std::vector<std::string> values_of_varied;
    std::vector<std::string> keys;
    std::vector<std::string> values;
};

/// Throws input_error: file, line, what was expected, what is near.
std::vector<test> read_suite(const std::filesystem::path& file);

/// Tests on designs, as one table: a row for each case, a column for each design.
class suite_run {
public:
    struct options {
        std::vector<std::string> designs;   ///< names or files
        std::vector<std::string> settings;  ///< "name=value", of all designs
        std::uint64_t seed = 1;
        std::filesystem::path programs;  ///< the folder where they are
    };
    suite_run(std::vector<test> tests, options on);

    /// What has to be simulated.
    void ask(validation::simulations& of);
    /// Rows of test, case, quantity and a number for each design that has one.
    json rows(const validation::simulations& of) const;
    /// Tests that did not end well on a design, and why.
    json failures(const validation::simulations& of) const;
    /// Tests that a design's card cannot do, and what it cannot.
    json unsupported(const validation::simulations& of) const;

private:
    struct asked {
        std::size_t test;
        std::size_t design;
        std::string varied;  ///< value of the argument that the test varies
        std::size_t run;
    };
    std::vector<std::string> words_of(const test& of, const std::string& varied) const;
    json about(const asked& one, const std::string& why, const validation::simulations& of) const;
    std::string case_of(const test& of, const std::string& varied, const json& row) const;

    std::vector<test> tests_;
    options options_;
    std::vector<asked> asked_;
};

/// "clan" of "clan", "mine" of "./mine.yaml".
std::string name_of(const std::string& design);

}  // namespace vinic::testbench::vibe
