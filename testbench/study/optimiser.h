// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "hw/sim/random.h"
#include "testbench/study/conditions.h"
#include "testbench/study/pareto.h"
#include "testbench/study/space.h"
#include "testbench/study/study_file.h"

namespace vinic::testbench::study {

/// NSGA-II (Deb, Pratap, Agarwal, Meyarivan: A Fast and Elitist Multiobjective Genetic Algorithm, 2002) on
/// the axes of a study: a Latin hypercube first, then children of the best, by simulated binary crossover and
/// polynomial mutation; with one goal it is an elitist genetic algorithm. It asks for no point twice. The
/// same seed and the same results give the same points.
class optimiser {
public:
    explicit optimiser(const study_file& of);

    /// The next generation; empty when the budget is spent or no other point is left.
    std::vector<point> ask();
    /// What the points of that generation cost, in their order.
    void tell(const std::vector<costs>& results);

private:
    struct individual {
        std::vector<double> genes;  ///< where it stands on each axis, 0 to below 1
        point values;
        costs cost;
        std::size_t rank = 0;
        double crowding = 0;
    };
    static bool better(const individual& a, const individual& b);

    std::vector<double> child();
    const individual& parent();
    double crossed(double a, double b);
    double mutated(double gene);
    std::vector<double> anywhere();
    /// Takes a point into the generation when it is a new one.
    bool take(std::vector<double> genes);
    bool take_next_in_order();
    void first_generation(std::size_t count);

    optimise settings_;
    space space_;
    conditions conditions_;
    sim::random_stream stream_;
    std::size_t asked_ = 0;
    std::uint64_t next_in_order_ = 0;
    std::set<std::vector<std::string>> known_;
    std::vector<individual> population_;
    std::vector<individual> generation_;
};

}  // namespace vinic::testbench::study
