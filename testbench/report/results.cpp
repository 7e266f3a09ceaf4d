// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/results.h"

#include <algorithm>
#include <tuple>

namespace vinic::testbench {

template <typename T>
std::vector<T> results::sorted(std::vector<entry<T>> entries) {
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return std::tie(a.at, a.process) < std::tie(b.at, b.process);
    });
    std::vector<T> all;
    for (auto& one : entries) all.push_back(std::move(one.what));
    return all;
}

void results::add_row(sim::picoseconds at, unsigned process, json row) {
    rows_.push_back({at, process, std::move(row)});
}
void results::add_line(sim::picoseconds at, unsigned process, std::string text) {
    lines_.push_back({at, process, std::move(text)});
}
void results::fail_check(sim::picoseconds at, unsigned process, std::string text) {
    failed_checks_.push_back({at, process, std::move(text)});
}

json results::rows() const {
    json all = json::array();
    for (auto& row : sorted(rows_)) all.push_back(std::move(row));
    return all;
}
std::vector<std::string> results::lines() const { return sorted(lines_); }
std::vector<std::string> results::failed_checks() const { return sorted(failed_checks_); }

}  // namespace vinic::testbench
