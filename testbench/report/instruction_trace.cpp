// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/instruction_trace.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>

#include "hw/nic/lanai/isa.h"
#include "hw/sim/error.h"

namespace vinic::testbench {

namespace {

bool matches(const std::string& glob, const std::string& name) {
    return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

std::string did_you_mean(const std::string& what, const std::vector<std::string>& names) {
    const std::string near = sim::nearest_name(what, names);
    return near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near);
}

/// Which of the cores are of one of these names, or on a node that is.
std::vector<bool> chosen(const std::vector<std::string>& globs, const std::vector<std::string>& cores) {
    std::vector<bool> wanted(cores.size(), globs.empty());
    std::vector<std::string> known = cores;
    for (const std::string& core : cores) known.push_back(core.substr(0, core.find('.')));
    for (const std::string& glob : globs) {
        bool any = false;
        for (std::size_t i = 0; i < known.size(); ++i)
            if (matches(glob, known[i])) any = wanted[i % cores.size()] = true;
        if (!any)
            throw sim::input_error("--itrace-node {}: no core matches{}", glob, did_you_mean(glob, known));
    }
    return wanted;
}

struct address_range {
    std::uint32_t first, last;
};

address_range parse_addresses(const std::string& text) {
    const auto parse = [&](const std::string& one) {
        std::uint32_t address = 0;
        const char* const end = one.data() + one.size();
        if (one.starts_with("0x")) {
            const auto [rest, error] = std::from_chars(one.data() + 2, end, address, 16);
            if (error == std::errc{} && rest == end && address % 4 == 0) return address;
        }
        throw sim::input_error(
            "--itrace-address {}: expected addresses of instructions, as in 0x1234 or 0x1234-0x1300", text);
    };
    const std::size_t dash = text.find('-');
    const std::uint32_t first = parse(text.substr(0, dash));
    const std::uint32_t last = dash == std::string::npos ? first : parse(text.substr(dash + 1));
    if (last < first) throw sim::input_error("--itrace-address {}: ends before it begins", text);
    return {first, last};
}

/// For each word of the image whether it is code that the filter lets through; empty: all of it.
std::vector<bool> chosen(const instruction_filter& filter, const linker::image& image) {
    if (filter.functions.empty() && filter.addresses.empty()) return {};
    std::vector<bool> of_function(image.end() / 4 + 1, filter.functions.empty());
    std::vector<std::string> names;
    std::vector<bool> matched(filter.functions.size());
    for (const linker::image_symbol& s : image.symbols()) {
        if (!s.function) continue;
        names.push_back(linker::demangle(s.name));
        for (std::size_t i = 0; i < filter.functions.size(); ++i) {
            if (!matches(filter.functions[i], names.back())) continue;
            matched[i] = true;
            for (std::uint32_t pc = s.address; pc < s.address + s.size; pc += 4)
                if (image.function_at(pc) == &s) of_function.at(pc / 4) = true;
        }
    }
    for (std::size_t i = 0; i < matched.size(); ++i)
        if (!matched[i])
            throw sim::input_error("--itrace-function {}: the firmware has no such function{}",
                                   filter.functions[i], did_you_mean(filter.functions[i], names));
    if (filter.addresses.empty()) return of_function;
    std::vector<bool> wanted(of_function.size());
    for (const std::string& text : filter.addresses) {
        const address_range range = parse_addresses(text);
        bool any = false;
        for (std::uint64_t pc = range.first; pc <= range.last && pc / 4 < wanted.size(); pc += 4) {
            any = any || image.function_at(static_cast<std::uint32_t>(pc));
            wanted[pc / 4] = of_function[pc / 4];
        }
        if (!any) throw sim::input_error("--itrace-address {}: no function of the firmware lies there", text);
    }
    return wanted;
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
                                     std::vector<std::string> cores, const instruction_filter& filter,
                                     traces::window when)
    : recorder(std::vector<sim::probe*>{}, std::move(when)),
      image_(image),
      cores_(std::move(cores)),
      core_wanted_(chosen(filter.cores, cores_)),
      wanted_(chosen(filter, image)),
      file_(path) {}

/// Of what was given before, little is later than the first of these.
void instruction_trace::give(const std::vector<instruction>& more) {
    if (more.empty()) return;
    const sim::picoseconds first = std::ranges::min(more, {}, &instruction::at).at;
    const auto behind = std::ranges::lower_bound(pending_, first, {}, &instruction::at) - pending_.begin();
    pending_.insert(pending_.end(), more.begin(), more.end());
    std::stable_sort(pending_.begin() + behind, pending_.end(),
                     [](const instruction& a, const instruction& b) {
                         return a.at != b.at ? a.at < b.at : a.core < b.core;
                     });
}

/// Whether the window is open then is known by now.
void instruction_trace::write_until(sim::picoseconds before) {
    const auto later = std::ranges::lower_bound(pending_, before, {}, &instruction::at);
    const sim::picoseconds from =
        shown_window().everything() ? 0 : shown_window().opened_at().value_or(sim::never);
    const sim::picoseconds to = shown_window().closed_at().value_or(sim::never);
    for (auto one = pending_.begin(); one != later; ++one)
        if (one->at >= from && one->at <= to) write(*one);
    pending_.erase(pending_.begin(), later);
    file_.flush();
}

void instruction_trace::write(const instruction& h) {
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
