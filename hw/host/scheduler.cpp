// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "hw/host/cpu.h"
#include "hw/host/interrupt_context.h"
#include "hw/sim/error.h"

namespace vinic::host {

namespace {

constexpr std::uint64_t no_edge = ~std::uint64_t{0};

}  // namespace

using state = context::state;

// --- When decisions are due

std::uint64_t cpu::interrupt_due() const {
    const processor& p = processors_.front();
    if (interrupt_request_ == sim::never || p.in_interrupt) return no_edge;
    if (p.current && p.current->state_ == state::stalled) return no_edge;
    return std::max(clock_.edge_after(interrupt_request_), interruptible_since_ + 1);
}

std::uint64_t cpu::free_due(const processor& p) const {
    if (ready_.empty() || p.current || p.in_interrupt) return no_edge;
    return std::max(clock_.edge_after(ready_.front()->ready_since_), p.free_since + 1);
}

/// Slices follow each other from the edge at which the process got the processor; the first that ends when
/// somebody is already waiting is its last. One that ended in kernel mode or in a stall ends after it.
std::uint64_t cpu::slice_due(const processor& p) const {
    if (ready_.empty() || !p.current || p.current->state_ != state::running || p.current->kernel_depth_)
        return no_edge;
    const std::uint64_t waiting = clock_.edge_after(ready_.front()->ready_since_);
    const std::uint64_t slices =
        waiting <= p.taken ? 1 : (waiting - p.taken + slice_clocks_ - 1) / slice_clocks_;
    const std::uint64_t end = p.taken + slices * slice_clocks_;
    return end > p.leavable_since ? end : p.leavable_since + 1;
}

void cpu::plan() {
    std::uint64_t edge = interrupt_due();
    for (const processor& p : processors_) edge = std::min({edge, free_due(p), slice_due(p)});
    const sim::picoseconds due = edge == no_edge ? sim::never : clock_.edge(edge);
    if (due == due_) return;
    due_ = due;
    due_event_.cancel();
    if (due_ != sim::never) due_event_.notify(sim::delay_until(due_));
}

// --- Decisions

void cpu::decide() {
    if (due_ == sim::never || sim::now() < due_) [[likely]]
        return;
    const std::uint64_t edge = edge_now();
    due_ = sim::never;
    take_interrupt(edge);
    change_hands(edge);
    plan();
}

void cpu::take_interrupt(std::uint64_t edge) {
    if (interrupt_due() != edge) return;
    processor& p = processors_.front();
    if (p.current) {
        process& interrupted = *p.current;
        if (interrupted.end() > edge) interrupted.resume_.cancel();
        account(interrupted, edge);
        interrupted.state_ = state::suspended;
    }
    p.in_interrupt = true;
    interrupt_request_ = sim::never;
    interrupt_begin_ = edge;
    interrupts.add();
    interrupt_->state_ = state::running;
    interrupt_->overhead_ = cost(interrupt_entry_clocks);
    start(*interrupt_);
}

void cpu::change_hands(std::uint64_t edge) {
    const auto waiting = static_cast<std::size_t>(
        std::ranges::count_if(ready_, [](const process* p) { return p->ready_since_ < sim::now(); }));
    std::vector<processor*> open;
    for (processor& p : processors_)
        if (free_due(p) <= edge) open.push_back(&p);
    std::vector<processor*> leaving;
    for (processor& p : processors_)
        if (open.size() + leaving.size() < waiting && slice_due(p) == edge) leaving.push_back(&p);
    for (processor* p : leaving) put_back(*p, edge);
    open.insert(open.end(), leaving.begin(), leaving.end());
    std::ranges::sort(open);  // by number: they are elements of one array

    const std::vector<process*> next(
        ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting, open.size())));
    for (process* p : next) {
        auto on = std::ranges::find(open, &processor_of(*p));
        if (on == open.end()) on = open.begin();
        dispatch(*p, **on, edge);
        open.erase(on);
    }
}

