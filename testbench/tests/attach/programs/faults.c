/* SPDX-License-Identifier: Apache-2.0 */

/* A program with a handler of its own for SIGSEGV, put in place before or after its first registration, by
   sigaction or by signal: it gets the faults that are the program's own, and none of those of pages that move
   while a second thread stores into them. Says how many of each there were. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "common.h"

#define PAGES 64
#define PAGE 4096

static struct endpoint e;
static sigjmp_buf after;
static char* forbidden;
static char* stored;
static volatile int own_faults, foreign_faults, stop;

static void count(const void* at) {
    if ((const char*)at >= forbidden && (const char*)at < forbidden + PAGE)
        ++own_faults;
    else
        ++foreign_faults;
    siglongjmp(after, 1);
}
static void on_action(int signal, siginfo_t* info, void* context) {
    (void)signal;
    (void)context;
    count(info->si_addr);
}
static void on_signal(int signal) {
    (void)signal;
    count(forbidden);
}

static void put_handler(int by_signal) {
    if (by_signal) {
        signal(SIGSEGV, on_signal);
        if (signal(SIGSEGV, on_signal) != on_signal) printf("signal: another handler\n");
    } else {
        struct sigaction action, found;
        memset(&action, 0, sizeof action);
        action.sa_sigaction = on_action;
        action.sa_flags = SA_SIGINFO;
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGSEGV, NULL, &found);
        if (found.sa_sigaction != on_action) printf("sigaction: another handler\n");
    }
}

static void touch_forbidden(void) {
    if (sigsetjmp(after, 1) == 0) *(volatile char*)forbidden = 1;
}

static void* store(void* unused) {
    unsigned long n = 0;
    while (!stop) ((volatile char*)stored)[n++ * 64 % (PAGES * PAGE)] = 1;
    return unused;
}

static void register_pages(void) {
    VIP_MEM_ATTRIBUTES attributes;
    VIP_MEM_HANDLE handle;
    int i;
    attributes.Ptag = e.tag;
    attributes.EnableRdmaWrite = attributes.EnableRdmaRead = VIP_FALSE;
    for (i = 0; i < PAGES; ++i) CHECK(VipRegisterMem(e.nic, stored + i * PAGE, PAGE, &attributes, &handle));
}

int main(int arguments, char** argument) {
    const int late = arguments > 1 && strcmp(argument[1], "late") == 0;
    const int by_signal = arguments > 2 && strcmp(argument[2], "signal") == 0;
    pthread_t other;
    int round;
    forbidden = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    open_nic(&e);
    if (!late) put_handler(by_signal);
    for (round = 0; round < 3; ++round) {
        stored = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        stop = 0;
        pthread_create(&other, NULL, store, NULL);
        register_pages();
        stop = 1;
        pthread_join(other, NULL);
        if (round == 0 && late) put_handler(by_signal);
        touch_forbidden();
    }
    printf("%d faults of its own, %d of others\n", own_faults, foreign_faults);
    return 0;
}
