// SPDX-License-Identifier: Apache-2.0

// Simulated time for the program: libvipl's own clock_gettime and its kin stand before those of the C
// library. A program without a simulator, or with VINIC_REAL_TIME set, gets the machine's. The time that it
// had a processor is that of the simulated one, all of it in user mode.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "vipl/attach/simulated_time.h"

namespace vinic::vipl::attach {

held_slot simulated() {
    static const bool on = getenv(real_time_variable) == nullptr;
    return held_slot(on && wanted());
}

bool now(slot& s, std::uint64_t& ps) {
    if (!ask(s, static_cast<std::uint32_t>(request::read_clock))) return false;
    ps = s.result;
    return true;
}

namespace {

enum class whose : std::uint64_t { program, thread };

/// How long there was a processor.
bool processor_time(slot& s, whose of, std::uint64_t& ps) {
    s.words[0] = static_cast<std::uint64_t>(of);
    if (!ask(s, static_cast<std::uint32_t>(request::read_processor_time))) return false;
    ps = s.result;
    return true;
}

bool read_clock(slot& s, clockid_t id, std::uint64_t& ps) {
    if (id == CLOCK_PROCESS_CPUTIME_ID) return processor_time(s, whose::program, ps);
    if (id == CLOCK_THREAD_CPUTIME_ID) return processor_time(s, whose::thread, ps);
    return now(s, ps);
}

/// Without a simulator any more, sleeps end at once.
void sleep_until(slot& s, std::uint64_t ps) {
    s.words[0] = ps;
    ask(s, static_cast<std::uint32_t>(request::sleep_until));
}

void sleep_for(slot& s, std::uint64_t span) {
    std::uint64_t ps = 0;
    if (now(s, ps)) sleep_until(s, ps + span);
}

timespec timespec_of(std::uint64_t ps, bool day) {
    return {.tv_sec = static_cast<time_t>(ps / ps_per_s) + (day ? epoch_s : 0),
            .tv_nsec = static_cast<long>(ps % ps_per_s / ps_per_ns)};
}

timeval timeval_of(std::uint64_t ps, bool day) {
    return {.tv_sec = static_cast<time_t>(ps / ps_per_s) + (day ? epoch_s : 0),
            .tv_usec = static_cast<suseconds_t>(ps % ps_per_s / ps_per_us)};
}

}  // namespace

}  // namespace vinic::vipl::attach

using namespace vinic::vipl::attach;

#pragma GCC visibility push(default)
extern "C" {

int clock_gettime(clockid_t id, timespec* to) noexcept {
    const held_slot s = simulated();
    if (s == nullptr) return static_cast<int>(syscall(SYS_clock_gettime, id, to));
    std::uint64_t ps = 0;
    if (!read_clock(*s, id, ps)) return static_cast<int>(syscall(SYS_clock_gettime, id, to));
    *to = timespec_of(ps, of_the_day(id));
    return 0;
}

int gettimeofday(timeval* to, void* zone) noexcept {
    const held_slot s = simulated();
    std::uint64_t ps = 0;
    if (s == nullptr || !now(*s, ps)) return static_cast<int>(syscall(SYS_gettimeofday, to, zone));
    if (zone != nullptr) memset(zone, 0, sizeof(struct timezone));
    *to = timeval_of(ps, true);
    return 0;
}

time_t time(time_t* to) noexcept {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    if (to != nullptr) *to = t.tv_sec;
    return t.tv_sec;
}

clock_t clock() noexcept {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * CLOCKS_PER_SEC + t.tv_nsec / (1'000'000'000 / CLOCKS_PER_SEC);
}

clock_t times(tms* to) noexcept {
    const held_slot s = simulated();
    std::uint64_t ps = 0;
    if (s == nullptr || !now(*s, ps)) return syscall(SYS_times, to);
    const std::uint64_t tick = ps_per_s / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
    std::uint64_t used = 0;
    if (to != nullptr && processor_time(*s, whose::program, used))
        *to = {.tms_utime = static_cast<clock_t>(used / tick)};
    return static_cast<clock_t>(ps / tick);
}

int ftime(timeb* to) noexcept {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    *to = {.time = t.tv_sec, .millitm = static_cast<unsigned short>(t.tv_nsec / 1'000'000)};
    return 0;
}

// Of children, what the machine says.
int getrusage(__rusage_who_t who, rusage* to) noexcept {
    const int result = static_cast<int>(syscall(SYS_getrusage, who, to));
    const held_slot s = simulated();
    std::uint64_t ps = 0;
    if (result != 0 || s == nullptr || who == RUSAGE_CHILDREN) return result;
    if (!processor_time(*s, who == RUSAGE_THREAD ? whose::thread : whose::program, ps)) return result;
    to->ru_utime = timeval_of(ps, false);
    to->ru_stime = {};
    return 0;
}

int timespec_get(timespec* to, int base) noexcept {
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, to) == 0 ? base : 0;
}

int clock_nanosleep(clockid_t id, int flags, const timespec* span, timespec* left) {
    const held_slot s = simulated();
    if (s == nullptr) return syscall(SYS_clock_nanosleep, id, flags, span, left) == 0 ? 0 : errno;
    if (!valid(span)) return EINVAL;
    if ((flags & TIMER_ABSTIME) == 0) {
        sleep_for(*s, ps_of(*span));
        return 0;
    }
    timespec until = *span;
    if (of_the_day(id)) until.tv_sec -= epoch_s;
    if (until.tv_sec >= 0) sleep_until(*s, ps_of(until));
    return 0;
}

int nanosleep(const timespec* span, timespec* left) {
    const int result = clock_nanosleep(CLOCK_MONOTONIC, 0, span, left);
    if (result == 0) return 0;
    errno = result;
    return -1;
}

int usleep(useconds_t us) {
    const timespec span{.tv_sec = us / 1'000'000, .tv_nsec = static_cast<long>(us % 1'000'000) * 1000};
    return nanosleep(&span, nullptr);
}

unsigned sleep(unsigned seconds) {
    const timespec span{.tv_sec = static_cast<time_t>(seconds), .tv_nsec = 0};
    timespec left{};
    return nanosleep(&span, &left) == 0 ? 0 : static_cast<unsigned>(left.tv_sec);
}

}  // extern "C"
#pragma GCC visibility pop
