// SPDX-License-Identifier: Apache-2.0
// What README.md tells users to type works: each block of shell commands (```sh) runs as it stands there, one
// after the other in one folder in which `build` and `testbench` are what they are in a checkout. Viewers
// stand in other blocks.
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

namespace fs = std::filesystem;

struct block {
    int line;
    std::string commands;
};

std::vector<block> shell_blocks_of(const fs::path& page) {
    std::ifstream file(page);
    std::vector<block> blocks;
    bool inside = false;
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line == "```sh") {
            inside = true;
            blocks.push_back({number, {}});
        } else if (line == "```") {
            inside = false;
        } else if (inside) {
            blocks.back().commands += line + "\n";
        }
    }
    return blocks;
}

TEST(readme, every_block_of_commands_runs) {
    const program vinic;
    fs::create_directory_symlink(VINIC_BINARY_DIR, vinic.folder() / "build");
    for (const char* room : {"testbench", "firmware", "traces", "vipl"})
        fs::create_directory_symlink(fs::path(VINIC_SOURCE_DIR) / room, vinic.folder() / room);
    const auto blocks = shell_blocks_of(VINIC_SOURCE_DIR "/README.md");
    ASSERT_GE(blocks.size(), 5u);
    for (const auto& [line, commands] : blocks) {
        // These two build and test everything.
        if (commands.find("testbench/run ") != std::string::npos) continue;
        vinic.write("block.sh", commands);
        const std::string run = "cd '" + vinic.folder().string() +
                                "' && timeout 120 sh -e block.sh > block.out 2> block.err < /dev/null";
        EXPECT_EQ(std::system(run.c_str()), 0) << "README.md:" << line << "\n"
                                               << commands << vinic.read("block.err");
    }
}

}  // namespace
}  // namespace vinic::testbench
