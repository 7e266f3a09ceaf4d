// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a program's libvipl.so and the simulator share: memory, and the words of the handshake. Both sides run
// on one machine and include this header; a program that was built against another one is refused.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace vinic::vipl::attach {

/// Changes with anything in this header, in functions.h or in vipl.h.
inline constexpr std::uint32_t protocol_version = 4;
inline constexpr std::uint32_t magic = 0x4C504956;  // "VIPL"

// --- Environment of a program.
inline constexpr const char* socket_variable = "VINIC_SOCKET";    ///< where the simulator listens
inline constexpr const char* process_variable = "VINIC_PROCESS";  ///< which of its processes this one is
inline constexpr const char* node_variable = "VINIC_NODE";        ///< on which node, if the former is not set
inline constexpr const char* real_time_variable = "VINIC_REAL_TIME";  ///< set: clocks are the machine's
/// Where launchers of MPI and batch systems say which process this is, where VINIC_PROCESS is not set.
inline constexpr const char* rank_variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                                 "SLURM_PROCID"};

// --- A thread's calls.
/// Who has the slot: program and simulator take turns.
enum class phase : std::uint32_t {
    free,      ///< no thread has it
    running,   ///< the program
    asking,    ///< the simulator
    answered,  ///< the program, which has not seen it yet
    resting,   ///< the program; no handler runs that would use it
};

inline constexpr std::size_t words_of_call = 6;
inline constexpr std::size_t payload_bytes = 16'000;

/// What may be asked beyond the functions of VIPL, which are numbered from 0.
enum class request : std::uint32_t {
    read_clock = 64,  ///< result: simulated time in picoseconds; costs a system call, as the next does
    sleep_until,      ///< word 0: picoseconds
    share_pages,      ///< words: address, bytes, and where they are in the program's window
    next_callback,    ///< the library's thread for handlers asks for work
    limit_wait,   ///< words: picoseconds, and 1: from now; what the thread waits in then ends at that time
    read_cycles,  ///< result: what the processor's counter shows
    set_timer,   ///< words: which, timer_set, picoseconds, interval; the last two come back as they were, and
                 ///< in the result how often it expired since its signal, which is not taken yet
    open_timer,  ///< words: which, timer_tells, signal or file, value for the handler, thread; result: 0 if
                 ///< it cannot be
    read_processor_time,  ///< word 0: 1 for the thread's, 0 for the program's; result: picoseconds
};

/// Timers of a program: setitimer's, and behind them those that it makes.
inline constexpr std::size_t interval_timers = 3;
inline constexpr std::size_t timers_max = 64;
enum class timer_set : std::uint64_t { no, off, from_now, at };
enum class timer_tells : std::uint64_t { nobody, process, thread, file };

/// Whether a thread waits for something outside of the simulation no longer than to a simulated time.
enum class limit : std::uint32_t { none, armed, expired };
/// That ends such a wait: the kernel's last but one, which programs hardly use.
inline constexpr int limit_signal = 63;

/// One thread of the program. Written by whoever has it.
struct alignas(64) slot {
    std::atomic<phase> turn;
    std::atomic<std::uint32_t> asleep;     ///< the program's thread sleeps until `turn` changes
    std::int32_t thread;                   ///< the kernel's number of it; 0: the call is nobody's any more
    std::uint32_t depth;                   ///< handlers of signals that interrupt each other, up to this call
    std::atomic<std::uint32_t> abandoned;  ///< nobody waits for the answer: a handler left by siglongjmp
    std::uint32_t function;
    std::uint64_t words[words_of_call];
    std::uint64_t result;
    std::byte payload[payload_bytes];
    std::atomic<attach::limit> limit;
    std::uint64_t ran_ns;  ///< processor time since its latest answer, where that is measured
};

/// One program.
inline constexpr std::size_t threads_max = 64;
struct region {
    std::uint32_t magic;
    std::uint32_t version;
    std::int32_t simulator;              ///< its process number
    std::atomic<std::uint32_t> closed;   ///< the simulator serves no more
    std::uint32_t measures;              ///< `ran_ns` is wanted
    std::atomic<std::uint32_t> counted;  ///< `threads` is kept
    std::atomic<std::uint32_t> threads;  ///< of the program, those that never call included
    std::atomic<std::uint32_t>
        forked;  ///< it has made processes, which may run when no thread of its own does
    std::atomic<std::uint32_t> slots_used;  ///< the others have never been
    slot slots[threads_max];
};

/// Of the simulator, one for all programs: rung after a slot was given to it, when it sleeps.
struct doorbell {
    std::atomic<std::uint32_t> rings;
    std::atomic<std::uint32_t> asleep;
};

/// The file into which the pages move that a program registers: both sides map it, so either reaches them at
/// the cost of a load or store. Sparse; pages are handed out once, in ascending order.
inline constexpr std::uint64_t window_bytes = std::uint64_t{1} << 36;

// --- Handshake: the program sends `hello`; the answer comes with the descriptors of region, doorbell and
// window, or refuses with a text.
struct hello {
    std::uint32_t magic;
    std::uint32_t version;
    std::int32_t process;  ///< -1: its environment does not say
    std::int32_t node;     ///< likewise
};
struct welcome {
    std::uint32_t accepted;
    char text[252];
};

// --- Handlers: the answer to next_callback, in words: kind, handler, context, and its arguments.
enum class callback_kind : std::uint64_t { none, error, work_queue, completion_queue };

/// Whoever sees an abandoned call answered, program or simulator, makes its slot free.
inline void free_if_abandoned(slot& s) {
    if (s.abandoned == 0) return;
    phase over = phase::answered;
    s.turn.compare_exchange_strong(over, phase::free);
}

inline void futex_wait(const void* word, std::uint32_t expected, long nanoseconds) {
    const timespec limit{.tv_sec = nanoseconds / 1'000'000'000, .tv_nsec = nanoseconds % 1'000'000'000};
    syscall(SYS_futex, word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}
inline void futex_wake(const void* word) { syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0); }

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/// Looks before one sleeps: about what going to sleep and being woken cost. None where the other side has no
/// processor of its own.
inline constexpr int looks_before_sleep = 500;

}  // namespace vinic::vipl::attach
