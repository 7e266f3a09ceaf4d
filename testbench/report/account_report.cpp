// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/account_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "testbench/report/table.h"

namespace vinic::testbench {

namespace {

/// More sizes than that are shown with a line for each.
constexpr std::size_t sizes_in_full = 4;

double mean_of(const std::vector<sim::picoseconds>& times) {
    return static_cast<double>(std::accumulate(times.begin(), times.end(), sim::picoseconds{0})) /
           static_cast<double>(times.size());
}

/// Where the smallest value that `percent` of all do not exceed stands in order.
std::ptrdiff_t rank_of(std::uint64_t percent, std::size_t count) {
    const std::size_t rank = (count * percent + 99) / 100;
    return static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
}

double percent_of(sim::picoseconds part, sim::picoseconds all) {
    return all ? 100.0 * static_cast<double>(part) / static_cast<double>(all) : 0;
}

}  // namespace

account_report::account_report(const std::vector<traces::message_anatomy>& messages,
                               const std::vector<traces::resource_use::interval>& use) {
    measured_ = std::ranges::any_of(messages, &traces::message_anatomy::measured);
    std::map<std::uint64_t, size_account> by_size;
    for (const auto& message : messages)
        if (message.measured || !measured_) by_size[message.bytes].messages.push_back(&message);
    for (auto& [bytes, of] : by_size) {
        of.bytes = bytes;
        const sim::picoseconds first = of.messages.front()->begin();
        for (const auto& interval : use)
            if (first >= interval.begin && first < interval.end) of.during = interval;
        collect(of);
        sizes_.push_back(std::move(of));
    }
}

void account_report::collect(size_account& of) {
    const auto add = [&](std::map<traces::stage, row>& rows, const traces::interval& i, std::size_t message) {
        const auto [known, fresh] = rows.try_emplace(i.what);
        row& r = known->second;
        if (fresh) r = {traces::name_of(i.what), traces::is_wait(i.what), {}};
        r.times.resize(of.messages.size());
        r.times[message] += i.length();
    };
    for (std::size_t n = 0; n < of.messages.size(); ++n) {
        for (const auto& i : of.messages[n]->path) add(of.path, i, n);
        for (const auto& i : of.messages[n]->beside) add(of.beside, i, n);
        of.latencies.push_back(of.messages[n]->latency());
    }
}

json account_report::statistics_of(const std::string& name, std::vector<sim::picoseconds> times) {
    const sim::picoseconds last = times.back();
    const double mean = mean_of(times);
    const auto median = times.begin() + rank_of(50, times.size()),
               p99 = times.begin() + rank_of(99, times.size());
    std::ranges::nth_element(times, p99);
    if (median != p99) std::nth_element(times.begin(), median, p99);
    return {{"stage", name},        {"last_ps", last}, {"mean_ps", mean},
            {"median_ps", *median}, {"p99_ps", *p99},  {"maximum_ps", *std::max_element(p99, times.end())}};
}

json account_report::rows_of(const size_account& of, const std::map<traces::stage, row>& rows) {
    // In the order in which the last message passed them; the others by part of the journey.
    std::vector<std::pair<std::size_t, const row*>> ordered;
    const auto& last = of.messages.back()->path;
    for (const auto& [what, r] : rows) {
        const auto first = std::ranges::find(last, what, &traces::interval::what);
        ordered.emplace_back(&rows == &of.path ? first - last.begin() : 0, &r);
    }
    std::ranges::stable_sort(ordered, {}, &std::pair<std::size_t, const row*>::first);
    json all = json::array();
    for (const auto& [place, r] : ordered) {
        json one = statistics_of(r->name, r->times);
        one["waits"] = r->waits;
        all.push_back(std::move(one));
    }
    if (&rows == &of.path) all.push_back(statistics_of("latency", of.latencies));
    return all;
}

json account_report::use_of(const size_account& of) {
    json rows = json::array();
    for (const auto& [resource, busy] : of.during.busy)
        rows.push_back(
            {{"resource", resource}, {"busy_percent", percent_of(busy, of.during.end - of.during.begin)}});
    return rows;
}

std::string account_report::bottleneck_of(const size_account& of) {
    if (of.during.busy.empty()) return "";
    return std::ranges::max_element(of.during.busy, {}, [](const auto& b) { return b.second; })->first;
}

json account_report::to_json() const {
    json all = json::array();
    for (const auto& of : sizes_)
        all.push_back({{"size_bytes", of.bytes},
                       {"count_messages", of.messages.size()},
                       {"measured_only", measured_},
                       {"from", of.messages.back()->sender},
                       {"to", of.messages.back()->receiver},
                       {"packets", of.messages.back()->packets},
                       {"stages", rows_of(of, of.path)},
                       {"beside", rows_of(of, of.beside)},
                       {"utilisation", use_of(of)},
                       {"bottleneck", bottleneck_of(of)}});
    return all;
}

std::string account_report::text_of(const size_account& of, bool colours) const {
    const auto& last = *of.messages.back();
    std::string text = fmt::format(
        "account of {} messages of {} bytes{}; last: {} to {}\n", of.messages.size(), of.bytes,
        measured_ ? ", warm-up left out" : " (the workload does not say what it measures: all of them)",
        last.sender, last.receiver);
    text +=
        "Each stage begins where the one before ends: `last` and `mean` add up to the latency, quantiles "
        "need not.\n";
    const auto in_table = [&](const std::map<traces::stage, row>& rows) {
        json shown = rows_of(of, rows);
        for (auto& r : shown) r.erase("waits");
        return table_of_rows(shown, colours);
    };
    text += in_table(of.path);
    if (!of.beside.empty()) text += "\nmeanwhile, off the path\n" + in_table(of.beside);
    if (of.during.end != 0)
        text += fmt::format("\nbusy while that was measured; most of all: {}\n{}", bottleneck_of(of),
                            table_of_rows(use_of(of), colours));
    return text;
}

/// By part of the journey: means.
std::string account_report::overview(bool colours) const {
    json rows = json::array();
    for (const auto& of : sizes_) {
        json line{{"size_bytes", of.bytes}};
        for (const char* part : traces::journey_names) line[fmt::format("{}_ns", part)] = 0.0;
        for (const auto& [what, r] : of.path) {
            json& sum =
                line[fmt::format("{}_ns", traces::journey_names[static_cast<std::size_t>(what.part)])];
            sum = sum.get<double>() + mean_of(r.times) / 1e3;
        }
        line["latency_ns"] = mean_of(of.latencies) / 1e3;
        line["bottleneck"] = bottleneck_of(of);
        rows.push_back(std::move(line));
    }
    return fmt::format("account, means by part of the journey{}; every stage: fewer sizes, or --json\n{}",
                       measured_ ? ", warm-up left out" : "", table_of_rows(rows, colours));
}

std::string account_report::to_text(bool colours) const {
    if (sizes_.empty())
        return "account: no message was followed from its post to its completion"
               " (in a TCP stream none can be: use transport=udp)\n";
    if (sizes_.size() > sizes_in_full) return overview(colours);
    std::string text;
    for (const auto& of : sizes_) text += (text.empty() ? "" : "\n") + text_of(of, colours);
    return text;
}

}  // namespace vinic::testbench
