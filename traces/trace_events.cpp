// SPDX-License-Identifier: Apache-2.0
#include "traces/trace_events.h"

#include <fmt/format.h>

#include <iterator>

namespace vinic::traces {

namespace {

constexpr std::size_t buffered_bytes = 1 << 16;
constexpr sim::picoseconds microsecond = 1'000'000;

/// Numbers that people read in hexadecimal.
bool is_address(std::string_view name) {
    return name.ends_with("address") || name == "slot" || name == "data" || name == "offset";
}

}  // namespace

trace_events::~trace_events() {
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

void trace_events::open(char phase, timeline_track on) {
    fmt::format_to(std::back_inserter(buffer_), "{}{{\"ph\":\"{}\",\"pid\":{}", empty() ? "[\n" : ",\n",
                   phase, on.process);
    if (on.thread) fmt::format_to(std::back_inserter(buffer_), ",\"tid\":{}", on.thread);
}

void trace_events::close() {
    buffer_ += '}';
    if (buffer_.size() >= buffered_bytes) hand_over();
}

void trace_events::text(std::string_view what) {
    buffer_ += '"';
    for (const char c : what) {
        if (c == '"' || c == '\\') buffer_ += '\\';
        if (static_cast<unsigned char>(c) >= ' ') buffer_ += c;
    }
    buffer_ += '"';
}

void trace_events::stamp(std::string_view key, sim::picoseconds at) {
    fmt::format_to(std::back_inserter(buffer_), ",\"{}\":{}.{:06}", key, at / microsecond, at % microsecond);
}

void trace_events::arguments(std::span<const sim::field> fields) {
    buffer_ += ",\"args\":{";
    const char* between = "";
    for (const sim::field& f : fields) {
        buffer_ += between;
        text(f.name);
        if (is_address(f.name))
            fmt::format_to(std::back_inserter(buffer_), ":\"{:#x}\"", f.value);
        else
            fmt::format_to(std::back_inserter(buffer_), ":{}", f.value);
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
    open('X', on);
    stamp("ts", from);
    stamp("dur", to - from);
    buffer_ += ",\"name\":";
    text(name);
    if (!fields.empty()) arguments(fields);
    close();
}

void trace_events::begin(timeline_track on, std::string_view name, sim::picoseconds at) {
    open('B', on);
    stamp("ts", at);
    buffer_ += ",\"name\":";
    text(name);
    close();
}

void trace_events::end(timeline_track on, sim::picoseconds at) {
    open('E', on);
    stamp("ts", at);
    close();
}

void trace_events::counter(std::uint32_t process, std::string_view name, sim::picoseconds at,
                           std::span<const sim::field> series) {
    open('C', {process, 0});
    stamp("ts", at);
    buffer_ += ",\"name\":";
    text(name);
    arguments(series);
    close();
}

void trace_events::flow_point(flow what, std::uint64_t id, std::string_view name, timeline_track on,
                              sim::picoseconds at) {
    open(static_cast<char>(what), on);
    stamp("ts", at);
    fmt::format_to(std::back_inserter(buffer_), ",\"id\":{},\"cat\":\"message\",\"bp\":\"e\",\"name\":", id);
    text(name);
    close();
}

}  // namespace vinic::traces
