/* SPDX-License-Identifier: Apache-2.0 */

/* handlers HOW: a handler of a signal calls VIPL, and looks at the clock, while its thread waits in a call: the
   client waits without limit, and its alarm sends what the server answers. In "alarm" the handler sends; in "deep" it
   waits for a second alarm, whose handler sends; in "jump" it leaves by siglongjmp a wait for what never comes, three
   times, and all goes on as ever. */
#include <setjmp.h>
#include <signal.h>
#include <time.h>

#include "common.h"

static struct endpoint e;
static sigjmp_buf after;
static volatile int alarms, deep, jump;

static void start_alarm(long us) {
    struct itimerval once;
    memset(&once, 0, sizeof once);
    once.it_value.tv_usec = us;
    if (setitimer(ITIMER_REAL, &once, NULL) != 0) exit(1);
}

static void send_now(void) {
    VIP_DESCRIPTOR* d;
    CHECK(VipPostSend(e.vi, descriptor(&e, 0), e.handle));
    CHECK(VipSendWait(e.vi, VIP_INFINITE, &d));
}

static void on_alarm(int signal) {
    (void)signal;
    now_us();
    if (++alarms == 1 && deep) {
        struct timespec wait;
        wait.tv_sec = 0;
        wait.tv_nsec = 900000;
        start_alarm(300);
        while (alarms < 2) nanosleep(&wait, NULL);
        return;
    }
    if (jump) siglongjmp(after, 1);
    send_now();
}

int main(int count, char** arguments) {
    struct sigaction action;
    VIP_DESCRIPTOR* d;
    unsigned i;
    double start;
    deep = count > 1 && strcmp(arguments[1], "deep") == 0;
    jump = count > 1 && strcmp(arguments[1], "jump") == 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGALRM, &action, NULL);
    open_nic(&e);
    open_vi(&e, 3, 64, NULL);
    for (i = 0; i < 3; ++i) prepare(&e, i, 64);
    if (process() == 0) {
        CHECK(VipPostRecv(e.vi, descriptor(&e, 1), e.handle));
        call_server(&e, "node1");
        start = now_us();
        while (jump && alarms < 3) {
            VIP_CQ_HANDLE queue;
            VIP_VI_HANDLE vi;
            VIP_BOOLEAN of_receive;
            CHECK(VipCreateCQ(e.nic, 4, &queue));
            start_alarm(500);
            if (sigsetjmp(after, 1) == 0) VipCQWait(queue, VIP_INFINITE, &vi, &of_receive);
        }
        if (jump)
            send_now();
        else
            start_alarm(500);
        CHECK(VipRecvWait(e.vi, VIP_INFINITE, &d));
        printf("%d alarms, an answer after %.0f us\n", alarms, now_us() - start);
    } else {
        CHECK(VipPostRecv(e.vi, descriptor(&e, 1), e.handle));
        wait_for_client(&e);
        CHECK(VipRecvWait(e.vi, VIP_INFINITE, &d));
        send_now();
    }
    return 0;
}
