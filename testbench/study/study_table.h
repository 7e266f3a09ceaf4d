// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/study/database.h"
#include "testbench/study/plan.h"

namespace vinic::testbench::study {

/// The results of a study as one table: a line for each row of each point's results, in the order of the
/// points; a point without results has one line.
struct study_table {
    std::vector<std::string> axes;     ///< names of the grid
    std::vector<std::string> keys;     ///< of rows, as size_bytes
    std::vector<std::string> metrics;  ///< that the study keeps, in its order
    struct line {
        std::size_t point = 0;  ///< from 1
        std::string status;     ///< "done", why not, or "" for a point that did not run yet
        std::vector<std::string> axes;
        std::vector<json> keys;     ///< null: this row has none
        std::vector<json> metrics;  ///< the same
    };
    std::vector<line> lines;

    /// The lines as objects: point, axes, keys, metrics, and the status where one is not "done".
    json rows() const;
    std::string csv() const;
};

/// `records`: all of the database.
study_table tabulate(const plan& of, const std::vector<point_record>& records);

/// Metrics that the study names and that no result has, with what there is instead; a line each.
std::vector<std::string> missing_metrics(const plan& of, const std::vector<point_record>& records);

}  // namespace vinic::testbench::study
