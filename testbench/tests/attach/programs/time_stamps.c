/* SPDX-License-Identifier: Apache-2.0 */

/* time_stamps MHZ: the processor's counter is the simulated one's: what passes while the program sleeps, and in a loop
   that waits for it. Prints what is wrong. */
#include "common.h"

static unsigned long long rdtsc(void) {
    unsigned low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
    return (unsigned long long)high << 32 | low;
}

static unsigned long long rdtscp(void) {
    unsigned low, high, processor;
    __asm__ __volatile__("rdtscp" : "=a"(low), "=d"(high), "=c"(processor));
    return (unsigned long long)high << 32 | low;
}

static void expect(const char* what, double is, double wanted) {
    if (is < wanted * 0.999 || is > wanted * 1.002) printf("%s: %.0f instead of %.0f\n", what, is, wanted);
}

int main(int count, char** arguments) {
    const double mhz = count > 1 ? atof(arguments[1]) : 1;
    unsigned long long start = rdtsc(), end;
    double from;
    sleep(1);
    expect("rdtsc", (double)(rdtsc() - start), mhz * 1e6);
    start = rdtscp();
    sleep(1);
    expect("rdtscp", (double)(rdtscp() - start), mhz * 1e6);
    from = now_us();
    for (end = rdtsc() + (unsigned long long)(mhz * 1000); rdtsc() < end;) {
    }
    expect("a loop", now_us() - from, 1000);
    return 0;
}
