// SPDX-License-Identifier: Apache-2.0
#include "traces/trace_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "traces/capture.h"
#include "traces/fst_reader.h"
#include "traces/pcapng.h"

namespace vinic::traces {

void trace_summary::fault(std::string what) {
    constexpr std::size_t shown = 20;
    if (faults.size() < shown)
        faults.push_back(std::move(what));
    else
        ++further_faults;
}

void trace_summary::see(sim::picoseconds at) {
    from = from ? std::min(*from, at) : at;
    to = to ? std::max(*to, at) : at;
}

bool line_reader::next() {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    has_end_ = end != std::string_view::npos;
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(has_end_ ? end + 1 : rest_.size());
    ++number_;
    return true;
}

namespace {

/// What stands behind a number and a space; nothing where they do not.
std::string_view behind_number(std::string_view line) {
    const std::size_t end = line.find_first_not_of("0123456789");
    return end == 0 || end == std::string_view::npos || line[end] != ' ' ? "" : line.substr(end + 1);
}

bool is_name(std::string_view text) {
    return !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0;
}

}  // namespace

std::string trace_kind(std::string_view file) {
    constexpr std::string_view pcapng_magic = "\x0a\x0d\x0d\x0a";
    if (file.starts_with(pcapng_magic)) return "packets";
    if (file.starts_with("[")) return "timeline";
    if (file.starts_with("$") || file.starts_with(fst_magic)) return "waveform";
    const std::string_view line = behind_number(file.substr(0, file.find('\n')));
    if (is_name(line)) return "log";
    if (is_name(behind_number(line))) return "instructions";
    return "";
}

trace_summary check_trace(std::string_view file, const std::string& path) {
    if (file.starts_with(fst_magic)) return check_fst(path);
    const std::string kind = trace_kind(file);
    if (kind == "packets") return check_packets(file);
    if (kind == "timeline") return check_timeline(file);
    if (kind == "waveform") return check_vcd(file);
    if (kind == "log" || kind == "instructions") return check_lines(file, kind);
    return {};
}

trace_summary check_packets(std::string_view file) {
    const capture read = read_capture(file);
    trace_summary found;
    found.kind = "packets";
    for (const std::string& f : read.faults) found.fault(f);
    found.counts.emplace_back("interfaces", read.interfaces.size());
    found.counts.emplace_back("packets", read.packets.size());
    std::uint64_t bytes = 0, damaged = 0;
    std::vector<std::uint64_t> of_interface(read.interfaces.size());
    for (const capture::packet& p : read.packets) {
        found.see(p.at);
        bytes += p.bytes.size();
        damaged += (p.flags & pcapng::flag_crc_error) != 0;
        ++of_interface[p.interface];
    }
    found.counts.emplace_back("bytes", bytes);
    found.counts.emplace_back("damaged packets", damaged);
    for (std::size_t i = 0; i < of_interface.size(); ++i)
        found.counts.emplace_back("packets of " + read.interfaces[i].name, of_interface[i]);
    return found;
}

/// "12345000 node0.bus.transaction memory_read ..."; of instructions the cycle stands before the core's name.
trace_summary check_lines(std::string_view file, const std::string& kind) {
    const bool log = kind == "log";
    trace_summary found;
    found.kind = kind;
    std::set<std::string_view> names;
    sim::picoseconds last = 0;
    std::uint64_t lines = 0;
    for (line_reader reader(file); reader.next();) {
        const std::string_view line = reader.line();
        ++lines;
        if (!reader.has_end()) found.fault(fmt::format("line {}: cut off", reader.number()));
        sim::picoseconds at = 0;
        const std::errc error = std::from_chars(line.data(), line.data() + line.size(), at).ec;
        const std::string_view text = log ? behind_number(line) : behind_number(behind_number(line));
        if (error != std::errc{} || !is_name(text)) {
            found.fault(
                fmt::format("line {}: no {} and name", reader.number(), log ? "stamp" : "stamp, cycle"));
            continue;
        }
        if (at < last) found.fault(fmt::format("line {}: {} ps after {} ps", reader.number(), at, last));
        last = at;
        found.see(at);
        names.insert(text.substr(0, text.find(' ')));
    }
    found.counts.emplace_back(log ? "events" : "instructions", lines);
    found.counts.emplace_back(log ? "probes" : "cores", names.size());
    return found;
}

}  // namespace vinic::traces
