// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "hw/sim/error.h"
#include "testbench/cli/output.h"
#include "testbench/cli/verbs.h"
#include "testbench/report/comparison.h"
#include "testbench/report/sha256.h"
#include "traces/trace_check.h"
#include "traces/trace_difference.h"

namespace vinic::testbench {

namespace {

void write(const compare_options& options, const json& as_json, const std::string& as_text) {
    const bool wants_json = !options.json.empty();
    output(wants_json ? options.json : "-").commit(wants_json ? json_text(as_json) : as_text);
}

/// A line of a trace can be long: as much as says where it differs.
std::string shortened(const std::optional<std::string>& line) {
    constexpr std::size_t longest = 300;
    if (!line) return "(the trace has ended)";
    return fmt::format("{}{}", std::string_view(*line).substr(0, longest),
                       line->size() > longest ? " ..." : "");
}

status compare_traces(const compare_options& options, const std::string& kind, const std::string& before,
                      const std::string& after) {
    if (const std::string other = traces::trace_kind(after); other != kind)
        throw sim::input_error("{} is of kind {}, {} is {}", options.before, kind, options.after,
                               other.empty() ? "no trace" : "of kind " + other);
    const auto found = kind == "waveform" ? traces::first_difference(traces::waveform(options.before),
                                                                     traces::waveform(options.after))
                                          : traces::first_difference(before, after);
    json result{{"format", "vinic trace comparison 1"}, {"kind", kind}, {"equal", !found}};
    if (!found) {
        write(options, result, fmt::format("the same {}\n", kind));
        return status::done;
    }
    const auto side = [&](const char* name, const std::string& file, const std::optional<std::string>& line,
                          std::optional<sim::picoseconds> at) {
        result[name] = {{"file", file}, {"event", line ? json(*line) : json()}};
        if (at) result[name]["at_ps"] = *at;
        return fmt::format("{}{}:\n  {}\n", file, at ? fmt::format(" at {} ps", *at) : std::string(),
                           shortened(line));
    };
    const char* unit = kind == "packets" ? "packet" : kind == "waveform" ? "change" : "line";
    result[unit] = found->line;
    std::string text = fmt::format("first difference: {} {}\n", unit, found->line);
    text += side("before", options.before, found->before, found->before_at);
    text += side("after", options.after, found->after, found->after_at);
    write(options, result, text);
    return status::failed;
}

}  // namespace

status compare(const compare_options& options) {
    const std::string before = read_file(options.before);
    if (const std::string kind = traces::trace_kind(before); !kind.empty())
        return compare_traces(options, kind, before, read_file(options.after));
    const comparison both(comparison::read_result(options.before), comparison::read_result(options.after));
    write(options, both.to_json(), both.to_text(options.json.empty() && is_terminal(STDOUT_FILENO)));
    const bool failed = options.tolerance_percent && both.beyond(*options.tolerance_percent);
    return failed ? status::failed : status::done;
}

}  // namespace vinic::testbench
