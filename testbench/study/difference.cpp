// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/difference.h"

#include <cmath>
#include <map>

#include "testbench/report/table.h"

namespace vinic::testbench::study {

namespace {

std::string words_of(const json& object) {
    std::string text;
    for (const auto& [name, value] : object.items()) {
        if (!text.empty()) text += ' ';
        text += value.is_object() ? words_of(value) : name + "=" + cell(value);
    }
    return text;
}

std::map<std::pair<std::string, std::string>, double> numbers_of(const point_record& p) {
    std::map<std::pair<std::string, std::string>, double> all;
    for (const auto& m : p.metrics) all[{words_of(m.key), m.name}] = m.value;
    return all;
}

void compare(difference& to, const point_record& before, const point_record& after,
             double tolerance_percent) {
    auto later = numbers_of(after);
    const auto add = [&](const auto& name, const json& x, const json& y) {
        json row{{"point", words_of(before.configuration)},
                 {"row", name.first},
                 {"metric", name.second},
                 {"before", x},
                 {"after", y}};
        if (!x.is_null() && !y.is_null() && x.get<double>() != 0)
            row["ratio"] = y.get<double>() / x.get<double>();
        to.rows.push_back(std::move(row));
    };
    for (const auto& [name, x] : numbers_of(before)) {
        const auto y = later.find(name);
        ++to.numbers;
        if (y == later.end()) {
            add(name, x, json());
            continue;
        }
        if (std::abs(y->second - x) > std::abs(x) * tolerance_percent / 100) add(name, x, y->second);
        later.erase(y);
    }
    for (const auto& [name, y] : later) add(name, json(), y);
}

}  // namespace

difference differences(const std::vector<point_record>& before, const std::vector<point_record>& after,
                       double tolerance_percent) {
    std::map<std::string, const point_record*> later;
    for (const auto& p : after) later[p.key] = &p;
    difference found;
    for (const auto& p : before) {
        const auto other = later.find(p.key);
        if (other == later.end()) {
            ++found.only_before;
            continue;
        }
        ++found.in_both;
        compare(found, p, *other->second, tolerance_percent);
    }
    found.only_after = after.size() - found.in_both;
    return found;
}

}  // namespace vinic::testbench::study
