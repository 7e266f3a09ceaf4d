// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/study/study_file.h"

namespace vinic::testbench::study {

using point = std::vector<located>;

/// What a search moves in: the axes of a study without its seeds.
class space {
public:
    explicit space(const study_file& of);

    const std::vector<axis>& axes() const { return axes_; }
    const std::vector<std::string>& names() const { return names_; }

    /// Whether all values of a name are numbers.
    bool has_numbers(std::size_t name) const;

    /// A point as somebody names it, {"bus.clock_mhz": 66, ...}: a value of each axis. Throws input_error
    /// that begins with `origin`.
    point read(const json& values, const std::string& origin) const;
    /// The point of these texts, one for each name; nothing when they do not lie on the axes.
    std::optional<point> find(const std::vector<std::string>& texts) const;
    /// For programs: each axis with its values or its range.
    json to_json() const;

private:
    std::vector<axis> axes_;
    std::vector<std::string> names_;
};

}  // namespace vinic::testbench::study
