// SPDX-License-Identifier: Apache-2.0
// Traces as they were when last looked at: traces/examples holds one of each kind, from a real run. They
// prove nothing; testbench/tests/regenerate writes them anew, in a commit that says what changed and why.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "testbench/report/sha256.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

const std::filesystem::path examples = VINIC_SOURCE_DIR "/traces/examples";

/// A line of commands.txt: the file, and the arguments of vinic that write it.
struct example {
    std::string file;
    std::string arguments;
};

std::vector<example> all_examples() {
    std::ifstream list(examples / "commands.txt");
    std::vector<example> all;
    for (std::string line; std::getline(list, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream words(line);
        example one;
        words >> one.file >> std::ws;
        std::getline(words, one.arguments);
        all.push_back(one);
    }
    return all;
}

class golden : public testing::TestWithParam<example> {};

TEST_P(golden, trace_is_as_it_was) {
    const auto& [file, arguments] = GetParam();
    const program vinic;
    // Where programs are that are attached.
    const auto outcome = vinic.run(arguments, "PATH=\"" VINIC_BINARY_DIR "/tests/attached:$PATH\"");
    if (outcome.errors.find("FST is not available") != std::string::npos) GTEST_SKIP() << outcome.errors;
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    if (file.ends_with(".fst")) {
        // Its bytes depend on when it was flushed.
        const auto compared = vinic.run("compare " + (examples / file).string() + " " + file);
        EXPECT_EQ(compared.status, 0) << compared.output << compared.errors;
        return;
    }
    EXPECT_TRUE(vinic.read(file) == read_file(examples / file)) << "vinic " << arguments;
}

INSTANTIATE_TEST_SUITE_P(run, golden, testing::ValuesIn(all_examples()));

}  // namespace
}  // namespace vinic::testbench
