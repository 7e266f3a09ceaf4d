// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "testbench/report/json.h"
#include "traces/message_path.h"

namespace vinic::testbench {

/// Where the time of a message went: the last one of each size, stage by stage in picoseconds, and the mean
/// over all of that size. The stages of the one message add up to its latency exactly.
class account_report {
public:
    explicit account_report(const std::vector<traces::message_path>& messages);

    json to_json() const;
    /// The account of the size nearest to a small message's 8 bytes.
    std::string to_text(bool colours) const;

private:
    struct size_account {
        std::uint64_t bytes = 0;
        std::uint64_t count = 0;
        traces::message_path last;
        std::vector<sim::picoseconds> sums;  ///< by stage
        sim::picoseconds latency_sum = 0;
    };
    static json stages_of(const size_account& of);

    std::vector<size_account> sizes_;  ///< ascending
};

}  // namespace vinic::testbench
