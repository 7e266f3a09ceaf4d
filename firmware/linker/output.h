// SPDX-License-Identifier: Apache-2.0
// A linked image before it is a file. Internal to firmware/linker.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace vinic::linker {

struct output_section {
    std::string name;
    std::uint32_t type, flags, address, size;
    std::vector<std::uint8_t> bytes;
};

struct output_symbol {
    std::string name;
    std::uint32_t value, size;
    unsigned char binding, type;
    std::string section;  // empty: absolute
};

struct output_image {
    std::uint32_t entry = 0;
    std::vector<output_section> sections;
    std::vector<output_symbol> symbols;
};

// Writes an ELF executable; the file appears whole or not at all.
void write_image(const output_image& image, const std::filesystem::path& path);

}  // namespace vinic::linker
