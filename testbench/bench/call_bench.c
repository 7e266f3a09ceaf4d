/* SPDX-License-Identifier: Apache-2.0 */

/* An attached program: what a VIPL call costs in wall time, beside two machine processes that wake each other by a
   futex. Prints both in microseconds. */
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vipl/vipl.h"

/* The machine's clock: that of the C library is simulated. */
static double wall_us(void) {
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void pass_on(volatile int* turn, int mine, int rounds) {
    int i;
    for (i = 0; i < rounds; ++i) {
        while (*turn != mine) syscall(SYS_futex, turn, FUTEX_WAIT, 1 - mine, NULL, NULL, 0);
        *turn = 1 - mine;
        syscall(SYS_futex, turn, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

static double futex_round_us(int rounds) {
    volatile int* turn = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t child = fork();
    double start;
    if (child == 0) {
        pass_on(turn, 1, rounds);
        _exit(0);
    }
    start = wall_us();
    pass_on(turn, 0, rounds);
    waitpid(child, NULL, 0);
    return (wall_us() - start) / rounds;
}

int main(int count, char** arguments) {
    const int rounds = count > 1 ? atoi(arguments[1]) : 20000;
    VIP_NIC_ATTRIBUTES attributes;
    VIP_NIC_HANDLE nic;
    double start;
    int i;
    if (VipOpenNic("VINIC", &nic) != VIP_SUCCESS) return 1;
    start = wall_us();
    for (i = 0; i < rounds; ++i)
        if (VipQueryNic(nic, &attributes) != VIP_SUCCESS) return 1;
    printf("%.3f ", (wall_us() - start) / rounds);
    /* Last: a process that has made others is looked at more closely. */
    printf("%.3f\n", futex_round_us(rounds));
    return 0;
}
