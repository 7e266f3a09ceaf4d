// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "hw/sim/probe.h"
#include "hw/sim/time.h"
#include "traces/output_file.h"

namespace vinic::traces {

/// A row of the timeline: a process and a thread of the trace event format.
struct timeline_track {
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    bool operator==(const timeline_track&) const = default;
    auto operator<=>(const timeline_track&) const = default;
};

/// Writes Chrome's trace event format, which Perfetto reads too: a JSON array of events, one a line, stamps
/// in microseconds with six decimals. Whoever reads it must not ask for the closing bracket, so that it is
/// readable up to the last flush.
class trace_events {
public:
    trace_events(const std::string& path, std::uint64_t limit_bytes) : file_(path), limit_(limit_bytes) {}

    /// No room for more: what comes from now on is to be left out, ends of what is open excepted.
    bool full() const { return written_ + buffer_.size() >= limit_; }

    /// Whether what happens is left out: all but names.
    void mute(bool muted) { muted_ = muted; }

    void name_process(std::uint32_t process, std::string_view name);
    void name_thread(timeline_track, std::string_view name);
    void complete(timeline_track, std::string_view name, sim::picoseconds begin, sim::picoseconds end,
                  std::span<const sim::field> arguments);
    void begin(timeline_track, std::string_view name, sim::picoseconds at);
    /// The format does not ask for the name again; Chromium's developer tools do.
    void end(timeline_track, std::string_view name, sim::picoseconds at);
    /// `series`: names and values.
    void counter(std::uint32_t process, std::string_view name, sim::picoseconds at,
                 std::span<const sim::field> series);
    /// A point of an arrow from slice to slice: the first, one between, or the last of flow `id`.
    enum class flow : char { start = 's', step = 't', finish = 'f' };
    void flow_point(flow, std::uint64_t id, std::string_view name, timeline_track, sim::picoseconds at);

    void flush();
    /// Behind the last event.
    void finish();

private:
    void open(char phase, timeline_track);
    void number(std::uint64_t);
    void text(std::string_view);
    void stamp(std::string_view key, sim::picoseconds at);
    void arguments(std::span<const sim::field>);
    void close();
    bool empty() const { return written_ + buffer_.size() == 0; }
    void hand_over();

    output_file file_;
    std::uint64_t limit_;
    bool muted_ = false;
    std::uint64_t written_ = 0;
    std::string buffer_;
};

}  // namespace vinic::traces
