// SPDX-License-Identifier: Apache-2.0

// When simulated time may go on.
#include "testbench/attach/supervisor.h"

#include <unistd.h>

#include <algorithm>

#include "hw/sim/error.h"

namespace vinic::testbench {

namespace attach = vipl::attach;

using namespace std::chrono_literals;

namespace {

/// A program that the simulator does not hear of (it is killed, or blocks) is noticed after so long.
constexpr std::chrono::nanoseconds look_again = 1ms;
constexpr std::chrono::nanoseconds longest_rest = 10ms;
constexpr auto patience = 10s;

}  // namespace

bool supervisor::wake() {
    bool any = false;
    for (const auto& p : programs_) any = wake(*p) || any;
    return any;
}

bool supervisor::wake(attached_program& p) {
    bool any = false;
    if (!p.ended)
        for (caller* fresh : p.find_callers()) {
            any = true;
            if (recorder_) recorder_->released(fresh->record);
            platform_.watch(platform_.nodes()[p.node]->host.cpu.spawn(
                fmt::format("{} thread {}", p.name, fresh->record.thread), &p.memory,
                [this, &p, fresh](host::process& self) {
                    const vipl::program::scope mine(*p.library, self);
                    serve_thread(p, *fresh, self);
                }));
        }
    for (program_timer& t : p.timers)
        if (p.ended) t.changed.wake_all();
    if (p.ended && !p.closed) {
        p.closed = any = true;
        if (p.library && std::ranges::any_of(p.callers, [](const auto& c) { return c->served; }))
            close_after(p);
    }
    for (const auto& c : p.callers)
        if (c->self && (p.ended || !c->spin.holds())) c->self->disturb();
    for (const auto& c : p.callers) {
        if (!(p.ended || c->gone || c->asks()) || !c->outside.wake_one()) continue;
        any = true;
        if (recorder_) recorder_->released(c->record);
    }
    return any;
}

/// The usual case: one thread goes on and asks again, soon.
bool supervisor::wait_briefly(const caller& c) {
    for (int i = 0; i < looks_; ++i) {
        if (c.channel->turn == attach::phase::asking) return true;
        attach::relax();
    }
    const std::uint32_t rings = bell_->rings;
    bell_->asleep = 1;
    if (c.channel->turn != attach::phase::asking)
        attach::futex_wait(&bell_->rings, rings, look_again.count());
    bell_->asleep = 0;
    return c.channel->turn == attach::phase::asking;
}

/// Twice, because one thread may have woken another behind our back; one that has run meanwhile shows.
bool supervisor::all_stand() {
    meet();
    reap();
    if (awaiting_ && !launcher_ && !all_have_come()) return false;
    if (!launcher_ && std::ranges::all_of(programs_, [](const auto& p) { return p->all_ask(); })) {
        somebody_elsewhere_ = false;
        return true;
    }
    thread_runs seen[2];
    for (thread_runs& look : seen) {
        if (!bystanders_stand(look)) return false;
        if (!std::ranges::all_of(programs_, [&](const auto& p) { return p->all_stand(look); })) return false;
        meet();
    }
    somebody_elsewhere_ = true;
    moved_ = moved_ || seen[0] != seen_;
    seen_ = seen[1];
    if (reap()) return false;  // what ended in between looked as if it stood
    return seen[0] == seen[1];
}

bool supervisor::bystanders_stand(thread_runs& seen) {
    if (!bystanders_) return true;
    std::set<pid_t> ours;
    for (const auto& p : programs_)
        if (p->machine) ours.insert(p->machine->number());
    return bystanders_->all_stand(ours, seen);
}

/// Memory that threads spin on may have been written by others that have run.
bool supervisor::release_spins() {
    bool any = false;
    for (const auto& p : programs_) any = (!p->ended && p->release_spins()) || any;
    return any;
}

void supervisor::settle() {
    const auto since = clock::now();
    auto quiet_since = since;
    std::chrono::nanoseconds rest = look_again / 16;
    for (const auto& p : programs_) p->expect_calls();
    if (bystanders_) bystanders_->expect();
    for (;;) {
        const std::uint32_t rings = bell_->rings;
        bell_->asleep = 1;
        if (!all_stand() || release_spins())
            moved_ = true;
        else if (!still_awaits(quiet_since))
            break;
        attach::futex_wait(&bell_->rings, rings, rest.count());
        bell_->asleep = 0;
        rest = std::min(2 * rest, look_again);
        if (interrupt_guard::raised()) throw interrupted(fmt::format("interrupted at {} ps", sim::now()));
        complain(since);
        if (rest == look_again) judge();
    }
    for (const auto& p : programs_) p->stood();
    bell_->asleep = 0;
}

/// Threads that run for long.
void supervisor::judge() {
    const auto tell = [](const std::string& who) {
        fmt::print(stderr,
                   "vinic: {} runs without a call for longer than --grace: time goes on, and this run is not "
                   "reproducible\n",
                   who);
    };
    for (const auto& p : programs_) {
        const bool proven = p->unproven_advances == 0;
        if (!p->ended) p->judge_running_threads(timing_.grace);
        if (proven && p->unproven_advances != 0) tell(p->name);
    }
    if (const unsigned excused =
            bystanders_ && !awaiting_ ? bystanders_->excuse_those_that_run(timing_.grace) : 0) {
        programs_.front()->unproven_advances += excused;
        tell(launcher_ ? "the launcher, or what it has started," : "what a program has started");
    }
}

void supervisor::complain(clock::time_point since) {
    if (complained_ || clock::now() - since < patience) return;
    complained_ = true;
    thread_runs seen;
    for (const auto& p : programs_) {
        if (awaiting_ && !p->attached && !p->ended)
            fmt::print(stderr, "vinic: waiting for {}, which has not come\n", p->name);
        else if (!p->all_stand(seen))
            fmt::print(stderr, "vinic: waiting for {}, which runs (or is stopped) and calls nothing\n",
                       p->name);
    }
    if (!bystanders_stand(seen))
        fmt::print(stderr, "vinic: waiting for what {} has started\n",
                   launcher_ ? "the launcher" : "a program");
}

bool supervisor::look_outside(bool wait) {
    reap();
    if (somebody_elsewhere_ || wait) settle();
    bool any = wake();
    if (!wait) return any;
    for (const auto since = clock::now(); !any; any = wake()) {
        if (!somebody_elsewhere_) return false;
        if (interrupt_guard::raised()) return true;  // the runner sees it
        if (!complained_ && clock::now() - since > patience) {
            complained_ = true;
            fmt::print(stderr, "vinic: all programs wait for each other, or for something outside\n");
        }
        usleep(static_cast<useconds_t>(longest_rest / 1us));
        settle();
    }
    return true;
}

}  // namespace vinic::testbench
