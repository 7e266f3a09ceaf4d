// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "testbench/platform/design.h"
#include "testbench/study/study_file.h"

namespace vinic::testbench::study {

/// Names of a grid whose points each change one parameter, or none where it is empty: which, and to what.
inline const std::string changed_parameter = "parameter";
inline const std::string changed_value = "value";

/// The points of a study: for each a value for each name.
struct grid {
    std::vector<std::string> names;
    std::vector<std::vector<located>> points;
    std::size_t dropped = 0;  ///< by the conditions under `only`

    /// Where a name stands in each point; names.size() when it does not vary.
    std::size_t column(const std::string& name) const;
};

/// All combinations of the axes, the first varying slowest, or a sample of them; times the repeats. Throws
/// input_error when none is left.
grid expand(const study_file& of);

}  // namespace vinic::testbench::study
