// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hw/host/process.h"
#include "testbench/attach/call_recorder.h"
#include "testbench/attach/kernel_view.h"
#include "testbench/attach/machine_process.h"
#include "testbench/attach/spin_proof.h"
#include "testbench/attach/window_memory.h"
#include "vipl/attach/channel.h"
#include "vipl/attach/service.h"
#include "vipl/program.h"

namespace vinic::testbench {

/// Of a program: one of setitimer's, timer_create's or timerfd_create's.
struct program_timer {
    sim::picoseconds at = sim::never;
    sim::picoseconds interval = 0;
    bool kept = false;  ///< a simulated process looks after it
    vipl::attach::timer_tells tells = vipl::attach::timer_tells::nobody;
    int signal = 0;
    std::uint64_t value = 0;     ///< that comes with the signal
    pid_t thread = 0;            ///< that gets it
    int file = -1;               ///< our end of the counter
    std::uint64_t overruns = 0;  ///< since its signal, which is not taken yet
    host::wait_queue changed{"a timer that is not set"};
};

/// A thread of an attached program, while its calls are served.
struct caller {
    explicit caller(const std::string& name) : outside("a call of " + name) {}

    vipl::attach::slot* channel = nullptr;  ///< null: it has not called yet
    pid_t thread = 0;
    bool served = false;  ///< its call is being worked on
    bool gone = false;
    spin_proof spin;                      ///< holds while the thread is stopped in a loop
    bool others_write = false;            ///< other threads may end the loop, not only the card
    host::process* self = nullptr;        ///< that serves it, while it spins
    host::wait_queue outside;             ///< where its simulated process waits while the thread is elsewhere
    sim::picoseconds limit = sim::never;  ///< of that
    recorded_thread record;

    /// It has asked for something that nobody works on yet.
    bool asks() const { return !gone && !served && channel && channel->turn == vipl::attach::phase::asking; }
};

/// A program in an operating-system process of its own, which is a simulated process of a node.
class attached_program {
public:
    /// `number`: among the programs. `command`: empty if something else starts it.
    attached_program(unsigned number, unsigned node, std::string command, host::memory& ram);
    ~attached_program();
    attached_program(const attached_program&) = delete;
    attached_program& operator=(const attached_program&) = delete;

    const unsigned number;
    const unsigned node;
    std::string command;                       ///< as it was given, or as the kernel names it
    const std::string name;                    ///< "ping (process 1)"
    std::unique_ptr<machine_process> machine;  ///< null: it has not been started, as far as we know
    bool attached = false;                     ///< it has said that it is there
    bool ended = false;
    bool closed = false;                  ///< what it has left open is being closed
    std::uint64_t unproven_advances = 0;  ///< time went on though a thread ran

    window_memory memory;
    int region_file() const { return region_file_; }
    vipl::attach::region& channel() { return *region_; }

    /// Its own thread first, then in the order in which they called; at one instant by number.
    std::vector<std::unique_ptr<caller>> callers;
    std::array<program_timer, vipl::attach::timers_max> timers;
    caller* for_handlers = nullptr;  ///< the library's thread for handlers
    std::shared_ptr<vipl::program> library;
    caller& add_caller();
    std::unique_ptr<vipl::attach::callbacks> handlers;

    pid_t process() const { return machine ? machine->number() : 0; }
    /// Looks for threads that call for the first time and those that have gone; the new ones in the order of
    /// their numbers.
    std::vector<caller*> find_callers();
    /// Whether each of its threads is known, without the kernel's help, to have asked.
    bool all_ask();
    /// The same with its help: asked, blocked or gone. `seen`: threads that are blocked are added.
    bool all_stand(thread_runs& seen);
    /// Time will be asked to go on: how long threads run is counted from here.
    void expect_calls() { running_.clear(); }
    /// Time goes on.
    void stood() { told_ = false; }
    /// Stops those of its threads that run for a while and can be shown to spin; and takes those that have
    /// had a processor for longer than `grace` for standing, until they ask.
    void judge_running_threads(std::chrono::nanoseconds grace);
    /// Lets threads go on whose loops others may have ended; whether there were any.
    bool release_spins();
    /// False where the words (channel.h) say nothing that can be.
    bool open_timer(const std::uint64_t (&words)[vipl::attach::words_of_call]);
    /// A timer's counter, from nothing again.
    static void clear(const program_timer& t);
    /// It has expired. A signal ends every loop and every wait that it lets end; returns when it is taken.
    void tell(program_timer& t);
    /// Gives the slot of a call back.
    static void give_back(vipl::attach::slot& s);

private:
    const vipl::attach::slot* slot_of(pid_t thread) const;
    bool asks(pid_t thread) const;
    bool stands(const thread_view& t) const;
    caller* caller_of(pid_t thread) const;
    std::span<vipl::attach::slot> slots() const {
        return {region_->slots, std::min<std::size_t>(region_->slots_used, vipl::attach::threads_max)};
    }
    void end_callers_without_slot();

    /// Of a thread that runs, in nanoseconds that it has had a processor.
    struct effort {
        std::uint64_t begin;
        std::uint64_t next_proof;
    };
    bool told_ = false;  ///< a signal was sent: a thread that asks may be in its handler
    std::map<pid_t, effort> running_;
    std::set<pid_t> excused_;
    int region_file_;
    vipl::attach::region* region_;
};

}  // namespace vinic::testbench
