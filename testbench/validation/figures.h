// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testbench/platform/design.h"

namespace vinic::testbench::validation {

/// How a figure is known (facts/calibration.md).
enum class evidence {
    seen,        ///< S: a published figure that was seen
    derived,     ///< D: arithmetic on such figures
    background,  ///< B: unverified; never counts as validation
    prediction,  ///< P: nobody published one; a sanity band stands in its place
};

/// A workload and what it is told: what several designs are measured by.
struct run_recipe {
    located workload;
    std::vector<std::pair<std::string, std::string>> arguments;
    std::vector<std::pair<std::string, std::string>> settings;  ///< parameters, as of --set
    std::string origin;
};

/// Which number of a run's rows.
struct measure {
    enum class kind {
        cell,       ///< that of the row in which the columns of `row` have those values
        peak,       ///< the largest of the column
        half_peak,  ///< the size at which the column reaches half of its largest, between two sizes linearly
    };
    located design;  ///< a name, or a file beside the figures
    std::string run;
    kind what = kind::cell;
    std::string column;
    std::vector<std::pair<std::string, std::string>> row;
    std::string origin;
};

/// A published figure and how ours is measured.
struct figure {
    std::string system;
    located design;  ///< empty: the system is not modelled
    std::string what;
    std::string unit;
    std::optional<double> least, most;  ///< equal for a value; one alone: a bound
    validation::evidence evidence = evidence::seen;
    std::string fitted;  ///< the parameters that were fitted to it; empty: none
    std::optional<double> tolerance_percent;
    std::string source;
    std::optional<validation::measure> measure;
    std::optional<validation::measure> over;  ///< ours is measure / over
    std::string origin;

    bool is_range() const { return least != most; }
};

struct figures_file {
    std::filesystem::path path;
    double tolerance_percent = 10;
    std::map<std::string, run_recipe> runs;
    std::vector<figure> figures;  ///< in the order of the file
};

/// Throws input_error: file, line, what was expected, what is near.
figures_file read_figures(const std::filesystem::path& file);

}  // namespace vinic::testbench::validation
