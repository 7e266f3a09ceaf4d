// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testbench/platform/design.h"

namespace vinic::testbench::study {

/// A stretch of numbers without steps, from which samples draw.
struct continuous_range {
    double from = 0;
    double to = 0;
    bool logarithmic = false;
    bool whole = false;  ///< whole numbers only
};

/// One entry under `axes`: a name, or several that advance together.
struct axis {
    std::vector<std::string> names;
    std::string origin;
    std::vector<std::vector<located>> steps;  ///< steps[i][n]: the ith value of the nth name
    std::optional<continuous_range> range;    ///< instead of steps; of one name
};

enum class sampling { random, latin_hypercube };

struct sample {
    std::uint64_t points = 0;
    sampling method = sampling::latin_hypercube;
    std::uint64_t seed = 1;
};

/// A number of each point that a search makes small, or large: "latency_us size_bytes=8".
struct goal_text {
    located text;
    bool maximise = false;
};

/// Points that an optimiser chooses, instead of all on the axes.
struct optimise {
    std::vector<goal_text> goals;
    std::uint64_t budget = 100;     ///< points, each with all repeats
    std::uint64_t population = 16;  ///< of a generation
    std::uint64_t seed = 1;
    std::string origin;
};

/// Points that each change one parameter of the design.
struct sensitivity {
    /// Values for one parameter, instead of more and less by a share.
    struct range {
        std::string name;
        located low, high;
    };
    double change_percent = 10;
    std::vector<located> parameters;  ///< patterns; empty: all
    std::vector<range> ranges;
    std::string origin;
};

struct limits {
    double seconds = 600;
    std::uint64_t memory_bytes = std::uint64_t{4} << 30;
    std::uint64_t file_bytes = std::uint64_t{256} << 20;  ///< of each file that is written
};

/// A study as its file states it; every text knows its place in the file.
struct study_file {
    std::filesystem::path path;
    std::string question;
    std::vector<located> designs;
    located workload;
    std::optional<located> nodes;
    std::vector<std::pair<std::string, located>> parameters;  ///< the same at all points
    std::vector<std::pair<std::string, located>> arguments;   ///< of the workload
    std::vector<axis> axes;
    std::vector<located> only;
    std::uint64_t repeats = 1;
    std::optional<study::sample> sample;
    std::optional<study::optimise> optimise;
    std::optional<study::sensitivity> sensitivity;
    std::vector<located> metrics;  ///< empty: all columns of the results
    study::limits limits;
};

/// Throws input_error: file, line, what was expected, what is near.
study_file read_study(const std::filesystem::path& file);

}  // namespace vinic::testbench::study
