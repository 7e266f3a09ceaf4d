// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/study/perturbation.h"
#include "testbench/study/study_table.h"

namespace vinic::testbench::study {

/// What changing one parameter does to a metric.
struct effect {
    struct change {
        std::string value;  ///< of the parameter
        double metric = 0;
        std::vector<std::size_t> points;  ///< from 1
    };
    perturbed_parameter parameter;
    std::vector<change> changes;       ///< that ended well
    double swing = 0;                  ///< from the least to the most of the metric, the design's included
    double percent = 0;                ///< the same, of the design's
    std::optional<double> elasticity;  ///< change of the metric in percent for one percent of the parameter
};

/// The effects of all parameters on one metric in one row of the results.
struct effects {
    std::string metric;
    json row;
    double base = 0;                ///< of the design as it is
    std::vector<effect> by_share;   ///< the largest first
    std::vector<effect> others;     ///< of changes that are not by the stated share; the largest first
    std::vector<std::string> none;  ///< parameters without effect
};

/// For each metric and row that the design as it is has; seeds count as their mean.
std::vector<effects> effects_of(const study_table& table, const perturbations& changes);

/// What has no effects: "failures", the changes that did not end well, and "not_changed", parameters and why.
json apart(const perturbations& changes, const study_table& table);

json to_json(const effects& of);
/// A table with bars: to the left where the metric falls, to the right where it rises; - for less of the
/// parameter, + for more.
std::string to_text(const effects& of, double change_percent, bool colours);

}  // namespace vinic::testbench::study
