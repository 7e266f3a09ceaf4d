// SPDX-License-Identifier: Apache-2.0
#include "traces/trace_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <vector>

#include "traces/capture.h"
#include "traces/pcapng.h"
#include "traces/trace_check.h"

namespace vinic::traces {

namespace {

/// A capture as text, a line for each packet.
std::string text_of_packets(std::string_view file) {
    const capture read = read_capture(file);
    std::string text;
    for (const capture::packet& p : read.packets)
        text += fmt::format("{} {} {}: {}: {:02x}\n", p.at, read.interfaces[p.interface].name,
                            (p.flags & pcapng::flag_outbound) != 0 ? "outbound" : "inbound", p.comment,
                            fmt::join(p.bytes, ""));
    return text;
}

std::optional<sim::picoseconds> number_at(std::string_view text) {
    sim::picoseconds value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} ? std::optional(value) : std::nullopt;
}

/// The stamp that a line bears: of a log and a packet in front, of a timeline its ts.
std::optional<sim::picoseconds> stamp_of(std::string_view line) {
    constexpr std::string_view key = "\"ts\":";
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) return number_at(line);
    double microseconds = 0;
    std::from_chars(line.data() + at + key.size(), line.data() + line.size(), microseconds);
    return static_cast<sim::picoseconds>(std::llround(microseconds * 1e6));
}

/// The lines of one file with the last stamp seen.
class stamped_lines {
public:
    explicit stamped_lines(std::string_view file) : lines_(file) {}
    bool next() {
        there_ = lines_.next();
        if (!there_) return false;
        if (const auto at = stamp_of(lines_.line())) at_ = at;
        return true;
    }
    std::string_view line() const { return lines_.line(); }
    std::uint64_t number() const { return lines_.number() + (there_ ? 0 : 1); }
    std::optional<std::string> text() const {
        return there_ ? std::optional<std::string>(line()) : std::nullopt;
    }
    std::optional<sim::picoseconds> at() const { return at_; }

private:
    line_reader lines_;
    bool there_ = false;
    std::optional<sim::picoseconds> at_;
};

using changes = std::vector<waveform::change>;

/// Where two signals first differ: the index of a change.
std::optional<std::size_t> first_difference(const changes& a, const changes& b) {
    const auto [in_a, in_b] = std::ranges::mismatch(a, b);
    if (in_a == a.end() && in_b == b.end()) return std::nullopt;
    return static_cast<std::size_t>(in_a - a.begin());
}

std::uint64_t changes_before(const waveform& of, sim::picoseconds at, const std::string& name) {
    std::uint64_t count = 0;
    for (const auto& [other, all] : of.signals()) {
        const auto end = other < name ? std::ranges::upper_bound(all, at, {}, &waveform::change::at)
                                      : std::ranges::lower_bound(all, at, {}, &waveform::change::at);
        count += static_cast<std::uint64_t>(end - all.begin());
    }
    return count;
}

/// What a waveform has in the place where another one differs.
std::string text_of_change(const waveform& of, const std::string& name, std::size_t index) {
    const auto signal = of.signals().find(name);
    if (signal == of.signals().end()) return "no signal " + name;
    if (index >= signal->second.size()) return name + " does not change any more";
    return name + " " + signal->second[index].value;
}

std::optional<sim::picoseconds> time_of_change(const waveform& of, const std::string& name,
                                               std::size_t index) {
    const auto signal = of.signals().find(name);
    if (signal == of.signals().end() || index >= signal->second.size()) return std::nullopt;
    return signal->second[index].at;
}

}  // namespace

std::optional<trace_difference> first_difference(const waveform& before, const waveform& after) {
    std::set<std::string> names;
    for (const auto& [name, all] : before.signals()) names.insert(name);
    for (const auto& [name, all] : after.signals()) names.insert(name);
    std::optional<trace_difference> first;
    sim::picoseconds first_at = 0;
    std::string first_name;
    for (const std::string& name : names) {
        const auto a = before.signals().find(name), b = after.signals().find(name);
        const bool both = a != before.signals().end() && b != after.signals().end();
        const auto index = both ? first_difference(a->second, b->second) : 0;
        if (!index) continue;
        const auto at_a = time_of_change(before, name, *index), at_b = time_of_change(after, name, *index);
        const sim::picoseconds at = std::min(at_a.value_or(sim::never), at_b.value_or(sim::never));
        if (first && at >= first_at) continue;
        first_at = at;
        first_name = name;
        first = trace_difference{0, text_of_change(before, name, *index), text_of_change(after, name, *index),
                                 at_a, at_b};
    }
    if (first) first->line = changes_before(before, first_at, first_name) + 1;
    return first;
}

std::optional<trace_difference> first_difference(std::string_view before, std::string_view after) {
    if (trace_kind(before) == "packets")
        return first_difference(text_of_packets(before), text_of_packets(after));
    stamped_lines a(before), b(after);
    for (;;) {
        const bool more_a = a.next(), more_b = b.next();
        if (!more_a && !more_b) return std::nullopt;
        if (more_a && more_b && a.line() == b.line()) continue;
        return trace_difference{a.number(), a.text(), b.text(), a.at(), b.at()};
    }
}

}  // namespace vinic::traces
