/* SPDX-License-Identifier: Apache-2.0 */

/* Two threads: one blocks in VipCQWait and posts what it got again, the other sends and waits for its completions; the
   first thread of all only waits for them. */
#include <pthread.h>

#include "common.h"

#define MESSAGES 20

static struct endpoint e;
static VIP_CQ_HANDLE queue;

static void* receive(void* unused) {
    int i;
    for (i = 0; i < MESSAGES; ++i) {
        VIP_VI_HANDLE vi;
        VIP_BOOLEAN of_receive;
        VIP_DESCRIPTOR* d;
        CHECK(VipCQWait(queue, VIP_INFINITE, &vi, &of_receive));
        CHECK(VipRecvDone(vi, &d));
        if (*(int*)d->DS[0].Local.Data.Address != i) printf("message %d is wrong\n", i);
        d->CS.Length = 64;
        CHECK(VipPostRecv(vi, d, e.handle));
    }
    return unused;
}

static void* send_all(void* unused) {
    int i;
    for (i = 0; i < MESSAGES; ++i) {
        VIP_DESCRIPTOR* d;
        *(int*)buffer(&e, 0) = i;
        CHECK(VipPostSend(e.vi, descriptor(&e, 0), e.handle));
        CHECK(VipSendWait(e.vi, VIP_INFINITE, &d));
        usleep(100);
    }
    return unused;
}

int main(void) {
    pthread_t receiver, sender;
    unsigned i;
    double start;
    open_nic(&e);
    CHECK(VipCreateCQ(e.nic, 64, &queue));
    open_vi(&e, 9, 64, queue);
    for (i = 0; i < 9; ++i) prepare(&e, i, 64);
    for (i = 1; i < 9; ++i) CHECK(VipPostRecv(e.vi, descriptor(&e, i), e.handle));
    if (process() == 0)
        call_server(&e, "node1");
    else
        wait_for_client(&e);
    start = now_us();
    pthread_create(&receiver, NULL, receive, NULL);
    pthread_create(&sender, NULL, send_all, NULL);
    pthread_join(receiver, NULL);
    pthread_join(sender, NULL);
    if (process() == 0) printf("%d messages each way in %.0f us\n", MESSAGES, now_us() - start);
    return 0;
}
