// SPDX-License-Identifier: Apache-2.0
#include "traces/vcd_writer.h"

#include <algorithm>

#include "hw/sim/probe.h"

namespace vinic::traces {

namespace {

/// VCD identifiers are printable characters from ! to ~.
std::string identifier(std::uint32_t n) {
    constexpr std::uint32_t base = '~' - '!' + 1;
    std::string id;
    do {
        id += static_cast<char>('!' + n % base);
        n /= base;
    } while (n);
    return id;
}

std::vector<std::string> split(const std::string& name) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (std::size_t dot; (dot = name.find('.', from)) != std::string::npos; from = dot + 1)
        parts.push_back(name.substr(from, dot - from));
    parts.push_back(name.substr(from));
    return parts;
}

/// A string value ends at white space.
std::string as_text(std::string text) {
    std::ranges::replace(text, ' ', '_');
    return "s" + text + " ";
}

std::string as_bits(unsigned width, std::uint64_t bits, std::uint64_t floating) {
    std::string digits(width, '0');
    for (unsigned i = 0; i < width; ++i) {
        const unsigned bit = width - 1 - i;
        digits[i] = (floating >> bit) & 1 ? 'z' : ((bits >> bit) & 1 ? '1' : '0');
    }
    return width == 1 ? digits : "b" + digits + " ";
}

bool is_text(const sim::probe& p) {
    if (p.kind_of() == sim::probe::kind::span) return true;
    return p.kind_of() == sim::probe::kind::value &&
           !static_cast<const sim::value_probe&>(p).states().empty();
}

std::string variable(const sim::probe& p, const std::string& leaf, std::uint32_t index) {
    if (is_text(p)) return fmt::format("$var string 1 {} {} $end\n", identifier(index), leaf);
    if (p.kind_of() == sim::probe::kind::packet)
        return fmt::format("$var event 1 {} {} $end\n", identifier(index), leaf);
    const unsigned width = static_cast<const sim::value_probe&>(p).width_bits();
    if (width == 1) return fmt::format("$var wire 1 {} {} $end\n", identifier(index), leaf);
    return fmt::format("$var wire {} {} {} [{}:0] $end\n", width, identifier(index), leaf, width - 1);
}

}  // namespace

vcd_writer::vcd_writer(const std::string& path, const std::vector<std::string>& scopes)
    : recorder(scopes), file_(path), shown_(probes().size()), open_spans_(probes().size()) {
    write_header();
}

void vcd_writer::write_header() {
    file_.print("$version vinic $end\n$timescale 1 ps $end\n");
    std::vector<std::string> scope;
    for (std::uint32_t i = 0; i < probes().size(); ++i) {
        std::vector<std::string> path = split(probes()[i]->name());
        const std::string leaf = path.back();
        path.pop_back();
        const auto common = static_cast<std::size_t>(std::ranges::mismatch(scope, path).in1 - scope.begin());
        for (std::size_t k = scope.size(); k > common; --k) file_.print("$upscope $end\n");
        for (std::size_t k = common; k < path.size(); ++k) file_.print("$scope module {} $end\n", path[k]);
        scope = path;
        file_.print("{}", variable(*probes()[i], leaf, i));
    }
    for (std::size_t k = scope.size(); k > 0; --k) file_.print("$upscope $end\n");
    file_.print("$enddefinitions $end\n$dumpvars\n");
    for (std::uint32_t i = 0; i < probes().size(); ++i) {
        const sim::probe& p = *probes()[i];
        if (p.kind_of() != sim::probe::kind::value) continue;
        const unsigned width = static_cast<const sim::value_probe&>(p).width_bits();
        file_.print("{}{}\n", is_text(p) ? "s? " : width == 1 ? "x" : "bx ", identifier(i));
    }
    file_.print("$end\n");
}

void vcd_writer::write_change(std::uint32_t probe, const std::string& value) {
    shown_[probe] = value;
    file_.print("{}{}\n", value, identifier(probe));
}

void vcd_writer::emit(const record& r) {
    const sim::probe& p = *probes()[r.probe];
    std::string value;
    switch (r.what) {
        case record::kind::value: {
            const auto& v = static_cast<const sim::value_probe&>(p);
            if (v.states().empty())
                value = as_bits(v.width_bits(), r.bits, r.floating);
            else
                value = as_text(r.bits < v.states().size() ? v.states()[r.bits] : fmt::format("{}", r.bits));
            break;
        }
        case record::kind::span_begin:
            ++open_spans_[r.probe];
            value = as_text(r.text_with_fields());
            break;
        case record::kind::span_end:
            if (--open_spans_[r.probe] > 0) return;
            value = as_text("");
            break;
        case record::kind::packet:
            value = "1";
            break;
    }
    if (r.what != record::kind::packet && value == shown_[r.probe]) return;
    if (time_ != r.at) file_.print("#{}\n", r.at);
    time_ = r.at;
    write_change(r.probe, value);
}

}  // namespace vinic::traces
