// SPDX-License-Identifier: Apache-2.0
// Runs whose trajectory is known: a change of it shows, and says what kind of thing changed. The expected
// values prove nothing; testbench/tests/regenerate writes them anew, in a commit that says what changed and
// why.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

constexpr const char* ingredients[] = {"time", "module", "bytes", "packet_order"};

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream rest(text);
    for (std::string part; std::getline(rest, part, at);) parts.push_back(part);
    return parts;
}

/// Columns of the file: arguments of `vinic run`, then one for each ingredient.
std::vector<std::vector<std::string>> expected_rows() {
    std::ifstream file(VINIC_SOURCE_DIR "/testbench/tests/testbench/fingerprints.csv");
    std::vector<std::vector<std::string>> rows;
    std::string line;
    std::getline(file, line);  // names of the columns
    while (std::getline(file, line)) rows.push_back(split(line, ','));
    return rows;
}

class fingerprints : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(fingerprints, as_expected) {
    const auto& row = GetParam();
    ASSERT_EQ(row.size(), 1 + std::size(ingredients));
    const auto outcome = program().run("run --json - --reproducible --fingerprint " + row[0]);
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    const auto found = split(json::parse(outcome.output)["fingerprint"].get<std::string>(), '/');
    ASSERT_EQ(found.size(), std::size(ingredients));
    for (std::size_t i = 0; i < std::size(ingredients); ++i)
        EXPECT_EQ(found[i], row[i + 1]) << ingredients[i] << " of: vinic run " << row[0];
}

INSTANTIATE_TEST_SUITE_P(run, fingerprints, testing::ValuesIn(expected_rows()));

}  // namespace
}  // namespace vinic::testbench
