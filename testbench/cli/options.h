// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/sim/time.h"
#include "testbench/report/instruction_trace.h"

namespace vinic::testbench {

/// What every verb that looks at a platform takes.
struct platform_options {
    std::string design = "myvia";
    std::vector<std::string> settings;  ///< of --set, as given: "name=value"
    std::optional<std::string> nodes;
    std::uint64_t seed = 1;
    bool lockstep = false;
    std::uint64_t shuffle = 0;  ///< other than 0: seed of the dummy events and of the order of construction
};

/// Where results go. `json` empty: a table on standard output; else the place of the JSON.
struct result_options {
    std::string json;
    bool reproducible = false;
};

/// Where a trace begins and ends, as given; empty: with the run.
struct window_text {
    std::string from, to;
};

/// What watches a run. Places are files; empty: none.
struct trace_options {
    std::string statistics;  ///< may be "-"
    std::optional<sim::picoseconds> statistics_every;
    bool account = false;
    std::uint64_t account_message = 0;  ///< 0: none
    std::string svg;
    bool fingerprint = false;
    std::string wave;
    std::vector<std::string> wave_scopes;
    window_text wave_window;
    std::string gtkw;
    std::string log;
    std::vector<std::string> log_scopes;  ///< globs; empty: all
    window_text log_window;
    std::string pcap;
    window_text pcap_window;
    std::string timeline;
    window_text timeline_window;
    std::uint64_t timeline_mbytes = 256;
    std::string profile;  ///< may be "-"
    std::string itrace;
    instruction_filter itrace_filter;
    window_text itrace_window;
};

/// What every verb that simulates takes.
struct simulation_options : platform_options, result_options, trace_options {
    std::optional<sim::picoseconds> until;
    bool unsafe = false;
};

/// A decimal number of up to 64 bits. Throws input_error.
std::uint64_t parse_seed(const std::string& text);

/// "10us", "2.5 ms" -> picoseconds; throws input_error that names `option`.
sim::picoseconds parse_time(const std::string& text, const std::string& option);

/// "name=value" -> both; throws input_error that names `option`.
std::pair<std::string, std::string> split_setting(const std::string& text, const std::string& option);

}  // namespace vinic::testbench
