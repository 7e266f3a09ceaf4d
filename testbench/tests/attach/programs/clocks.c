/* SPDX-License-Identifier: Apache-2.0 */

/* Every clock and every sleep: what passes is simulated time. Prints what is wrong. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <sys/resource.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <time.h>

#include "common.h"

static double seconds(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void expect(const char* what, double passed, double least, double most) {
    if (passed < least || passed > most)
        printf("%s: %g is not between %g and %g\n", what, passed, least, most);
}

int main(void) {
    const struct timespec span = {100, 0};
    struct timespec until;
    struct rusage used;
    struct tms t;
    struct timeb day;
    double before, processor;
    time_t first;
    clock_t ticks;

    before = seconds(CLOCK_MONOTONIC);
    expect("clock_gettime: what a call costs", seconds(CLOCK_MONOTONIC) - before, 1e-8, 1e-5);
    expect("the day", (double)time(NULL), 946684800.0, 946684801.0);

    before = now_us();
    sleep(100);
    expect("sleep, gettimeofday", (now_us() - before) * 1e-6, 100, 100.001);
    before = seconds(CLOCK_REALTIME);
    nanosleep(&span, NULL);
    expect("nanosleep, CLOCK_REALTIME", seconds(CLOCK_REALTIME) - before, 100, 100.001);
    before = seconds(CLOCK_MONOTONIC);
    usleep(500000);
    expect("usleep, CLOCK_MONOTONIC", seconds(CLOCK_MONOTONIC) - before, 0.5, 0.501);
    first = time(NULL);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL);
    expect("clock_nanosleep, time", (double)(time(NULL) - first), 100, 101);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 50;
    ticks = times(&t);
    clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
    expect("clock_nanosleep until, times", (double)(times(&t) - ticks) / (double)sysconf(_SC_CLK_TCK), 49.98,
           50.02);
    ftime(&day);
    expect("ftime", (double)day.time + (double)day.millitm * 1e-3 - now_us() * 1e-6, -0.0011, 0);

    /* It slept; and it goes on when it looks at the clock. */
    expect("clock", (double)clock() / CLOCKS_PER_SEC, 1e-6, 1e-3);
    processor = seconds(CLOCK_PROCESS_CPUTIME_ID);
    before = seconds(CLOCK_MONOTONIC);
    while (seconds(CLOCK_MONOTONIC) < before + 0.1) {
    }
    before = seconds(CLOCK_PROCESS_CPUTIME_ID);
    expect("CLOCK_PROCESS_CPUTIME_ID", before - processor, 0.0999, 0.1001);
    expect("CLOCK_THREAD_CPUTIME_ID", seconds(CLOCK_THREAD_CPUTIME_ID) - before, 0, 1e-5);
    getrusage(RUSAGE_SELF, &used);
    expect("getrusage", (double)used.ru_utime.tv_usec * 1e-6 - before, -1e-6, 2e-5);
    times(&t);
    expect("times", (double)t.tms_utime / (double)sysconf(_SC_CLK_TCK) - before, -0.01, 0.01);
    return 0;
}
