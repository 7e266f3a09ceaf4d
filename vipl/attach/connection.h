// SPDX-License-Identifier: Apache-2.0
#pragma once

// The program's side of the channel. Part of libvipl: C++ without its library.

#include "vipl/attach/channel.h"

namespace vinic::vipl::attach {

/// The calling thread's slot for as long as this stands, to ask once or several times; null without a
/// simulator. A handler of a signal that comes meanwhile and asks, too, gets another slot, as a thread of its
/// own would. A call whose handler leaves it by siglongjmp goes on in the simulator, and its answer is
/// dropped.
class held_slot {
public:
    explicit held_slot(bool wanted = true);
    ~held_slot();
    held_slot(const held_slot&) = delete;
    held_slot& operator=(const held_slot&) = delete;

    operator slot*() const { return slot_; }
    slot* operator->() const { return slot_; }

private:
    friend struct thread_slots;
    slot* slot_ = nullptr;
    std::uint64_t mark_ = 0;  ///< as the thread noted it: else the frame has been left
};

/// Says once, on standard error, why there is no simulator.
void say_why_not();

/// Whether it uses a simulator, or was started for one. What a launcher starts (which may be a shell, and has
/// MPI to start) becomes a program of the simulator when it calls VIPL.
bool wanted();

/// Gives the slot to the simulator and returns when it comes back; false when the simulator has gone.
bool ask(slot& mine, std::uint32_t function);

/// Set before the program starts, where `count_thread` is called for every thread.
extern bool threads_are_counted;

/// A thread of the program begins (+1) or ends (-1).
void count_thread(int difference);

/// The program is about to make a process.
void expect_process();

/// Whether the calling thread is known to be the only one.
bool alone();

/// The library's own thread, which runs the program's handlers, once.
void start_callback_thread();

}  // namespace vinic::vipl::attach
