// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "testbench/report/table.h"

namespace vinic::testbench {

namespace {

std::uint64_t cycles_of(const lanai::pc_profile& p) {
    return p.issues + p.load_use_cycles + p.slot_cycles + p.register_cycles;
}

void add_to(lanai::pc_profile& sum, const lanai::pc_profile& p) {
    sum.issues += p.issues;
    sum.load_use_cycles += p.load_use_cycles;
    sum.slot_cycles += p.slot_cycles;
    sum.register_cycles += p.register_cycles;
    sum.skipped += p.skipped;
}

}  // namespace

void profile::add(const std::vector<lanai::pc_profile>& counts) {
    counts_.resize(std::max(counts_.size(), counts.size()));
    for (std::size_t i = 0; i < counts.size(); ++i) add_to(counts_[i], counts[i]);
}

template <typename Name>
json profile::rows_by(const char* what, Name name) const {
    std::map<std::string, lanai::pc_profile> sums;
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i].issues == 0) continue;
        add_to(sums[name(static_cast<std::uint32_t>(4 * i))], counts_[i]);
        all += cycles_of(counts_[i]);
    }
    std::vector<std::pair<std::string, lanai::pc_profile>> sorted(sums.begin(), sums.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return cycles_of(a.second) > cycles_of(b.second); });
    json rows = json::array();
    for (const auto& [place, p] : sorted)
        rows.push_back(
            {{what, place},
             {"cycles", cycles_of(p)},
             {"share_percent", 100.0 * static_cast<double>(cycles_of(p)) / static_cast<double>(all)},
             {"instructions", p.issues},
             {"load_use_cycles", p.load_use_cycles},
             {"slot_cycles", p.slot_cycles},
             {"register_cycles", p.register_cycles}});
    return rows;
}

json profile::functions() const {
    return rows_by("function", [this](std::uint32_t pc) {
        const auto* function = image_.function_at(pc);
        return function ? linker::demangle(function->name) : std::string("?");
    });
}

json profile::lines() const {
    return rows_by("line", [this](std::uint32_t pc) {
        const auto line = image_.line_at(pc);
        return line ? fmt::format("{}:{}", line->file, line->line) : std::string("?");
    });
}

std::string profile::to_text(bool colours) const {
    return "firmware cycles by function, all cores\n" + table_of_rows(functions(), colours) +
           "\nfirmware cycles by source line, all cores\n" + table_of_rows(lines(), colours);
}

}  // namespace vinic::testbench
