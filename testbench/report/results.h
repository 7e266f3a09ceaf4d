// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/sim/time.h"
#include "testbench/report/json.h"

namespace vinic::testbench {

/// What processes of a workload report. Several may report at one instant: the order is that of time, then of
/// the processes, then of their reports.
class results {
public:
    void add_row(sim::picoseconds at, unsigned process, json row);
    void add_line(sim::picoseconds at, unsigned process, std::string text);
    void fail_check(sim::picoseconds at, unsigned process, std::string text);

    /// For the estimate of how long a run takes.
    void expect_rows(std::size_t count) { expected_rows_ += count; }
    std::size_t expected_rows() const { return expected_rows_; }
    std::size_t row_count() const { return rows_.size(); }

    json rows() const;
    std::vector<std::string> lines() const;
    std::vector<std::string> failed_checks() const;

private:
    template <typename T>
    struct entry {
        sim::picoseconds at;
        unsigned process;
        T what;
    };
    template <typename T>
    static std::vector<T> sorted(std::vector<entry<T>> entries);

    std::size_t expected_rows_ = 0;
    std::vector<entry<json>> rows_;
    std::vector<entry<std::string>> lines_;
    std::vector<entry<std::string>> failed_checks_;
};

}  // namespace vinic::testbench
