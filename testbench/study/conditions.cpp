// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/conditions.h"

#include <algorithm>

namespace vinic::testbench::study {

conditions::conditions(const study_file& study, std::vector<std::string> names) : names_(std::move(names)) {
    for (const auto& one : study.only) all_.emplace_back(one.text, one.origin);
}

bool conditions::keep(const std::vector<located>& point) const {
    if (all_.empty()) return true;
    std::vector<std::pair<std::string, std::string>> values;
    for (std::size_t i = 0; i < names_.size(); ++i) values.emplace_back(names_[i], point[i].text);
    return std::ranges::all_of(all_, [&](const auto& c) { return c.holds(values); });
}

}  // namespace vinic::testbench::study
