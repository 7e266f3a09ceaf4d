// SPDX-License-Identifier: Apache-2.0
#include "traces/trace_difference.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

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

/// The stamp that a line bears: of a log and a packet in front, of a waveform behind #, of a timeline its ts.
std::optional<sim::picoseconds> stamp_of(std::string_view line) {
    if (line.starts_with("#")) return number_at(line.substr(1));
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

}  // namespace

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
