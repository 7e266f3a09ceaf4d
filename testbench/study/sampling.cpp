// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vinic::testbench::study {

double fraction(sim::random_stream& stream) { return static_cast<double>(stream.next() >> 11) * 0x1p-53; }

std::vector<located> value_at(const axis& of, double share) {
    if (!of.range) {
        const auto last = of.steps.size() - 1;
        return of
            .steps[std::min(last, static_cast<std::size_t>(share * static_cast<double>(of.steps.size())))];
    }
    const continuous_range& r = *of.range;
    if (r.whole && !r.logarithmic)
        return {{fmt::format("{:.0f}", r.from + std::floor(share * (r.to - r.from + 1))), of.origin}};
    const double value =
        r.logarithmic ? r.from * std::pow(r.to / r.from, share) : r.from + share * (r.to - r.from);
    return {{r.whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value), of.origin}};
}

std::vector<double> shares(std::size_t count, sampling method, sim::random_stream& stream) {
    std::vector<double> all(count);
    if (method == sampling::random) {
        for (double& share : all) share = fraction(stream);
        return all;
    }
    std::vector<std::size_t> part(count);
    std::iota(part.begin(), part.end(), std::size_t{0});
    for (std::size_t i = count; i > 1; --i) std::swap(part[i - 1], part[stream.below(i)]);
    for (std::size_t i = 0; i < count; ++i)
        all[i] = (static_cast<double>(part[i]) + fraction(stream)) / static_cast<double>(count);
    return all;
}

std::vector<axis> axes_of(const study_file& study) {
    std::vector<axis> axes = study.axes;
    if (study.designs.size() > 1) {
        axis design{.names = {"design"}, .origin = study.designs.front().origin};
        for (const auto& one : study.designs) design.steps.push_back({one});
        axes.insert(axes.begin(), design);
    }
    if (study.repeats > 1) {
        axis seed{.names = {"seed"}, .origin = study.path.string()};
        for (std::uint64_t i = 1; i <= study.repeats; ++i)
            seed.steps.push_back({{std::to_string(i), study.path.string()}});
        axes.push_back(seed);
    }
    return axes;
}

}  // namespace vinic::testbench::study
