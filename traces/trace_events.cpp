// SPDX-License-Identifier: Apache-2.0
#include "traces/trace_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "hw/sim/duration.h"

namespace vinic::traces {

namespace {

constexpr std::size_t buffered_bytes = 1 << 16;
constexpr std::string_view ts = ",\"ts\":", dur = ",\"dur\":";

/// Numbers that people read in hexadecimal.
bool is_address(std::string_view name) {
    return name.ends_with("address") || name == "slot" || name == "data" || name == "offset";
}

bool needs_care(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' '; }

}  // namespace

void trace_events::finish() {
    buffer_ += empty() ? "[\n]\n" : "\n]\n";
    flush();
}

void trace_events::hand_over() {
    file_.write(buffer_);
    written_ += buffer_.size();
    buffer_.clear();
}

void trace_events::flush() {
    hand_over();
    file_.flush();
}

void trace_events::number(std::uint64_t value) {
    const fmt::format_int digits(value);
    buffer_.append(digits.data(), digits.size());
}

void trace_events::open(char phase, timeline_track on) {
    buffer_ += empty() ? "[\n{\"ph\":\"" : ",\n{\"ph\":\"";
    buffer_ += phase;
    buffer_ += "\",\"pid\":";
    number(on.process);
    if (on.thread == 0) return;
    buffer_ += ",\"tid\":";
    number(on.thread);
}

void trace_events::close() {
    buffer_ += '}';
    if (buffer_.size() >= buffered_bytes) hand_over();
}

void trace_events::text(std::string_view what) {
    buffer_ += '"';
    if (std::ranges::none_of(what, needs_care)) {
        buffer_ += what;
    } else {
        for (const char c : what) {
            if (c == '"' || c == '\\') buffer_ += '\\';
            if (static_cast<unsigned char>(c) >= ' ') buffer_ += c;
        }
    }
    buffer_ += '"';
}

/// Microseconds with six decimals.
void trace_events::stamp(std::string_view key, sim::picoseconds at) {
    buffer_ += key;
    number(at / sim::microsecond);
    constexpr std::size_t decimals = 6;
    const fmt::format_int fraction(at % sim::microsecond);
    buffer_ += '.';
    buffer_.append(decimals - fraction.size(), '0');
    buffer_.append(fraction.data(), fraction.size());
}

void trace_events::arguments(std::span<const sim::field> fields) {
    buffer_ += ",\"args\":{";
    const char* between = "";
    for (const sim::field& f : fields) {
        buffer_ += between;
        text(f.name);
        buffer_ += ':';
        if (is_address(f.name))
            fmt::format_to(std::back_inserter(buffer_), "\"{:#x}\"", f.value);
        else
            number(f.value);
        between = ",";
    }
    buffer_ += '}';
}

void trace_events::name_process(std::uint32_t process, std::string_view name) {
    open('M', {process, 0});
    buffer_ += ",\"name\":\"process_name\",\"args\":{\"name\":";
    text(name);
    buffer_ += '}';
    close();
    open('M', {process, 0});
    fmt::format_to(std::back_inserter(buffer_),
                   ",\"name\":\"process_sort_index\",\"args\":{{\"sort_index\":{}}}", process);
    close();
}

void trace_events::name_thread(timeline_track on, std::string_view name) {
    open('M', on);
    buffer_ += ",\"name\":\"thread_name\",\"args\":{\"name\":";
    text(name);
    buffer_ += '}';
    close();
    open('M', on);
    fmt::format_to(std::back_inserter(buffer_),
                   ",\"name\":\"thread_sort_index\",\"args\":{{\"sort_index\":{}}}", on.thread);
    close();
}

void trace_events::complete(timeline_track on, std::string_view name, sim::picoseconds from,
                            sim::picoseconds to, std::span<const sim::field> fields) {
    if (muted_) return;
    open('X', on);
    stamp(ts, from);
    stamp(dur, to - from);
    buffer_ += ",\"name\":";
    text(name);
    if (!fields.empty()) arguments(fields);
    close();
}

void trace_events::begin(timeline_track on, std::string_view name, sim::picoseconds at) {
    if (muted_) return;
    open('B', on);
    stamp(ts, at);
    buffer_ += ",\"name\":";
    text(name);
    close();
}

void trace_events::end(timeline_track on, std::string_view name, sim::picoseconds at) {
    if (muted_) return;
    open('E', on);
    stamp(ts, at);
    buffer_ += ",\"name\":";
    text(name);
    close();
}

void trace_events::counter(std::uint32_t process, std::string_view name, sim::picoseconds at,
                           std::span<const sim::field> series) {
    if (muted_) return;
    open('C', {process, 0});
    stamp(ts, at);
    buffer_ += ",\"name\":";
    text(name);
    arguments(series);
    close();
}

void trace_events::flow_point(flow what, std::uint64_t id, std::string_view name, timeline_track on,
                              sim::picoseconds at) {
    if (muted_) return;
    open(static_cast<char>(what), on);
    stamp(ts, at);
    buffer_ += ",\"id\":";
    number(id);
    buffer_ += ",\"cat\":\"message\",\"bp\":\"e\",\"name\":";
    text(name);
    close();
}

}  // namespace vinic::traces
