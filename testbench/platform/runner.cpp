// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/runner.h"

#include <sys/resource.h>

#include <algorithm>

#include "host_driver/sockets/socket_layer.h"
#include "hw/sim/stretch.h"

namespace vinic::testbench {

namespace {

double seconds_of(const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

rusage usage_so_far() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage;
}

double cpu_seconds() {
    const rusage usage = usage_so_far();
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

constexpr std::uint64_t maxrss_unit_bytes = 1024;

double seconds_between(std::chrono::steady_clock::time_point a, std::chrono::steady_clock::time_point b) {
    return std::chrono::duration<double>(b - a).count();
}

/// What a block threw, without what the kernel says around it.
std::string text_of(const sc_core::sc_report& report) {
    const std::string text = report.get_msg();
    const std::string around = "uncaught exception: ";
    return text.starts_with(around) ? text.substr(around.size()) : text;
}

constexpr sim::picoseconds first_stretch = 10'000'000;            // 10 us
constexpr sim::picoseconds longest_traced_stretch = 100'000'000;  // 100 us: what traces hold back stays small
constexpr double stretch_seconds = 0.03;
/// The longest stretch without traces. A deadlock is looked for at multiples of it, so that its time is the
/// same in every mode.
constexpr sim::picoseconds watch_interval = 1'000'000'000;  // 1 ms

}  // namespace

runner::runner(platform& what, clock::time_point started) : platform_(what), started_(started) {}

ending runner::run(std::optional<sim::picoseconds> until, const interrupt_guard& interrupt) {
    begun_ = reported_ = clock::now();
    cost_.startup_s = seconds_between(started_, begun_);
    const double cpu_before = cpu_seconds();
    const sim::picoseconds longest = between_ ? longest_traced_stretch : watch_interval;
    sim::picoseconds stretch = first_stretch;
    // Goals go on by themselves: time stands where the last event was, and what settles may add one a clock
    // later, each time.
    sim::picoseconds goal = 0;
    std::optional<ending> end;
    while (!end) {
        const auto before = clock::now();
        if (outside_ && !sc_core::sc_pending_activity()) outside_(true);
        const sim::picoseconds stop = next_stop(until);
        goal = std::min(std::max(goal, sim::now()) + stretch, stop);
        advance(goal, stop, until);
        end = end_at(stop, until);
        if (!end && interrupt.raised()) end = ending::interrupted;
        if (!end && outside_) outside_(false);
        if (!end && between_) settle();
        if (!end && interval_ && sim::now() == stop && stop % interval_ == 0) {
            platform_.sync();
            at_interval_(sim::now());
        }
        if (progress_) report_progress(until);
        const double took = seconds_between(before, clock::now());
        stretch = took < stretch_seconds / 2   ? std::min(2 * stretch, longest)
                  : took > 2 * stretch_seconds ? std::max(stretch / 2, first_stretch)
                                               : stretch;
    }
    cost_.wall_s = seconds_between(begun_, clock::now());
    cost_.cpu_s = cpu_seconds() - cpu_before;
    settle();
    count();
    if (progress_) std::fputs("\r\x1b[K", stderr);
    return *end;
}

/// Where the run ends, or the next interval that somebody wants to look at.
sim::picoseconds runner::next_stop(std::optional<sim::picoseconds> until) const {
    const auto after_now = [](sim::picoseconds interval) { return (sim::now() / interval + 1) * interval; };
    sim::picoseconds next = after_now(watch_interval);
    if (interval_) next = std::min(next, after_now(interval_));
    return until ? std::min(*until, next) : next;
}

/// Up to `goal`, or further when the next event lies behind it, but never past `stop`.
void runner::advance(sim::picoseconds goal, sim::picoseconds stop, std::optional<sim::picoseconds> until) {
    const bool going = sc_core::sc_pending_activity();
    const sim::picoseconds next =
        going ? sim::now() + sc_core::sc_time_to_pending_activity().value() : sim::never;
    const bool stops = std::max(goal, next) >= stop;
    goal = stops ? stop : std::max(goal, next);
    try {
        if (next <= goal) start(goal, sc_core::SC_EXIT_ON_STARVATION);
        platform_.check_processes();  // what failed has stopped the kernel for good
        if (stops && !platform_.finished() && !phase_ends()) start(stop, sc_core::SC_RUN_TO_TIME);
    } catch (const sc_core::sc_report& report) {
        throw std::runtime_error(text_of(report));
    }
    platform_.check_processes();
    if ((stops && stop == until) || platform_.finished() || phase_ends()) {
        platform_.sync();  // what is known in closed form may leave something to do at this instant
        finish_instant();
    }
    if (phase_ends()) {
        platform_.sync();
        entered_(sim::now());
    }
}

std::optional<ending> runner::end_at(sim::picoseconds stop, std::optional<sim::picoseconds> until) {
    if (platform_.finished()) return ending::finished;
    if (sim::now() == stop && stop % watch_interval == 0)
        if (const auto end = hangs()) return end;
    return until && sim::now() >= *until ? std::optional(ending::time_limit) : std::nullopt;
}

/// Whether all processes wait in vain, and why; at an instant that does not depend on the mode.
std::optional<ending> runner::hangs() {
    if (!platform_.processes_wait()) return std::nullopt;
    platform_.sync();
    finish_instant();
    const bool quiet = platform_.quiet();
    if (!quiet && !(platform_.processes_wait() && platform_.out_of_patience())) return std::nullopt;
    if (outside_ && outside_(true)) return std::nullopt;
    return quiet ? ending::deadlock : ending::no_progress;
}

void runner::start(sim::picoseconds goal, sc_core::sc_starvation_policy policy) {
    if (goal <= sim::now()) return finish_instant();
    const sim::stretch until_goal(goal);
    sc_core::sc_start(sim::to_sc_time(goal - sim::now()), policy);
}

/// The last process may have ended in the middle of an instant: what else happens at it belongs to the run.
void runner::finish_instant() {
    while (sc_core::sc_pending_activity_at_current_time()) sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

void runner::settle() {
    platform_.sync();
    if (between_) between_(sim::now());
}

void runner::count() {
    cost_.simulated = sim::now();
    cost_.delta_cycles = sc_core::sc_delta_count();
    cost_.peak_memory_bytes = static_cast<std::uint64_t>(usage_so_far().ru_maxrss) * maxrss_unit_bytes;
    for (const auto& one : platform_.nodes()) {
        cost_.messages += one->vipl.messages.value();
        if (one->sockets) cost_.messages += one->sockets->messages.value();
        for (const node::plugged_card& card : one->cards) {
            if (!card.nic->core()) continue;
            const lanai::core_counters& core = card.nic->core()->core().counters();
            cost_.instructions += core.retired;
            cost_.instructions_executed += core.executed + core.reexecuted;
        }
    }
}

void runner::report_progress(std::optional<sim::picoseconds> until) {
    const auto now = clock::now();
    if (seconds_between(reported_, now) < 0.2) return;
    reported_ = now;
    const double wall = seconds_between(begun_, now);
    const double simulated = static_cast<double>(sim::now()) * 1e-12;
    double done = until ? simulated / (static_cast<double>(*until) * 1e-12) : 0;
    std::string rows;
    if (progress_->expected_rows()) {
        const auto have = static_cast<double>(progress_->row_count());
        const auto want = static_cast<double>(progress_->expected_rows());
        done = std::max(done, have / want);
        rows = fmt::format(", row {:.0f} of {:.0f}", have, want);
    }
    std::string line = fmt::format("\r{:.3f} ms simulated, {:.0f} times slower than real time{}",
                                   simulated * 1e3, wall / simulated, rows);
    if (done > 0) line += fmt::format(", about {:.0f} s left", wall / done - wall);
    std::fputs((line + "\x1b[K").c_str(), stderr);
}

}  // namespace vinic::testbench
