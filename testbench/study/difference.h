// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/study/database.h"

namespace vinic::testbench::study {

/// Where the results of two databases differ, point by point: points are the same when their configurations
/// are.
struct difference {
    std::size_t in_both = 0;
    std::size_t only_before = 0;
    std::size_t only_after = 0;
    std::size_t numbers = 0;    ///< compared
    json rows = json::array();  ///< of numbers that differ by more than the tolerance: point, row, metric,
                                ///< both, ratio
};

/// `tolerance_percent`: of the value before.
difference differences(const std::vector<point_record>& before, const std::vector<point_record>& after,
                       double tolerance_percent);

}  // namespace vinic::testbench::study
