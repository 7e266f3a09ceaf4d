// SPDX-License-Identifier: Apache-2.0
#include "traces/trace_check.h"

#include <unistd.h>

#include "hw/sim/error.h"
#include "testbench/attach/call_trace.h"
#include "testbench/cli/output.h"
#include "testbench/cli/verbs.h"
#include "testbench/report/json.h"
#include "testbench/report/sha256.h"

namespace vinic::testbench {

namespace {

json to_json(const std::string& path, const traces::trace_summary& found) {
    json one{{"file", path}, {"kind", found.kind}, {"well_formed", found.faults.empty()}};
    if (found.from) one["from_ps"] = *found.from;
    if (found.to) one["to_ps"] = *found.to;
    for (const auto& [what, count] : found.counts) one["holds"][what] = count;
    if (!found.notes.empty()) one["notes"] = found.notes;
    if (!found.faults.empty()) one["faults"] = found.faults;
    if (found.further_faults) one["further_faults"] = found.further_faults;
    return one;
}

std::string to_text(const std::string& path, const traces::trace_summary& found) {
    std::string text = fmt::format("{}: {}, {}\n", path, found.kind,
                                   found.faults.empty() ? "well formed" : "NOT well formed");
    if (found.from) text += fmt::format("  from {} ps to {} ps\n", *found.from, *found.to);
    for (const auto& [what, count] : found.counts) text += fmt::format("  {:>12} {}\n", count, what);
    for (const auto& note : found.notes) text += fmt::format("  note: {}\n", note);
    for (const auto& fault : found.faults) text += fmt::format("  fault: {}\n", fault);
    if (found.further_faults) text += fmt::format("  and {} further faults\n", found.further_faults);
    return text;
}

traces::trace_summary check_calls(const std::string& path) {
    traces::trace_summary found;
    found.kind = "calls";
    try {
        const call_trace trace = load_call_trace(path);
        std::uint64_t lines = 0;
        for (const call_trace::process& process : trace.processes)
            for (const auto& thread : process.threads)
                for (const call_trace::line& one : thread) {
                    ++lines;
                    found.see(one.text["at_ps"].get<sim::picoseconds>());
                }
        found.counts = {{"processes", trace.processes.size()}, {"lines", lines}};
    } catch (const sim::input_error& error) {
        found.fault(error.what());
    }
    return found;
}

}  // namespace

status check_traces(const trace_check_options& options) {
    std::string text;
    json all = json::array();
    bool well_formed = true;
    for (const std::string& path : options.files) {
        const traces::trace_summary found =
            path.ends_with(".trace") ? check_calls(path) : traces::check_trace(read_file(path), path);
        if (found.kind.empty())
            throw sim::input_error(
                "{}: no trace: expected a waveform (FST, VCD), packets (pcapng), a timeline, a log, or calls "
                "(.trace)",
                path);
        well_formed = well_formed && found.faults.empty();
        all.push_back(to_json(path, found));
        text += to_text(path, found);
    }
    const bool as_json = !options.json.empty();
    output(as_json ? options.json : "-")
        .commit(as_json ? json_text({{"format", "vinic traces 1"}, {"traces", all}}) : text);
    return well_formed ? status::done : status::failed;
}

}  // namespace vinic::testbench
