// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "testbench/study/database.h"
#include "testbench/study/goal.h"
#include "testbench/study/optimiser.h"
#include "testbench/study/plan.h"
#include "testbench/study/space.h"

namespace vinic::testbench::study {

/// A study whose points an optimiser chooses, generation by generation. It keeps nothing but the database:
/// with the results there, the same generations come again.
class search {
public:
    explicit search(study_file of);

    const std::string& question() const { return study_.question; }
    const study::space& space() const { return space_; }
    const std::vector<goal>& goals() const { return goals_; }

    /// Whether the optimiser wants more points.
    bool goes_on() const { return !generation_.empty(); }
    /// Those that it wants now.
    plan generation() const { return plan_of(generation_); }
    /// Takes the results of that generation, and asks for the next one.
    void advance(const std::vector<point_record>& records);
    /// Advances as far as there are results of whole generations.
    void replay(const std::vector<point_record>& records);

    /// These points, each with every seed.
    plan plan_of(const std::vector<point>& points) const;
    /// All points so far, in the order in which they were asked for; then those of the present generation;
    /// then others on these axes that have a result, whoever asked for them.
    plan all_points(const std::vector<point_record>& records) const;
    /// How many seeds each point has.
    std::size_t seeds() const { return study_.repeats; }

    /// The numbers of the goals at a point (numbered without its seeds) of a plan, means over its seeds;
    /// nothing when one is missing.
    std::optional<std::vector<double>> values(const plan& of, std::size_t number,
                                              const std::map<std::string, const point_record*>& by_key) const;
    /// The same as costs: what is to be large, negated; infinite where there is none.
    costs cost(const std::optional<std::vector<double>>& values) const;

private:
    study_file study_;
    study::space space_;
    std::vector<goal> goals_;
    optimiser optimiser_;
    std::vector<point> asked_;  ///< before the present generation
    std::vector<point> generation_;
};

/// Records by the key of their point.
std::map<std::string, const point_record*> by_key(const std::vector<point_record>& records);

}  // namespace vinic::testbench::study
