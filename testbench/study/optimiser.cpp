// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/optimiser.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "testbench/study/sampling.h"

namespace vinic::testbench::study {

namespace {

/// Children that turn out to be known points, and then draws from anywhere, before the search looks
/// for a new point in order.
constexpr int children_tried = 50;
constexpr int draws_tried = 50;
/// In order, no further than that.
constexpr std::uint64_t most_in_order = 1'000'000;
constexpr double crossover_probability = 0.9;
constexpr double below_one = 1 - 0x1p-53;

/// The spread of a crossover follows from a distribution index of 15, that of a mutation from one of 31:
/// powers of 1/16 and 1/32 are square roots of square roots, which every machine rounds alike.
double root16(double of) { return std::sqrt(std::sqrt(std::sqrt(std::sqrt(of)))); }
double root32(double of) { return std::sqrt(root16(of)); }

}  // namespace

optimiser::optimiser(const study_file& of)
    : settings_(*of.optimise),
      space_(of),
      conditions_(of, space_.names()),
      stream_(settings_.seed, "optimiser") {}

bool optimiser::better(const individual& a, const individual& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.crowding > b.crowding;
}

std::vector<point> optimiser::ask() {
    generation_.clear();
    const std::size_t count = std::min(settings_.population, settings_.budget - asked_);
    if (population_.empty()) first_generation(count);
    const auto attempt = [&](int times, auto&& genes) {
        for (int i = 0; i < times; ++i)
            if (take(genes())) return true;
        return false;
    };
    while (generation_.size() < count)
        if (!(!population_.empty() && attempt(children_tried, [&] { return child(); })) &&
            !attempt(draws_tried, [&] { return anywhere(); }) && !take_next_in_order())
            break;
    asked_ += generation_.size();
    std::vector<point> points;
    for (const individual& one : generation_) points.push_back(one.values);
    return points;
}

void optimiser::tell(const std::vector<costs>& results) {
    for (std::size_t i = 0; i < generation_.size(); ++i) generation_[i].cost = results[i];
    population_.insert(population_.end(), generation_.begin(), generation_.end());
    std::vector<costs> all;
    for (const individual& one : population_) all.push_back(one.cost);
    const auto ranks = ranks_of(all);
    const auto crowding = crowding_of(all, ranks);
    for (std::size_t i = 0; i < population_.size(); ++i) {
        population_[i].rank = ranks[i];
        population_[i].crowding = crowding[i];
    }
    std::ranges::stable_sort(population_, better);
    if (population_.size() > settings_.population) population_.resize(settings_.population);
}

void optimiser::first_generation(std::size_t count) {
    std::vector<std::vector<double>> all(count);
    for (std::size_t axis = 0; axis < space_.axes().size(); ++axis) {
        const auto at = shares(count, sampling::latin_hypercube, stream_);
        for (std::size_t i = 0; i < count; ++i) all[i].push_back(at[i]);
    }
    for (auto& genes : all) take(std::move(genes));
}

bool optimiser::take(std::vector<double> genes) {
    individual one{.genes = std::move(genes)};
    std::vector<std::string> texts;
    for (std::size_t axis = 0; axis < one.genes.size(); ++axis)
        for (located& value : value_at(space_.axes()[axis], one.genes[axis])) {
            texts.push_back(value.text);
            one.values.push_back(std::move(value));
        }
    if (known_.contains(texts) || !conditions_.keep(one.values)) return false;
    known_.insert(std::move(texts));
    generation_.push_back(std::move(one));
    return true;
}

bool optimiser::take_next_in_order() {
    for (; next_in_order_ < most_in_order; ++next_in_order_) {
        std::uint64_t rest = next_in_order_;
        std::vector<double> genes;
        for (const axis& one : space_.axes()) {
            if (one.range) return false;
            const std::size_t steps = one.steps.size();
            genes.push_back((static_cast<double>(rest % steps) + 0.5) / static_cast<double>(steps));
            rest /= steps;
        }
        if (rest != 0) return false;
        if (take(std::move(genes))) return true;
    }
    return false;
}

std::vector<double> optimiser::anywhere() {
    std::vector<double> genes(space_.axes().size());
    for (double& gene : genes) gene = fraction(stream_);
    return genes;
}

/// The better of two at random.
const optimiser::individual& optimiser::parent() {
    const individual& a = population_[stream_.below(population_.size())];
    const individual& b = population_[stream_.below(population_.size())];
    return better(b, a) ? b : a;
}

std::vector<double> optimiser::child() {
    const individual& mother = parent();
    const individual& father = parent();
    const bool crosses = stream_.chance(crossover_probability);
    const double mutation_probability = 1 / static_cast<double>(mother.genes.size() + 1);
    std::vector<double> genes;
    for (std::size_t i = 0; i < mother.genes.size(); ++i) {
        double gene =
            crosses && stream_.chance(0.5) ? crossed(mother.genes[i], father.genes[i]) : mother.genes[i];
        if (stream_.chance(mutation_probability)) gene = mutated(gene);
        genes.push_back(std::clamp(gene, 0.0, below_one));
    }
    return genes;
}

double optimiser::crossed(double a, double b) {
    const double u = fraction(stream_);
    const double spread = u <= 0.5 ? root16(2 * u) : root16(1 / (2 * (1 - u)));
    return stream_.chance(0.5) ? ((1 + spread) * a + (1 - spread) * b) / 2
                               : ((1 - spread) * a + (1 + spread) * b) / 2;
}

double optimiser::mutated(double gene) {
    const double u = fraction(stream_);
    return gene + (u < 0.5 ? root32(2 * u) - 1 : 1 - root32(2 * (1 - u)));
}

}  // namespace vinic::testbench::study
