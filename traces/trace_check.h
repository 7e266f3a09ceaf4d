// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/sim/time.h"

namespace vinic::traces {

/// What a written trace holds, and what is wrong with it.
struct trace_summary {
    std::string kind;                          ///< "packets", "timeline", "waveform" or "log"
    std::optional<sim::picoseconds> from, to;  ///< first and last stamp
    std::vector<std::pair<std::string, std::uint64_t>> counts;
    std::vector<std::string> notes;   ///< what a reader should know and is no fault
    std::vector<std::string> faults;  ///< the first ones; empty: well formed
    std::uint64_t further_faults = 0;

    void fault(std::string what);
    void see(sim::picoseconds at);
};

/// "packets", "timeline", "waveform", "log" or "instructions", by the file's first bytes; empty when it is no
/// trace.
std::string trace_kind(std::string_view file);

/// Reads a trace of any kind that vinic writes; `file`: the contents of `path`. The kind is empty when it is
/// none. Throws sim::input_error when GTKWave's reader does not open an FST.
trace_summary check_trace(std::string_view file, const std::string& path = "");

trace_summary check_packets(std::string_view file);
trace_summary check_timeline(std::string_view file);
/// Changes are counted from the first value that a signal is given.
trace_summary check_vcd(std::string_view file);
trace_summary check_fst(const std::string& path);
trace_summary check_lines(std::string_view file, const std::string& kind);

/// The lines of a file, one after the other, counted from 1.
class line_reader {
public:
    explicit line_reader(std::string_view file) : rest_(file) {}
    /// False at the end. A last line without its end is handed out too.
    bool next();
    std::string_view line() const { return line_; }
    std::uint64_t number() const { return number_; }
    bool has_end() const { return has_end_; }

private:
    std::string_view rest_, line_;
    std::uint64_t number_ = 0;
    bool has_end_ = true;
};

}  // namespace vinic::traces
