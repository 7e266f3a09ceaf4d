// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/account_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "testbench/report/table.h"

namespace vinic::testbench {

namespace {

constexpr std::uint64_t small_message_bytes = 8;

double mean_of(sim::picoseconds sum, std::uint64_t count) {
    return static_cast<double>(sum) / static_cast<double>(count);
}

}  // namespace

account_report::account_report(const std::vector<traces::message_path>& messages) {
    std::map<std::uint64_t, size_account> by_size;
    for (const auto& message : messages) {
        size_account& of = by_size[message.bytes];
        of.sums.resize(traces::stage_names.size());
        of.bytes = message.bytes;
        ++of.count;
        of.last = message;
        of.latency_sum += message.latency();
        for (std::size_t i = 0; i < of.sums.size(); ++i) of.sums[i] += message.stage(i);
    }
    for (auto& [bytes, of] : by_size) sizes_.push_back(std::move(of));
}

json account_report::stages_of(const size_account& of) {
    json rows = json::array();
    for (std::size_t i = 0; i < of.sums.size(); ++i)
        rows.push_back({{"stage", traces::stage_names[i]},
                        {"time_ps", of.last.stage(i)},
                        {"mean_ps", mean_of(of.sums[i], of.count)}});
    rows.push_back({{"stage", "latency"},
                    {"time_ps", of.last.latency()},
                    {"mean_ps", mean_of(of.latency_sum, of.count)}});
    return rows;
}

json account_report::to_json() const {
    json all = json::array();
    for (const auto& of : sizes_)
        all.push_back({{"size_bytes", of.bytes},
                       {"count_messages", of.count},
                       {"from", of.last.sender},
                       {"to", of.last.receiver},
                       {"overlapped_ps", of.last.overlapped},
                       {"stages", stages_of(of)}});
    return all;
}

std::string account_report::to_text(bool colours) const {
    if (sizes_.empty()) return "account: no message was followed from its post to its completion\n";
    const auto distance = [](std::uint64_t bytes) {
        return bytes > small_message_bytes ? bytes - small_message_bytes : small_message_bytes - bytes;
    };
    const auto& of = *std::min_element(sizes_.begin(), sizes_.end(), [&](const auto& a, const auto& b) {
        return distance(a.bytes) < distance(b.bytes);
    });
    return fmt::format(
               "account of the last message of {} bytes, {} to {} (mean over {} messages, warm-up "
               "included)\n",
               of.bytes, of.last.sender, of.last.receiver, of.count) +
           table_of_rows(stages_of(of), colours);
}

}  // namespace vinic::testbench
