// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hw/host/address_space.h"
#include "hw/host/context.h"
#include "hw/host/memory.h"

namespace vinic::host {

class process;

/// Where processes wait for something that software tells them: first come, first served; at one instant the
/// lower process number. A wake-up at the very instant of a waiter's deadline reaches it.
class wait_queue {
public:
    /// `what`: for the report of who waits for what.
    explicit wait_queue(std::string what) : what_(std::move(what)) {}
    wait_queue(const wait_queue&) = delete;
    wait_queue& operator=(const wait_queue&) = delete;

    /// Wakes the first waiter; false when there is none. From any context, or from hardware.
    bool wake_one();
    void wake_all();
    bool empty() const;
    const std::string& what() const { return what_; }

private:
    friend class process;
    std::string what_;
    std::list<process*> waiters_;
};

/// One place that a process polls.
struct poll_point {
    std::uint64_t key = 0;   ///< identity: the same key stands for the same look at the same place
    clocks cost = 1;         ///< of one look; at least one clock
    physical_range watched;  ///< what the look reads; empty when only `change_at` or `disturb` can change it
    sim::picoseconds deadline = sim::never;  ///< the look also asks whether this time has come
};

/// A simulated process (or thread of one): native code on a SystemC thread of its own, charged through its
/// node's processors.
class process : public context, private memory_watcher {
public:
    using body = std::function<void(process&)>;

    /// Ready at the instant of its creation; `number` is its rank among processes that are ready at one
    /// instant. `space` may be null for a process that has none, and is shared by threads of one process.
    process(cpu& processor, std::string name, unsigned number, user_memory* space, body what);
    ~process() override;

    unsigned number() const { return number_; }
    user_memory& space() { return *space_; }
    bool finished() const { return state_ == state::finished; }
    /// What ended the body, if an exception did; the kernel is stopped then.
    std::exception_ptr failure() const { return failure_; }
    /// "waits for completion of vi 3", "runs", ...: for the report of a deadlock.
    std::string activity() const;

    /// Enters the kernel, runs `in_kernel` on this thread in kernel mode (no time slice ends there; it may
    /// block), and leaves it.
    template <typename F>
    auto trap(F&& in_kernel) {
        struct kernel_mode {
            explicit kernel_mode(process& p) : self(p) { self.enter_kernel(); }
            ~kernel_mode() noexcept(false) { self.leave_kernel(); }
            process& self;
        } mode(*this);
        return in_kernel();
    }

    /// Gives the processor up until somebody wakes the queue or `deadline` has come; false for the latter.
    bool block(wait_queue& queue, sim::picoseconds deadline = sim::never);
    void sleep_until(sim::picoseconds at);
    void sleep_for(sim::picoseconds span) { sleep_until(sim::now() + span); }
    /// Lets others that are ready go first.
    void yield();

    /// Looks once: costs `point.cost`, then asks `found()`. An empty look returns false. A process that goes
    /// round the same looks, with nothing else between, sleeps through those that cannot find anything: they
    /// are counted and charged, and it goes on at the first look at or after the instant at which what it
    /// watches changes. `found` must read nothing but memory in `point.watched`, state changed through
    /// `memory::change_at`, and the deadline.
    ///
    /// The program must not count its empty looks itself; one that does says so with `counts_polls`.
    template <typename F>
    bool poll(const poll_point& point, F&& found) {
        if (!look(point)) return false;
        const bool yes = found();
        looked(point, yes);
        return yes;
    }
    void counts_polls(bool yes) { counts_polls_ = yes; }
    /// Something that its polls may observe changed now, other than through memory: a sleeper's next look is
    /// real.
    void disturb();

private:
    friend class cpu;
    friend class wait_queue;

    void enter_kernel();
    void leave_kernel();
    /// One look's time; false when it is known to have found nothing.
    bool look(const poll_point& point);
    void looked(const poll_point& point, bool yes);
    void changes_at(sim::picoseconds at) override;
    void acted() override;

    user_memory* space_;
    body body_;
    std::exception_ptr failure_;
    bool counts_polls_ = false;
};

}  // namespace vinic::host