void cpu::dispatch(process& p, processor& on, std::uint64_t edge) {
    std::erase(ready_, &p);
    if (on.last && on.last != &p) {
        context_switches.add();
        p.overhead_ += cost(context_switch_clocks);
    }
    if (p.waking_) p.overhead_ += cost(process_wake_clocks);
    p.waking_ = false;
    p.last_processor_ = static_cast<unsigned>(&on - processors_.data());
    p.state_ = state::running;
    on.current = on.last = &p;
    running_probes[p.last_processor_]->set(p.number() + 1);
    on.taken = on.leavable_since = edge;
    start(p);
}

void cpu::put_back(processor& from, std::uint64_t edge) {
    process& p = *from.current;
    if (p.end() > edge) p.resume_.cancel();
    account(p, edge);
    vacate(p);
    queue_up(p, false);
}

void cpu::queue_up(process& p, bool woken) {
    p.state_ = state::ready;
    p.waking_ = woken;
    p.ready_since_ = sim::now();
    const auto later = std::ranges::find_if(ready_, [&](const process* other) {
        return other->ready_since_ == p.ready_since_ && other->number() > p.number();
    });
    ready_.insert(later, &p);
}

void cpu::vacate(process& p) {
    std::erase(ready_, &p);
    processor& from = processor_of(p);
    if (from.current != &p) return;
    from.current = nullptr;
    from.free_since = edge_now();
    running_probes[p.last_processor_]->set(0);
}

// --- What contexts ask for

void cpu::start(context& c) {
    c.since_ = c.busy_from_ = edge_now();
    start_again(c);
}

void cpu::start_again(context& c) {
    if (c.left_from(c.since_ + c.overhead_) == context::forever) return;
    c.resume_.notify(sim::delay_until(clock_.edge(c.end())));
}

/// The context executed from `since_` to `edge`.
void cpu::account(context& c, std::uint64_t edge) {
    const clocks executed = edge - c.since_;
    const clocks overhead = std::min(executed, c.overhead_);
    c.overhead_ -= overhead;
    c.advance(executed - overhead);
    count_busy(c, edge);
    c.since_ = edge;
}

void cpu::count_busy(context& c, std::uint64_t edge) {
    const sim::picoseconds span = clock_.edge(edge) - clock_.edge(c.busy_from_);
    busy.add(span);
    c.busy_ += span;
    c.busy_from_ = edge;
}

void cpu::make_ready(process& p, bool woken) {
    decide();
    queue_up(p, woken);
    plan();
}

void cpu::release(process& p) {
    decide();
    vacate(p);
    p.state_ = state::waiting;
    plan();
}

void cpu::stalled(context& c) {
    c.state_ = state::stalled;
    c.busy_from_ = edge_now();
    plan();
}

void cpu::stall_over(context& c, std::uint64_t edge) {
    count_busy(c, edge);
    c.state_ = state::running;
    c.since_ = edge;
    if (&c != interrupt_.get()) {
        processor& on = processor_of(static_cast<process&>(c));
        on.leavable_since = edge;
        if (&on == &processors_.front()) interruptible_since_ = edge;
    }
    plan();
}

void cpu::kernel_left(process& p) {
    if (p.state_ == state::running) processor_of(p).leavable_since = edge_now();
    plan();
}

void cpu::tell_sharers(const process& who) {
    for (const auto& p : processes_)
        if (p->space_ == who.space_ && p.get() != &who && p->reads_memory_directly_) p->disturb();
}

void cpu::hold() {
    for (const auto& p : processes_)
        if (p->state_ == state::running && p->waits_for_ever()) p->resume_.cancel();
}

void cpu::go_on() {
    for (const auto& p : processes_)
        if (p->state_ == state::running && p->waits_for_ever()) start_again(*p);
}

void cpu::settle() {
    const std::uint64_t edge = edge_now();
    const auto up_to_now = [&](context& c) {
        if (c.state_ == state::running || c.state_ == state::stalled) count_busy(c, edge);
    };
    up_to_now(*interrupt_);
    for (const auto& p : processes_) up_to_now(*p);
    for (process* p : napping_) {
        const clocks executed = p->state_ == state::running ? edge - p->since_ : 0;
        p->count_slept_polls(executed - std::min(executed, p->overhead_));
    }
}

}  // namespace vinic::host
