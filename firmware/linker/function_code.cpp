// SPDX-License-Identifier: Apache-2.0
#include "firmware/linker/function_code.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <limits>
#include <memory>

#include "firmware/linker/elf_file.h"

namespace vinic::linker {

namespace {

std::string name_of(Dwarf_Die& die) {
    Dwarf_Attribute attribute;
    const char* text = nullptr;
    // An inlined function and an out-of-line body have the name of what they are made of.
    if (dwarf_attr_integrate(&die, DW_AT_name, &attribute) != nullptr) text = dwarf_formstring(&attribute);
    const std::string name = text == nullptr ? "" : text;
    return name.substr(0, name.find('<'));
}

std::vector<code_interval> intervals_of(Dwarf_Die& die) {
    std::vector<code_interval> all;
    Dwarf_Addr base = 0, begin = 0, end = 0;
    for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;)
        if (begin < end) all.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
    return all;
}

/// The linker gives what it left out the last address there is.
bool left_out(Dwarf_Die& function) {
    Dwarf_Addr begin = 0;
    return dwarf_lowpc(&function, &begin) == 0 && begin == std::numeric_limits<std::uint32_t>::max();
}

void collect(Dwarf_Die& parent, unsigned depth, std::vector<function_code>& to) {
    Dwarf_Die die;
    if (dwarf_child(&parent, &die) != 0) return;
    do {
        const int tag = dwarf_tag(&die);
        const bool function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        unsigned inside = depth;
        if (function && left_out(die)) continue;
        if (function) {
            function_code code{name_of(die), depth, intervals_of(die)};
            if (!code.name.empty() && !code.intervals.empty()) {
                to.push_back(std::move(code));
                ++inside;
            }
        }
        if (function || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace) collect(die, inside, to);
    } while (dwarf_siblingof(&die, &die) == 0);
}

}  // namespace

std::uint32_t function_code::bytes() const {
    std::uint32_t sum = 0;
    for (const code_interval& i : intervals) sum += i.end - i.begin;
    return sum;
}

std::vector<function_code> read_function_code(const std::filesystem::path& image) {
    const elf_file file(image, ET_EXEC, "linked image");
    const std::unique_ptr<Dwarf, int (*)(Dwarf*)> debug(dwarf_begin_elf(file.get(), DWARF_C_READ, nullptr),
                                                        &dwarf_end);
    std::vector<function_code> all;
    if (!debug) return all;
    Dwarf_Off unit = 0, next = 0;
    std::size_t header = 0;
    while (dwarf_nextcu(debug.get(), unit, &next, &header, nullptr, nullptr, nullptr) == 0) {
        Dwarf_Die die;
        if (dwarf_offdie(debug.get(), unit + header, &die) != nullptr) collect(die, 0, all);
        unit = next;
    }
    return all;
}

}  // namespace vinic::linker
