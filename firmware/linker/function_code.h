// SPDX-License-Identifier: Apache-2.0
// The functions that a linked image was compiled from, those too that the compiler put into the body of
// another one: in optimised firmware that is most of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace vinic::linker {

struct code_interval {
    std::uint32_t begin, end;
};

struct function_code {
    std::string name;  // without namespaces and template arguments
    unsigned depth;    // how many functions it is inlined into
    std::vector<code_interval> intervals;

    std::uint32_t bytes() const;
};

// From the debug information: whoever is inlined comes after the function that holds it. Empty where there is
// none. Throws image_error.
std::vector<function_code> read_function_code(const std::filesystem::path& image);

}  // namespace vinic::linker
