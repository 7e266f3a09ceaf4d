/* SPDX-License-Identifier: Apache-2.0 */

/* Process 1 runs for a while before it receives, in calls of the kernel during which the kernel says that it
   sleeps: it prepares to wait for many words, of which the last has changed already. Process 0 sends 1 ms
   after it has come. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>

#include "common.h"

enum { words = 128, calls = 4000 };
static struct endpoint e;

static void look_asleep(void) {
    static unsigned word[words];
    static struct futex_waitv all[words];
    int i;
    for (i = 0; i < words; ++i) {
        all[i].uaddr = (unsigned long)&word[i];
        all[i].val = i + 1 == words;
        all[i].flags = FUTEX_32 | FUTEX_PRIVATE_FLAG;
    }
    for (i = 0; i < calls; ++i) syscall(SYS_futex_waitv, all, words, 0, NULL, 0);
}

int main(void) {
    open_nic(&e);
    open_vi(&e, 1, 64, NULL);
    prepare(&e, 0, 64);
    if (process() == 0) {
        call_server(&e, "node1");
        usleep(1000);
        CHECK(VipPostSend(e.vi, descriptor(&e, 0), e.handle));
        poll_send(&e);
        usleep(1000);
    } else {
        wait_for_client(&e);
        look_asleep();
        CHECK(VipPostRecv(e.vi, descriptor(&e, 0), e.handle));
        poll_receive(&e);
        printf("received\n");
    }
    return 0;
}
