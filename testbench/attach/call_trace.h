// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hw/sim/time.h"
#include "testbench/report/json.h"

namespace vinic::testbench {

/// The first line's `format`; another number means another meaning of lines.
inline constexpr const char* call_trace_format = "vinic calls 1";

/// The calls of attached programs, as `vinic exec --record` wrote them down.
struct call_trace {
    struct line {
        std::uint64_t number;  ///< in the file, from 1
        json text;

        std::string call() const { return text["call"].get<std::string>(); }
    };
    struct process {
        unsigned node = 0;
        std::string program;
        sim::picoseconds ended = 0;
        std::vector<std::vector<line>> threads;  ///< its own first
    };

    std::string file;  ///< as the user named it
    std::string sha256;
    std::string design;
    std::vector<process> processes;

    unsigned nodes() const;
};

/// Throws input_error, with the line, for a file that is damaged or of another version.
call_trace load_call_trace(const std::filesystem::path& file);

}  // namespace vinic::testbench
