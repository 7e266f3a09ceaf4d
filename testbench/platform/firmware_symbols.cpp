// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/firmware_symbols.h"

#include <algorithm>

#include "firmware/linker/function_code.h"

namespace vinic::testbench {

namespace {

/// Inlined code shorter than this is an expression rather than a step of the firmware.
constexpr std::uint32_t shortest_function_bytes = 64;

}  // namespace

firmware_symbols::firmware_symbols(const linker::image& image) : image_(image) {
    for (const linker::image_symbol& s : image_.symbols())
        if (s.function) mark(s.address, s.address + s.size, linker::demangle(s.name));
    for (const linker::function_code& f : linker::read_function_code(image_.path())) {
        if (f.depth > 0 && f.bytes() < shortest_function_bytes) continue;
        for (const linker::code_interval& i : f.intervals) mark(i.begin, i.end, f.name);
    }
}

void firmware_symbols::mark(std::uint32_t begin, std::uint32_t end, const std::string& function) {
    const auto [number, fresh] =
        numbers_.emplace(function, static_cast<std::uint16_t>(regions_.names.size()));
    if (fresh) regions_.names.push_back(names_.emplace_back(function).c_str());
    if (regions_.of_word.size() < end / 4) regions_.of_word.resize(end / 4);
    std::fill(regions_.of_word.begin() + begin / 4, regions_.of_word.begin() + end / 4, number->second);
}

std::optional<nic::code_location> firmware_symbols::locate(std::uint32_t pc) const {
    const linker::image_symbol* function = image_.function_at(pc);
    if (!function) return {};
    nic::code_location place{.function = linker::demangle(function->name), .offset = pc - function->address};
    if (const auto line = image_.line_at(pc)) {
        place.file = line->file;
        place.line = line->line;
    }
    return place;
}

}  // namespace vinic::testbench
