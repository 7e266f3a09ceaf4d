/* SPDX-License-Identifier: Apache-2.0 */

/* What is no message, each done `count` times: VIs, connections, completion queues, and memory by its size.
 */
#include <stdio.h>
#include <stdlib.h>

#include "vibe.h"

static const char* const defaults[] = {"sizes=4,1024,4096,16384,65536,262144,1048576,4194304,33554432",
                                       "count=5", NULL};
static struct options o;
static struct nic nic;

/* `size`: of memory; else "-". */
static void show(const char* operation, const char* size, double us) {
    printf("%20s %10s %12.3f\n", operation, size, us / (double)o.count);
}

/* Of `count` operations in a row, on whichever of the array is next. */
#define MEASURE(operation, statement)                               \
    do {                                                            \
        const double start = now_us();                              \
        long i;                                                     \
        for (i = 0; i < o.count; ++i) statement;                    \
        if (o.host != NULL) show(operation, "-", now_us() - start); \
    } while (0)

/* The client's; the server has VIs and lets them be. */
static void measure_connections(struct connection* all) {
    MEASURE("create_VI", open_vi(&all[i], &nic, &o, NULL));
    MEASURE("connect", connect_vi(&all[i], &nic, &o, 1 + (unsigned)i));
    if (o.host == NULL) return;
    MEASURE("disconnect", MUST(VipDisconnect(all[i].vi)));
    MEASURE("destroy_VI", MUST(VipDestroyVi(all[i].vi)));
}

static void measure_queues(VIP_CQ_HANDLE* all) {
    MEASURE("create_CQ", MUST(VipCreateCQ(nic.handle, 64, &all[i])));
    MEASURE("destroy_CQ", MUST(VipDestroyCQ(all[i])));
}

/* What a look at the clock takes, which is part of every span between two. */
static double clock_us(void) {
    const double first = now_us();
    int i;
    for (i = 1; i < 100; ++i) now_us();
    return (now_us() - first) / 100;
}

/* The same memory `count` times, so that its pages are there. */
static void measure_memory(unsigned long bytes) {
    struct memory m = new_memory(&nic, bytes);
    const double look = clock_us();
    double registering = 0, deregistering = 0;
    VIP_MEM_ATTRIBUTES attributes;
    char size[32];
    long i;
    MUST(VipQueryMem(nic.handle, m.at, m.handle, &attributes));
    MUST(VipDeregisterMem(nic.handle, m.at, m.handle));
    for (i = 0; i < o.count; ++i) {
        const double first = now_us();
        double second;
        MUST(VipRegisterMem(nic.handle, m.at, bytes, &attributes, &m.handle));
        second = now_us();
        MUST(VipDeregisterMem(nic.handle, m.at, m.handle));
        registering += second - first - look;
        deregistering += now_us() - second - look;
    }
    sprintf(size, "%lu", bytes);
    show("register_memory", size, registering);
    show("deregister_memory", size, deregistering);
    free(m.at);
}

/* The server stays until the client has closed its VI, which ends the receive. */
static void part(struct connection* c) {
    VIP_DESCRIPTOR* d;
    if (o.host != NULL)
        MUST(VipDisconnect(c->vi));
    else if (VipRecvWait(c->vi, VIP_INFINITE, &d) != VIP_DESCRIPTOR_ERROR)
        fprintf(stderr, "a message that nobody sent\n");
}

int main(int count, char** arguments) {
    struct connection stays, *all;
    struct memory m;
    VIP_DESCRIPTOR* d;
    int s;
    read_options(&o, defaults, count, arguments);
    open_nic(&nic, &o);
    all = calloc((unsigned long)o.count, sizeof *all);
    m = new_memory(&nic, descriptor_bytes(1));
    d = descriptor(&m, 0, 1);
    describe(d, NULL, 0, 0, 1);
    open_vi(&stays, &nic, &o, NULL);
    MUST(VipPostRecv(stays.vi, d, m.handle));
    connect_vi(&stays, &nic, &o, 0);
    if (o.host != NULL) printf("%20s %10s %12s\n", "operation", "size_bytes", "cost_us");
    measure_connections(all);
    if (o.host != NULL) {
        measure_queues(calloc((unsigned long)o.count, sizeof(VIP_CQ_HANDLE)));
        for (s = 0; s < o.size_count; ++s)
            if (o.sizes[s] <= nic.attributes.MaxRegisterBlockBytes) measure_memory(o.sizes[s]);
    }
    part(&stays);
    MUST(VipCloseNic(nic.handle));
    return 0;
}
