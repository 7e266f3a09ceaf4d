// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/statistics.h"

#include <fnmatch.h>

#include <algorithm>

#include "hw/sim/configuration.h"
#include "hw/sim/statistic.h"
#include "hw/sim/time.h"

namespace vinic::testbench {

bool matches(const std::string& name, const std::string& pattern) {
    if (pattern.find_first_of("*?") == std::string::npos) return name.find(pattern) != std::string::npos;
    return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0 ||
           ::fnmatch(pattern.c_str(), std::string(sim::without_node(name)).c_str(), 0) == 0;
}

json statistics_of(const sim::simulation& of, const std::string& pattern, bool values) {
    json rows = json::array();
    for (const auto& [name, statistic] : of.statistics()) {
        if (!matches(name, pattern)) continue;
        if (!values) {
            rows.push_back({{"statistic", name}, {"unit", statistic->unit()}, {"help", statistic->help()}});
            continue;
        }
        for (const auto& [suffix, value] : statistic->values(sim::now()))
            rows.push_back({{"statistic", name + suffix}, {"value", value}, {"unit", statistic->unit()}});
    }
    return rows;
}

json parameters_of(sim::simulation& of, const std::string& pattern) {
    std::vector<sim::parameter_info> all = of.config().parameters();
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    json rows = json::array();
    for (const auto& p : all)
        if (matches(p.name, pattern))
            rows.push_back({{"parameter", p.name},
                            {"value", p.value_text},
                            {"unit", p.unit},
                            {"type", p.type},
                            {"default", p.default_text},
                            {"range", p.range},
                            {"help", p.help},
                            {"source", p.source},
                            {"origin", p.origin}});
    return rows;
}

}  // namespace vinic::testbench
