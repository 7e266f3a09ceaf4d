// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <iostream>

#include "hw/nic/lanai/isa.h"
#include "testbench/cli/verbs.h"

namespace vinic::testbench {

namespace {

/// What is no number (an unknown value) stays as it is.
std::string assembly_of(const std::string& line) {
    std::uint32_t word = 0;
    const char* const end = line.data() + line.size();
    const auto [rest, error] = std::from_chars(line.data(), end, word, 16);
    if (error != std::errc{} || rest != end) return line;
    std::string text = lanai::disassemble(word);
    std::ranges::replace(text, '\t', ' ');
    return text;
}

}  // namespace

/// GTKWave's protocol of a translate filter process: an answer for each line, at once.
status disassemble() {
    for (std::string line; std::getline(std::cin, line);) std::cout << assembly_of(line) << std::endl;
    return status::done;
}

}  // namespace vinic::testbench
