// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/instruction_trace.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace vinic::testbench {
namespace {

/// The first word and the core of each line.
std::vector<std::string> lines_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::vector<std::string> all;
    std::string at, cycle, core, rest;
    while (in >> at >> cycle >> core && std::getline(in, rest)) all.push_back(at + ' ' + core);
    return all;
}

// Where a stretch of simulation ends is the machine's affair: the same lines in the same order come out.
TEST(instruction_trace, the_end_of_a_stretch_reaches_no_line) {
    const linker::image image(VINIC_BINARY_DIR "/share/vinic/firmware/myvia.elf");
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "instruction_trace.txt";
    const lanai::instruction_record nothing{};
    {
        instruction_trace trace(file, image, {"node0", "node1"}, {});
        trace.add(1, 10, nothing);
        trace.flush(10);
        trace.add(0, 10, nothing);
        trace.add(0, 12, nothing);
        trace.flush(12);
        trace.flush(sim::never);
    }
    EXPECT_EQ(lines_of(file), (std::vector<std::string>{"10 node0", "10 node1", "12 node0"}));
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace vinic::testbench
