// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "testbench/report/json.h"
#include "traces/anatomy.h"
#include "traces/resource_use.h"

namespace vinic::testbench {

/// Where the time of the messages went, size by size: those that the workload measured, or all when it does
/// not say what it measures. The stages of the last message of a size add up to its latency exactly, and so
/// do the means; medians and other quantiles of stages need not. Refers to the messages.
class account_report {
public:
    account_report(const std::vector<traces::message_anatomy>& messages,
                   const std::vector<traces::resource_use::interval>& use);

    json to_json() const;
    /// Every stage of every size when there are few sizes; else a line for each size.
    std::string to_text(bool colours) const;

private:
    struct row {
        std::string name;
        bool waits;
        std::vector<sim::picoseconds> times;  ///< by message
    };
    struct size_account {
        std::uint64_t bytes = 0;
        std::vector<const traces::message_anatomy*> messages;
        std::map<traces::stage, row> path;
        std::map<traces::stage, row> beside;
        std::vector<sim::picoseconds> latencies;
        traces::resource_use::interval during{};  ///< its end is 0 when unknown
    };

    static void collect(size_account& of);
    static json rows_of(const size_account& of, const std::map<traces::stage, row>& rows);
    static json statistics_of(const std::string& name, std::vector<sim::picoseconds> times);
    static json use_of(const size_account& of);
    static std::string bottleneck_of(const size_account& of);
    std::string text_of(const size_account& of, bool colours) const;
    std::string overview(bool colours) const;

    bool measured_ = false;            ///< only what the workload measured
    std::vector<size_account> sizes_;  ///< ascending
};

}  // namespace vinic::testbench
