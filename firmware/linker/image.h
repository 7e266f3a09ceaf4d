// SPDX-License-Identifier: Apache-2.0
// A linked firmware image: what goes into the card's SRAM, and which function and source line an address
// belongs to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "firmware/linker/object.h"

namespace vinic::linker {

struct image_segment {
    std::uint32_t address = 0;
    std::uint32_t memory_bytes = 0;  // from bytes.size() on: zeros
    bool executable = false, writable = false;
    std::vector<std::uint8_t> bytes;
};

struct image_symbol {
    std::string name;  // as linked (mangled)
    std::uint32_t address = 0, size = 0;
    bool function = false, object = false;
};

struct image_section {
    std::string name;
    std::uint32_t address = 0, size = 0;
    bool loaded = false;
};

struct source_line {
    std::string file;  // as the compiler was given it, made absolute by its directory
    unsigned line = 0;
};

// C++ names as people write them; other names unchanged.
std::string demangle(const std::string& name);

class image {
public:
    // Throws image_error: missing, not ELF, not a linked LANai image, damaged.
    explicit image(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    std::uint32_t entry() const { return entry_; }
    const std::vector<image_segment>& segments() const { return segments_; }
    const std::vector<image_section>& sections() const { return sections_; }
    const std::vector<image_symbol>& symbols() const { return symbols_; }  // by address
    // One past the highest byte of any segment, and of the stack.
    std::uint32_t end() const;

    std::optional<std::uint32_t> address_of(const std::string& symbol) const;
    // The big-endian word that the image loads there, if it does.
    std::optional<std::uint32_t> word_at(std::uint32_t address) const;
    // The function that holds the address, nullptr when none does.
    const image_symbol* function_at(std::uint32_t address) const;
    std::optional<source_line> line_at(std::uint32_t address) const;
    // "function file:line", as far as known.
    std::string describe(std::uint32_t address) const;

private:
    struct row {
        std::uint32_t address;
        std::uint32_t file;  // index in files_
        std::uint32_t line;  // 0: no source from here on
    };

    std::filesystem::path path_;
    std::uint32_t entry_ = 0;
    std::vector<image_segment> segments_;
    std::vector<image_section> sections_;
    std::vector<image_symbol> symbols_;
    std::vector<const image_symbol*> functions_;
    std::vector<std::string> files_;
    std::vector<row> rows_;
};

}  // namespace vinic::linker
