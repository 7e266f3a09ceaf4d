// SPDX-License-Identifier: Apache-2.0

// The beginning and end of programs: those that we start, and those that come.
#include "testbench/attach/supervisor.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "hw/sim/error.h"

namespace vinic::testbench {

namespace attach = vipl::attach;

using namespace std::chrono_literals;

namespace {

/// Programs that have not come are given up when nothing else has moved for so long.
constexpr auto arrival_patience = 1s;

}  // namespace

void supervisor::launch() {
    if (prctl(PR_SET_TSC, PR_TSC_ENABLE) != 0)
        fmt::print(
            stderr,
            "vinic: the kernel does not trap rdtsc: programs that read it see the machine's counter\n");
    const auto start = [&](program_command command, bool reads_input) {
        command.environment.push_back(fmt::format("{}={}", attach::socket_variable, listener_->path()));
        return std::make_unique<machine_process>(testbench::launch(command, reads_input), true);
    };
    const bool starts = std::ranges::any_of(plan_.programs, [](const auto& one) { return !!one.command; });
    if (plan_.launcher || starts) bystanders_ = std::make_unique<bystanders>();
    if (plan_.launcher) launcher_ = start(*plan_.launcher, true);
    for (const auto& p : programs_) {
        const auto& command = plan_.programs[p->number].command;
        awaiting_ = awaiting_ || !command;
        if (!command) continue;
        program_command with_place = *command;
        with_place.environment.push_back(fmt::format("{}={:05}", attach::process_variable, p->number));
        with_place.environment.push_back(fmt::format("{}={:05}", attach::node_variable, p->node));
        p->machine = start(with_place, p->number == 0);
    }
}

bool supervisor::reap() {
    bool any = false;
    const bool nobody_comes = launcher_ && launcher_->ended();
    for (const auto& p : programs_) {
        if (p->ended || !(p->machine ? p->machine->ended() : nobody_comes)) continue;
        p->ended = any = true;
        if (!p->machine)
            fmt::print(stderr, "vinic: the launcher has ended, and {} has not used VIPL\n", p->name);
        else if (const int signal = p->machine->signal())
            fmt::print(stderr, "vinic: {} was ended by signal {} ({})\n", p->name, signal, strsignal(signal));
    }
    return any;
}

/// Programs that have just begun to use VIPL.
void supervisor::meet() {
    listener::caller who;
    while (listener_->accept(who)) {
        attached_program* const p = program_for(who);
        if (p == nullptr) continue;
        p->attached = true;
        if (!p->machine) {
            p->machine = std::make_unique<machine_process>(who.process, false);
            p->command = name_of(who.process);
        }
        listener::welcome(who, p->region_file(), bell_file_, p->memory.file());
    }
}

/// By its number, else by its node, else the next; null when it has been refused.
attached_program* supervisor::program_for(const listener::caller& who) {
    const auto [number, node] = std::pair(who.said.process, who.said.node);
    const auto refuse = [&](const std::string& why) {
        listener::refuse(who, why);
        return nullptr;
    };
    if (number >= 0) {
        if (static_cast<std::size_t>(number) >= programs_.size())
            return refuse(
                fmt::format("the simulation has no process {}: it is for {} (-n)", number, programs_.size()));
        attached_program* const p = programs_[static_cast<std::size_t>(number)].get();
        if (!p->attached) return p;
        return refuse(fmt::format("{} uses VIPL already: a process that it made cannot, too", p->name));
    }
    const auto next = std::ranges::find_if(programs_, [&](const auto& p) {
        return !p->attached && (node < 0 || p->node == static_cast<unsigned>(node));
    });
    if (next == programs_.end())
        return refuse(node < 0 ? "the simulation has all its processes"
                               : fmt::format("the simulation has all its processes of node {}", node));
    if (node < 0)
        fmt::print(
            stderr,
            "vinic: a program that says neither which process it is ({}) nor on which node ({}) becomes {} "
            "on node {}, as the next to come\n",
            attach::process_variable, attach::node_variable, (*next)->name, (*next)->node);
    return next->get();
}

bool supervisor::all_have_come() const {
    return std::ranges::all_of(programs_, [](const auto& p) { return p->attached || p->ended; });
}

/// Programs wait for each other, or never call VIPL.
void supervisor::stop_awaiting() {
    awaiting_ = false;
    for (const auto& p : programs_) {
        if (p->attached || p->ended) continue;
        ++p->unproven_advances;
        fmt::print(
            stderr,
            "vinic: {} has not come, though nothing runs: time goes on without it, and this run is not "
            "reproducible\n",
            p->name);
    }
}

/// Whether programs have yet to come, unless nothing has moved since `quiet_since`, for long.
bool supervisor::still_awaits(clock::time_point& quiet_since) {
    if (all_have_come()) awaiting_ = false;
    if (!awaiting_) return false;
    const auto now = clock::now();
    if (std::exchange(moved_, false)) quiet_since = now;
    if (now - quiet_since < arrival_patience) return true;
    stop_awaiting();
    return false;
}

}  // namespace vinic::testbench
