// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace vinic::testbench::study {

/// What a point costs, one number for each goal, all the smaller the better; infinite where it gave none.
using costs = std::vector<double>;

/// Nowhere worse, and better somewhere.
bool dominates(const costs& a, const costs& b);

/// The Pareto front: which of them no other one dominates, ascending; none of infinite costs.
std::vector<std::size_t> front_of(const std::vector<costs>& all);

/// 0 for those that none dominates, 1 for those that only these dominate, and so on.
std::vector<std::size_t> ranks_of(const std::vector<costs>& all);

/// How far the neighbours of each point are on the front of its rank, in shares of that front's extent;
/// infinite at its ends (Deb et al., NSGA-II, section III-B).
std::vector<double> crowding_of(const std::vector<costs>& all, const std::vector<std::size_t>& ranks);

}  // namespace vinic::testbench::study
