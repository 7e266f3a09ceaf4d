// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "hw/sim/random.h"
#include "testbench/platform/design.h"
#include "testbench/study/study_file.h"

namespace vinic::testbench::study {

/// Uniform in [0, 1).
double fraction(sim::random_stream& stream);

/// The step of an axis at a share of its length, 0 to below 1.
std::vector<located> value_at(const axis& of, double share);

/// Shares for `count` points of one axis: independent, or one in each of `count` equal parts in random order.
std::vector<double> shares(std::size_t count, sampling method, sim::random_stream& stream);

/// The axes of a study with those that are written apart: its designs in front, its seeds behind.
std::vector<axis> axes_of(const study_file& study);

}  // namespace vinic::testbench::study
