// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/runner.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "testbench/cli/interrupt.h"
#include "testbench/cli/version.h"

namespace vinic::testbench::study {

namespace {

constexpr std::chrono::milliseconds between_looks{250};

std::string now_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

std::string clock_text(double seconds) {
    const auto all = static_cast<std::uint64_t>(std::llround(seconds));
    return all >= 3600 ? fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60)
                       : fmt::format("{}:{:02}", all / 60, all % 60);
}

std::size_t study_runner::outcome::failures() const {
    std::size_t all = 0;
    for (const auto& [status, count] : failed) all += count;
    return all;
}

double study_runner::elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
}

void study_runner::find_pending() {
    const auto known = results_.summaries();
    for (std::size_t i = plan_.points().points.size(); i-- > 0;) {
        const planned_point p = plan_.at(i);
        const auto found = known.find(p.key);
        const bool same = found != known.end() && found->second.identity == identities_.of(i, p);
        const bool well = same && found->second.status == "done";
        const bool again = options_.again_failed || (same && found->second.status == ended_point::killed);
        if (!same || (!well && again)) {
            pending_.push_back(i);
            continue;
        }
        ++outcome_.kept;
        if (!well) ++outcome_.failed[found->second.status];
    }
    wanted_ = pending_.size();
}

void study_runner::start_some() {
    while (engine_.has_room() && !pending_.empty()) {
        const std::size_t index = pending_.back();
        pending_.pop_back();
        engine_.start(index, plan_.at(index).command(plan_.result_options()));
    }
}

void study_runner::record(const ended_point& p) {
    const planned_point planned = plan_.at(p.index);
    point_record to{.key = planned.key,
                    .identity = identities_.of(p.index, planned),
                    .configuration = planned.configuration,
                    .seed = planned.seed,
                    .git_revision = git_revision,
                    .firmware_sha256 = identities_.firmware_sha256(p.index),
                    .host = p.host,
                    .finished = now_text(),
                    .wall_s = p.wall_s,
                    .status = p.status,
                    .exit_status = p.exit_status,
                    .log = p.log};
    const json result = json::parse(p.output, nullptr, false);
    if (result.is_object() && result.contains("results")) {
        to.metrics = metrics_of(result, plan_.study().metrics);
        to.events = result["cost"].value("events", std::uint64_t{0});
        if (!identities_.made(p.index, result.value("provenance", json::object()))) {
            to.status = "input changed";
            to.log += "vinic: its design, workload or firmware changed while the study ran\n";
        }
    } else if (to.status == "done") {
        to.status = "no result";
    }
    results_.add(to);
    engine_.recorded(p.index);
    ++outcome_.ran;
    outcome_.inside_points_s += p.wall_s;
    if (to.status != "done") ++outcome_.failed[to.status];
}

void study_runner::show_progress(bool last) const {
    if (!options_.progress) return;
    const double rate = static_cast<double>(outcome_.ran) / std::max(elapsed(), 1e-3);
    std::string line = fmt::format("{} of {} points", outcome_.ran, wanted_);
    if (outcome_.kept != 0) line += fmt::format(", {} kept", outcome_.kept);
    if (outcome_.ran != 0) line += fmt::format(", {:.3g}/s", rate);
    if (const auto failed = outcome_.failures(); failed != 0) line += fmt::format(", {} failed", failed);
    if (const auto state = engine_.state(); !state.empty() && !last) line += ", " + state;
    if (outcome_.ran != 0 && !last)
        line += fmt::format(", {} left", clock_text(static_cast<double>(wanted_ - outcome_.ran) / rate));
    fmt::print(stderr, "\r\x1b[K{}{}", line, last ? "\n" : "");
    std::fflush(stderr);
}

study_runner::outcome study_runner::run() {
    const interrupt_guard interrupt;
    find_pending();
    begun_ = std::chrono::steady_clock::now();
    start_some();
    while (engine_.under_way() != 0) {
        const auto ended = engine_.wait(between_looks);
        if (!interrupt_guard::raised())
            start_some();  // first of all, so that no processor waits for the disk
        for (const auto& p : ended)
            if (!interrupt_guard::raised() || p.status == "done") record(p);
        show_progress(false);
        if (interrupt_guard::raised()) {
            show_progress(true);
            const std::string rest = engine_.stop(interrupt_guard::by_user());
            throw interrupted(
                fmt::format("interrupted: {} of {} points are in the database{}; `{}` goes on from there",
                            outcome_.kept + outcome_.ran, plan_.points().points.size(),
                            rest.empty() ? "" : ", " + rest, options_.verb));
        }
    }
    outcome_.seconds = elapsed();
    if (wanted_ != 0) show_progress(true);
    return outcome_;
}

}  // namespace vinic::testbench::study
