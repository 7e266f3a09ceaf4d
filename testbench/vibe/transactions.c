/* SPDX-License-Identifier: Apache-2.0 */

/* Transactions a second, by the size of the reply: the client asks, the server answers, one at a time. */
#include <stdio.h>
#include <stdlib.h>

#include "vibe.h"

static const char* const defaults[] = {"sizes=16,64,256,1024,4096,16384", NULL};
static struct options o;
static struct nic nic;
static struct connection c;
static struct memory descriptors, buffer;

static unsigned long room(void) { return (o.request > largest(&o) ? o.request : largest(&o)) + 1; }

static void post_receive(unsigned long i) {
    VIP_DESCRIPTOR* d = descriptor(&descriptors, 1 + i % 2, o.segments);
    describe(d, buffer.at, buffer.handle, room(), o.segments);
    MUST(VipPostRecv(c.vi, d, descriptors.handle));
}

static void send_message(unsigned long bytes) {
    VIP_DESCRIPTOR* d = descriptor(&descriptors, 0, o.segments);
    describe(d, buffer.at, buffer.handle, bytes, o.segments);
    MUST(VipPostSend(c.vi, d, descriptors.handle));
    next_send(&c);
}

static void transact(long number, unsigned long reply) {
    static unsigned long posted;
    (void)number; /* receives go on from one size to the next */
    if (o.host != NULL) {
        send_message(o.request);
        next_receive(&c);
    } else {
        next_receive(&c);
        send_message(reply);
    }
    post_receive(posted++);
}

int main(int count, char** arguments) {
    VIP_CQ_HANDLE queue = NULL;
    int s;
    read_options(&o, defaults, count, arguments);
    open_nic(&nic, &o);
    descriptors = new_memory(&nic, 3 * descriptor_bytes(o.segments));
    buffer = new_memory(&nic, room());
    if (o.queue) MUST(VipCreateCQ(nic.handle, 2, &queue));
    open_vi(&c, &nic, &o, queue);
    post_receive(0);
    post_receive(1);
    connect_vi(&c, &nic, &o, 0);
    if (o.host != NULL) printf("%11s %23s %12s\n", "reply_bytes", "rate_transactions_per_s", "cpu_percent");
    for (s = 0; s < o.size_count; ++s) {
        const struct spent all = measure(&o, transact, o.sizes[s]);
        if (o.host != NULL)
            printf("%11lu %23.0f %12.1f\n", o.sizes[s], 1e6 * (double)o.count / all.us,
                   percent(all.processor_us, all.us));
    }
    MUST(VipCloseNic(nic.handle));
    return 0;
}
