// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace vinic::sim {

/// The user's input is wrong: one clear line (file, line, what was expected, what is close); exit status 2.
class input_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
    template <typename... Args>
    explicit input_error(fmt::format_string<Args...> format, Args&&... args)
        : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

/// A module of the model did what it must not: reported with its hierarchical name and the simulated time;
/// exit status 3.
class model_error : public std::runtime_error {
public:
    /// `module` is the hierarchical name of the module that noticed.
    model_error(const std::string& module, const std::string& what);
};

/// The candidate nearest to `name` in edit distance, for "did you mean"; empty when nothing is near.
template <typename Range>
std::string nearest_name(const std::string& name, const Range& candidates);

std::size_t edit_distance(const std::string& a, const std::string& b);

template <typename Range>
std::string nearest_name(const std::string& name, const Range& candidates) {
    std::string best;
    std::size_t best_distance = name.size() / 2 + 1;
    for (const auto& candidate : candidates) {
        const std::size_t distance = edit_distance(name, candidate);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

}  // namespace vinic::sim
