// SPDX-License-Identifier: Apache-2.0
#include "hw/host/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hw/host/cpu.h"
#include "hw/sim/stretch.h"

namespace vinic::host {

namespace {

/// Address space for the stack of a process; real memory only where it is touched.
constexpr int stack_bytes = 1 << 20;

}  // namespace

// --- Wait queue

bool wait_queue::wake_one() {
    const auto first = std::ranges::find_if(waiters_, [](process* p) { return p->woken(); });
    if (first == waiters_.end()) return false;
    waiters_.erase(first);
    return true;
}

void wait_queue::wake_all() {
    while (wake_one()) {
    }
}

bool wait_queue::empty() const {
    return std::ranges::all_of(waiters_, [](const process* p) { return p->too_late(); });
}

// --- Life

process::process(cpu& processor, std::string name, unsigned number, user_memory* space, body what)
    : context(processor, std::move(name), number),
      kernel_probe(processor, fmt::format("process{}.in_kernel", number), 1,
                   "the process is in a system call, waiting included"),
      space_(space),
      body_(std::move(what)) {
    sc_core::sc_spawn_options thread;
    thread.set_stack_size(stack_bytes);
    sc_core::sc_spawn([this] { run(); }, nullptr, &thread);
    sc_core::sc_spawn_options method;
    method.spawn_method();
    method.dont_initialize();
    method.set_sensitivity(&timer_);
    timer_method_ = sc_core::sc_spawn([this] { timer(); }, nullptr, &method);
    cpu_.make_ready(*this, false);
}

process::~process() { ram().unwatch(*this); }

void process::run() {
    try {
        wait_until_done();
        body_(*this);
    } catch (const sc_core::sc_unwind_exception&) {
        throw;
    } catch (...) {
        failure_ = std::current_exception();
        sim::stop();
    }
    acted();
    cpu_.decide();
    cpu_.release(*this);
    state_ = state::finished;
    timer_method_.kill();  // SystemC keeps what was spawned during the run for ever else
}

std::string process::activity() const {
    switch (state_) {
        case state::finished:
            return "has finished";
        case state::ready:
            return "waits for a processor";
        case state::waiting:
            return queue_ ? "waits for " + queue_->what() : "sleeps";
        default:
            return nap_.asleep() || !in_vain_.empty() ? "polls" : "runs";
    }
}

bool process::waits_for_ever() const {
    switch (state_) {
        case state::finished:
            return true;
        case state::waiting:
            return queue_ && gives_up_at_ == sim::never;
        case state::ready:
            if (waking_) return false;
            [[fallthrough]];
        case state::running:
            if (nap_.asleep()) return nap_.wake() == sim::never;
            return !in_vain_.empty() && !changed_since(history_.round_begin(), in_vain_) &&
                   std::ranges::all_of(in_vain_,
                                       [](const poll_point& p) { return p.deadline == sim::never; });
        default:
            return false;
    }
}

// --- Kernel mode

process::gate process::system_call_gate() const { return {cpu_.trap_entry_clocks, cpu_.trap_exit_clocks}; }

void process::enter_kernel(clocks entry) {
    acted();
    cpu_.decide();
    cpu_.traps.add();
    if (++kernel_depth_ == 1) kernel_probe.set(1);
    work(cpu_.cost(entry));
}

void process::leave_kernel(clocks exit) {
    acted();
    work(cpu_.cost(exit));
    cpu_.decide();
    if (--kernel_depth_ == 0) kernel_probe.set(0);
    cpu_.kernel_left(*this);
}

// --- Waiting

bool process::block(wait_queue& queue, sim::picoseconds deadline, sim::picoseconds gives_up) {
    queue_ = &queue;
    gives_up_at_ = gives_up;
    waiting_since_ = sim::now();
    const auto later = std::ranges::find_if(queue.waiters_, [&](const process* p) {
        return p->waiting_since_ == waiting_since_ && p->number_ > number_;
    });
    queue.waiters_.insert(later, this);
    wait_off_processor(deadline);
    const bool woken = !timed_out_;
    if (queue_) queue_->waiters_.remove(this);
    queue_ = nullptr;
    timed_out_ = false;
    return woken;
}

void process::sleep_until(sim::picoseconds at) {
    if (at <= sim::now()) return yield();
    wait_off_processor(at);
    timed_out_ = false;
}

void process::wait_off_processor(sim::picoseconds deadline) {
    acted();
    cpu_.decide();
    cpu_.release(*this);
    if (deadline != sim::never) timer_.notify(sim::delay_until(deadline));
    wait_until_done();
    timer_.cancel();
}

void process::timer() {
    if (state_ != state::waiting) return;
    cpu_.decide();
    timed_out_ = true;
    cpu_.make_ready(*this, true);
}

bool process::too_late() const { return timed_out_ && ready_since_ != sim::now(); }

/// The queue's wake-up has come, unless too late.
bool process::woken() {
    if (too_late()) return false;
    queue_ = nullptr;
    if (timed_out_)
        timed_out_ = false;
    else
        cpu_.make_ready(*this, true);
    return true;
}

void process::yield() {
    acted();
    cpu_.decide();
    cpu_.release(*this);
    cpu_.make_ready(*this, false);
    wait_until_done();
}

// --- Polling

bool process::look(const poll_point& point) {
    bool real = true;
    if (replay(point, real)) return real;
    in_vain_.clear();
    if (!counts_polls_) {
        auto cycle = history_.cycle_from(point, cpu_.poll_rounds);
        if (!cycle.empty() && !changed_since(history_.round_begin(), cycle)) {
            if (!cpu_.step_by_step) {
                nap_.begin(std::move(cycle));
                return sleep_through_polls();
            }
            in_vain_ = std::move(cycle);
        }
    }
    work(std::max<clocks>(cpu_.cost(point.cost), 1));
    cpu_.polls.add();
    history_.record(point, sim::now());
    return true;
}

/// Whether a look of the next round may find what the latest round was too early to see.
bool process::changed_since(sim::picoseconds at, const std::vector<poll_point>& cycle) const {
    if (disturbed_at_ > at) return true;
    return std::ranges::any_of(
        cycle, [&](const poll_point& point) { return cpu_.memory_.changed_since(at, point.watched); });
}

/// After a sleep that ended at a later look of the cycle, the program has yet to make the calls before it:
/// they found nothing, and their time has passed.
bool process::replay(const poll_point& point, bool& real) {
    if (replay_next_ == replay_end_) return false;
    if (!(nap_.cycle()[replay_next_] == point)) {
        leave_cycle();
        return false;
    }
    real = ++replay_next_ == replay_end_;
    history_.record(point, real ? sim::now() : 0);
    return true;
}

bool process::sleep_through_polls() {
    slept_polls_ = 0;
    cpu_.napping_.push_back(this);
    for (const poll_point& point : nap_.cycle())
        if (point.watched.bytes) ram().watch(point.watched, *this);
    if (space_ && reads_memory_directly_) ram().watch_pages_of(space_, *this);
    cpu_.decide();
    if (state_ == state::running) cpu_.start(*this);
    wait_until_done();
    ram().unwatch(*this);
    std::erase(cpu_.napping_, this);
    count_slept_polls();
    nap_.end();
    const std::size_t last = (slept_polls_ - 1) % nap_.cycle().size();
    replay_next_ = 1;
    replay_end_ = last + 1;
    history_.record(nap_.cycle().front(), last == 0 ? sim::now() : 0);
    return last == 0;
}

void process::count_slept_polls(clocks executed) {
    const std::uint64_t looks = nap_.looks(executed);
    cpu_.polls.add(looks - slept_polls_);
    slept_polls_ = looks;
}

void process::found_something() {
    history_.clear();
    in_vain_.clear();
    went_on_at_ = sim::now();
    work(cpu_.cost(cpu_.from_ns(cpu_.dma_line_miss_ns)));
}

void process::acted() {
    leave_cycle();
    in_vain_.clear();
    if (kernel_depth_ == 0) went_on_at_ = sim::now();
}

void process::leave_cycle() {
    // A program that leaves a cycle before it has heard of all its looks counts them: no more sleep for it.
    if (replay_next_ != replay_end_) counts_polls_ = true;
    replay_next_ = replay_end_ = 0;
    history_.clear();
}

void process::changes_at(sim::picoseconds at, const physical_range&) {
    if (at == sim::now()) disturbed_at_ = at;
    if (!nap_.asleep()) return;
    nap_.wake_at(at);
    if (state_ == state::running) cpu_.start_again(*this);
}

void process::goes_on() {
    if (shares_space_) cpu_.tell_sharers(*this);
}

clocks process::left_from(std::uint64_t edge) const {
    if (!nap_.asleep()) return left_;
    if (nap_.wake() == sim::never) return forever;
    const std::uint64_t wake = cpu_.clock().edge_at_or_after(nap_.wake());
    return nap_.to_look(wake > edge ? wake - edge : 0);
}

void process::advance(clocks n) {
    if (nap_.asleep())
        nap_.advance(n);
    else
        left_ -= n;
}

}  // namespace vinic::host
