// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "testbench/study/study_table.h"

namespace vinic::testbench::study {

/// One metric against one axis (or key of rows), a curve for each combination of all else that varies; points
/// that differ in their seed only are one, their mean.
struct curves {
    struct curve {
        std::string family;                             ///< "bus.kind=pcix size_bytes=8"
        std::vector<std::pair<double, double>> points;  ///< by x
    };
    std::string x;
    std::string y;
    std::vector<curve> all;
};

/// `x` empty: the numeric axis or key with the most values; `y` empty: the first metric. Throws input_error
/// for names that there are not; nothing to draw is no error.
curves curves_of(const study_table& table, std::string x, std::string y);

/// Curves as letters in a grid of characters; axes are logarithmic where values span more than 16 times.
std::string text_plot(const curves& of);

}  // namespace vinic::testbench::study
