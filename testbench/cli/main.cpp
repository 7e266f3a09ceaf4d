// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/command_line.h"

int main(int count, char** arguments) {
    return static_cast<int>(vinic::testbench::run_command_line({arguments + 1, arguments + count}));
}
