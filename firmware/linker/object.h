// SPDX-License-Identifier: Apache-2.0
// A LANai object file as the compiler wrote it: sections, symbols, relocations, COMDAT groups
// (facts/lanai_pcix.md A9, A11).
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace vinic::linker {

inline constexpr unsigned em_lanai = 244;

// A file that cannot be linked or loaded; the text is one line that says which and why.
class image_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

enum relocation_type : std::uint32_t {
    r_lanai_none = 0,
    r_lanai_21 = 1,
    r_lanai_21_f = 2,
    r_lanai_25 = 3,
    r_lanai_32 = 4,
    r_lanai_hi16 = 5,
    r_lanai_lo16 = 6
};

struct relocation {
    std::uint32_t offset = 0;  // in its section
    std::uint32_t type = 0;
    std::uint32_t symbol = 0;  // index in the object's symbols
    std::int32_t addend = 0;
};

struct section {
    std::string name;
    std::uint32_t type = 0, flags = 0, alignment = 1, size = 0;
    std::vector<std::uint8_t> bytes;  // empty for .bss
    std::vector<relocation> relocations;
    // What the linker decides.
    bool kept = false;
    std::uint32_t address = 0;  // of sections in memory; offset in the output section for debug sections
};

struct symbol {
    std::string name;
    std::uint32_t value = 0, size = 0;
    unsigned char binding = 0, type = 0;
    std::uint16_t section = 0;  // index in the object's sections, or SHN_UNDEF, SHN_ABS, SHN_COMMON
};

struct group {
    std::string signature;
    std::vector<std::uint32_t> sections;
};

struct object {
    std::string path;
    std::vector<section> sections;  // same indices as in the file
    std::vector<symbol> symbols;
    std::vector<group> groups;  // COMDAT only
};

// Throws image_error: cannot be opened, not ELF, not a LANai object.
object read_object(const std::filesystem::path& path);

}  // namespace vinic::linker
