// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/instruction_trace.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "hw/nic/lanai/isa.h"
#include "hw/sim/error.h"

namespace vinic::testbench {

namespace {

bool matches(const std::string& glob, const std::string& name) {
    return glob.empty() || ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

std::string operands_of(const lanai::instruction_record& r) {
    const lanai::instruction i = lanai::decode(r.word);
    std::string text;
    const auto add = [&](unsigned reg, std::uint32_t value) {
        if (reg > lanai::reg_pc && (i.reads() >> reg & 1) != 0) text += fmt::format(" r{}={:#x}", reg, value);
    };
    add(i.rs1, r.a);
    if (i.rs2 != i.rs1) add(i.rs2, r.b);
    if (i.is_memory()) text += fmt::format(" [{:#x}]{}{:#x}", r.address, i.store ? "<-" : "=", r.result);
    if (!i.is_memory() && i.writes() != 0) text += fmt::format(" -> r{}={:#x}", i.writes(), r.result);
    return text;
}

}  // namespace

instruction_trace::instruction_trace(const std::string& path, const linker::image& image,
                                     std::vector<std::string> cores, instruction_filter filter)
    : file_(path), image_(image), cores_(std::move(cores)), filter_(std::move(filter)) {
    for (const std::string& core : cores_) core_wanted_.push_back(matches(filter_.core, core));
}

void check_filter(const instruction_filter& filter, const linker::image& image,
                  const std::vector<std::string>& cores) {
    if (std::ranges::none_of(cores, [&](const std::string& core) { return matches(filter.core, core); }))
        throw sim::input_error("--itrace-node {}: matches none of {}", filter.core, fmt::join(cores, ", "));
    std::vector<std::string> functions;
    for (const auto& one : image.symbols())
        if (one.function) functions.push_back(linker::demangle(one.name));
    if (filter.function.empty() ||
        std::ranges::any_of(functions, [&](const auto& one) { return matches(filter.function, one); }))
        return;
    const std::string near = sim::nearest_name(filter.function, functions);
    throw sim::input_error("--itrace-function {}: the firmware has no such function{}", filter.function,
                           near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near));
}

bool instruction_trace::wanted(std::uint32_t pc) {
    if (filter_.function.empty()) return true;
    if (function_wanted_.size() <= pc / 4) function_wanted_.resize(pc / 4 + 1);
    answer& known = function_wanted_[pc / 4];
    if (known == answer::unknown) {
        const auto* function = image_.function_at(pc);
        const bool yes = function && matches(filter_.function, linker::demangle(function->name));
        known = yes ? answer::yes : answer::no;
    }
    return known == answer::yes;
}

void instruction_trace::add(std::size_t core, sim::picoseconds at, const lanai::instruction_record& r) {
    if (core_wanted_[core] && at >= filter_.from && at <= filter_.to && wanted(r.pc))
        pending_.push_back({at, core, r});
}

void instruction_trace::flush(sim::picoseconds before) {
    std::ranges::stable_sort(
        pending_, [](const held& a, const held& b) { return a.at != b.at ? a.at < b.at : a.core < b.core; });
    const auto later = std::ranges::lower_bound(pending_, before, {}, &held::at);
    for (auto h = pending_.begin(); h != later; ++h) write(*h);
    pending_.erase(pending_.begin(), later);
    file_.flush();
}

void instruction_trace::write(const held& h) {
    const auto* function = image_.function_at(h.what.pc);
    const auto line = image_.line_at(h.what.pc);
    std::string text = lanai::disassemble(h.what.word);
    std::ranges::replace(text, '\t', ' ');
    file_.print(
        "{} {} {} {} {:#07x} {} {} ;{}\n", h.at, h.what.issue, cores_[h.core],
        function ? fmt::format("{}+{:#x}", linker::demangle(function->name), h.what.pc - function->address)
                 : "?",
        h.what.pc, line ? fmt::format("{}:{}", line->file, line->line) : "?", text, operands_of(h.what));
}

}  // namespace vinic::testbench
