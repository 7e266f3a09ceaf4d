// SPDX-License-Identifier: Apache-2.0
// Reads DWARF 5 line tables (.debug_line) as clang writes them for LANai. Internal to firmware/linker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vinic::linker {

struct line_row {
    std::uint32_t address;
    std::uint32_t file;  // index in line_table::files
    std::uint32_t line;  // 0: end of a sequence
};

struct line_table {
    std::vector<std::string> files;
    std::vector<line_row> rows;  // in order of address
};

// Units that are not DWARF 5 are passed over; std::out_of_range when the table is cut off.
line_table read_line_table(const std::vector<std::uint8_t>& debug_line,
                           const std::vector<std::uint8_t>& debug_line_str,
                           const std::vector<std::uint8_t>& debug_str);

}  // namespace vinic::linker
