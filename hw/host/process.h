// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hw/host/address_space.h"
#include "hw/host/context.h"
#include "hw/host/memory.h"
#include "hw/host/poll.h"
#include "hw/sim/probe.h"

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

/// A simulated process (or thread of one): native code on a SystemC thread of its own, charged through its
/// node's processors. Made by `cpu::spawn`.
class process : public context, private memory_watcher {
public:
    using body = std::function<void(process&)>;

    process(cpu& processor, std::string name, unsigned number, user_memory* space, body what);
    ~process() override;

    bool has_space() const { return space_ != nullptr; }
    user_memory& space() { return *space_; }
    bool finished() const { return state_ == state::finished; }
    /// What ended the body, if an exception did; the kernel is stopped then.
    std::exception_ptr failure() const { return failure_; }
    /// "waits for completion of vi 3", "runs", ...: for the report of a deadlock.
    std::string activity() const;
    /// Whether it goes on only when somebody else does something: it waits, or polls in vain, without a time
    /// at which it gives up.
    bool waits_for_ever() const;
    /// When the program last went on: not its empty polls, nor what the kernel does for it.
    sim::picoseconds went_on_at() const { return went_on_at_; }

    /// Enters the kernel, runs `in_kernel` on this thread in kernel mode (no time slice ends there; it may
    /// block), and leaves it.
    template <typename F>
    auto trap(F&& in_kernel) {
        return trap(system_call_gate(), std::forward<F>(in_kernel));
    }
    /// Through a gate of its own: what it takes in and out of the kernel instead of a system call's costs.
    struct gate {
        clocks entry = 0;
        clocks exit = 0;
    };
    template <typename F>
    auto trap(const gate& through, F&& in_kernel) {
        enter_kernel(through.entry);
        if constexpr (std::is_void_v<decltype(in_kernel())>) {
            in_kernel();
            leave_kernel(through.exit);
        } else {
            auto result = in_kernel();
            leave_kernel(through.exit);
            return result;
        }
    }

    /// Gives the processor up until somebody wakes the queue or `deadline` has come; false for the latter.
    bool block(wait_queue& queue, sim::picoseconds deadline = sim::never) {
        return block(queue, deadline, deadline);
    }
    /// The same in a loop that ends at `gives_up`, for the report of a deadlock.
    bool block(wait_queue& queue, sim::picoseconds deadline, sim::picoseconds gives_up);
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
    /// A program that counts its empty looks and acts on the count must say so with `counts_polls`.
    template <typename F>
    bool poll(const poll_point& point, F&& found) {
        if (!look(point)) return false;
        if (!found()) return false;
        found_something();
        return true;
    }
    void counts_polls(bool yes) { counts_polls_ = yes; }
    /// Whether the program may look at its memory between polls through real pointers (the default): then any
    /// write to it ends the sleep. One that reads only through the library says no.
    void reads_memory_directly(bool yes) { reads_memory_directly_ = yes; }
    /// Something that its polls may observe changed now, other than through memory.
    void disturb() { changes_at(sim::now(), {}); }

    sim::value_probe kernel_probe;

private:
    friend class cpu;
    friend class wait_queue;

    void run();
    gate system_call_gate() const;
    void enter_kernel(clocks entry);
    void leave_kernel(clocks exit);
    void timer();
    /// Gives the processor up in state `waiting`; returns when the process runs again.
    void wait_off_processor(sim::picoseconds deadline);
    bool too_late() const;
    bool woken();

    /// One look's time; false when it is known to have found nothing.
    bool look(const poll_point& point);
    bool sleep_through_polls();
    bool changed_since(sim::picoseconds at, const std::vector<poll_point>& cycle) const;
    void found_something();
    void leave_cycle();
    void count_slept_polls(clocks executed = 0);
    bool replay(const poll_point& point, bool& real);
    void changes_at(sim::picoseconds at, const physical_range& where) override;
    void acted() override;
    void goes_on() override;
    clocks left_from(std::uint64_t edge) const override;
    void advance(clocks n) override;

    user_memory* space_;
    bool shares_space_ = false;  ///< with other threads of the program
    body body_;
    std::exception_ptr failure_;

    unsigned kernel_depth_ = 0;
    sim::picoseconds ready_since_ = 0;
    sim::picoseconds waiting_since_ = 0;
    bool waking_ = false;  ///< ready after a wait
    unsigned last_processor_ = 0;
    wait_queue* queue_ = nullptr;
    sim::picoseconds gives_up_at_ = sim::never;  ///< waiting in a queue
    sim::picoseconds went_on_at_ = 0;
    bool timed_out_ = false;
    sc_core::sc_event timer_;
    sc_core::sc_process_handle timer_method_;

    bool counts_polls_ = false;
    bool reads_memory_directly_ = true;
    poll_history history_;
    poll_nap nap_;
    std::vector<poll_point> in_vain_;  ///< step by step: the cycle through which it would sleep
    sim::picoseconds disturbed_at_ = 0;
    std::uint64_t slept_polls_ = 0;  ///< of this nap, already counted
    std::size_t replay_next_ = 0;    ///< looks of the cycle that the program has yet to hear of, from here
    std::size_t replay_end_ = 0;     ///< to here
};

}  // namespace vinic::host
