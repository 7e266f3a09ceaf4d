// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/study/database.h"
#include "testbench/study/plan.h"

namespace vinic::testbench {

/// The results of a study as one HTML page that needs nothing else: what its kind and its axes allow of a
/// tornado, a Pareto front, curves, a heat map and stacked stages; the table; and the configuration of each
/// point with the command that reproduces it. `published`: figures to draw beside ours
/// (validation/published.h). Throws input_error when the page's parts are not installed.
std::string study_report(const study::plan& of, const std::vector<study::point_record>& records,
                         const json& published);

}  // namespace vinic::testbench
