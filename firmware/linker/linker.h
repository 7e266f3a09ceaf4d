// SPDX-License-Identifier: Apache-2.0
// Links LANai objects into one image (there is no other linker for LANai: facts/lanai_pcix.md A10).
//
// Memory, from address 0: code (the entry's section first), read-only data, .init_array, data, bss, stack,
// free SRAM. Symbols of the linker: __init_array_start, __init_array_end, __bss_start, __bss_end,
// __stack_limit, __stack_top,
// __heap_start (everything from there on is free).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "firmware/linker/object.h"

namespace vinic::linker {

struct link_options {
    std::string entry = "_start";
    std::uint32_t memory_bytes = 2u << 20;  // all that -mcmodel=small reaches
    std::uint32_t stack_bytes = 16u << 10;
};

// Throws image_error. Nothing is written unless everything fits.
void link(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output,
          const link_options& options);

}  // namespace vinic::linker
