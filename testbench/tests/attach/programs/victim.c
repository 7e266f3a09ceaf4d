/* SPDX-License-Identifier: Apache-2.0 */

/* victim HOW: two connected processes; the second dies (killed, or by exit without closing) while it is blocked in a
   call or just so; the first says what it hears of it. */
#include <pthread.h>
#include <signal.h>

#include "common.h"

static void* die_later(void* unused) {
    usleep(1000);
    raise(SIGKILL);
    return unused;
}

static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
    *(volatile int*)context = 1 + (int)error->ErrorCode;
}

int main(int count, char** arguments) {
    const char* how = count > 1 ? arguments[1] : "exit";
    volatile int heard = 0;
    struct endpoint e;
    VIP_DESCRIPTOR* d;
    int i;
    open_nic(&e);
    CHECK(VipErrorCallback(e.nic, (void*)&heard, on_error));
    open_vi(&e, 1, 64, NULL);
    prepare(&e, 0, 64);
    CHECK(VipPostRecv(e.vi, descriptor(&e, 0), e.handle));
    if (process() == 0) {
        call_server(&e, "node1");
        printf("VipRecvWait: %d\n", (int)VipRecvWait(e.vi, VIP_INFINITE, &d));
        for (i = 0; i < 1000 && !heard; ++i) usleep(100);
        printf("error callback: %d\n", heard - 1);
        return 0;
    }
    wait_for_client(&e);
    if (strcmp(how, "exit") == 0) exit(3);
    if (strcmp(how, "kill") == 0) raise(SIGKILL);
    {
        pthread_t killer;
        pthread_create(&killer, NULL, die_later, NULL);
        VipRecvWait(e.vi, VIP_INFINITE, &d);
    }
    return 0;
}
