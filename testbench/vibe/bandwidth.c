/* SPDX-License-Identifier: Apache-2.0 */

/* One-way bandwidth, by the size of the message: the client sends `count` messages, so many at a time as
   depth says, and the server answers when it has them all. All receives are posted before. With op=rdma the
   messages are RDMA writes, which one send follows. Beside it the share of the time in which client and
   server have a processor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vibe.h"

/* What the server tells the client: it is ready; it has all. */
struct note {
    struct memory memory; /* where RDMA writes go */
    double processor_us;  /* that the server has used since it was ready */
};
#define NOTES 4ul /* that the client can take */

static const char* const defaults[] = {"sizes=64,1024,4096,16384,65536", NULL};
static struct options o;
static struct nic nic;
static struct connection c;
static struct memory descriptors, buffer, notes;
static unsigned long taken; /* receives of the client */
static unsigned long posted, sent;

static unsigned long pieces_of(unsigned long size) { return size == 0 ? 1 : (size + o.mtu - 1) / o.mtu; }

/* As many messages as a queue holds, with one place for the send behind RDMA writes. */
static unsigned long messages(long wanted, unsigned long size) {
    return smaller((unsigned long)wanted, (nic.attributes.MaxDescriptorsPerQueue - 1) / pieces_of(size));
}

static void post_receive(unsigned long i, struct memory to, unsigned long bytes) {
    VIP_DESCRIPTOR* d = descriptor(&descriptors, i, o.segments);
    describe(d, to.at, to.handle, bytes, o.segments);
    MUST(VipPostRecv(c.vi, d, descriptors.handle));
}

/* The next of `depth` descriptors, when it is free. Those of receives stand before. */
static VIP_DESCRIPTOR* free_send(void) {
    if (posted - sent == (unsigned long)o.depth) {
        next_send(&c);
        ++sent;
    }
    return descriptor(&descriptors, nic.attributes.MaxDescriptorsPerQueue + posted++ % (unsigned long)o.depth,
                      o.segments);
}

static void send_buffer(struct memory from, unsigned long bytes) {
    VIP_DESCRIPTOR* d = free_send();
    describe(d, from.at, from.handle, bytes, o.segments);
    MUST(VipPostSend(c.vi, d, descriptors.handle));
}

static void await_sends(void) {
    for (; sent < posted; ++sent) next_send(&c);
}

/* --- The server ----------------------------------------------------------------------------------------- */

static void send_note(double processor) {
    struct note n;
    n.memory = buffer;
    n.processor_us = processor;
    memcpy(notes.at, &n, sizeof n);
    send_buffer(notes, sizeof n);
    await_sends();
}

static void serve(unsigned long size, unsigned long count) {
    const unsigned long receives = o.rdma ? 1 : count * pieces_of(size);
    unsigned long i;
    double used;
    for (i = 0; i < receives; ++i) post_receive(i, buffer, o.rdma ? 0 : smaller(size, o.mtu));
    send_note(0);
    used = processor_us();
    for (i = 0; i < receives; ++i) next_receive(&c);
    send_note(processor_us() - used);
}

/* --- The client ----------------------------------------------------------------------------------------- */

static struct note take_note(void) {
    struct note n;
    memcpy(&n, next_receive(&c)->DS[0].Local.Data.Address, sizeof n);
    post_receive(taken++ % NOTES, notes, sizeof n);
    return n;
}

static void send_message(unsigned long size, const struct memory* server) {
    struct memory from = buffer, to = *server;
    unsigned long left = size;
    do {
        const unsigned long bytes = smaller(left, o.mtu);
        if (o.rdma) {
            VIP_DESCRIPTOR* d = free_send();
            describe_write(d, from.at, from.handle, bytes, o.segments, &to);
            MUST(VipPostSend(c.vi, d, descriptors.handle));
        } else {
            send_buffer(from, bytes);
        }
        from.at += bytes;
        to.at += bytes;
        left -= bytes;
    } while (left > 0);
}

static void send_all(unsigned long size, unsigned long count, int show) {
    const struct memory server = take_note().memory;
    double used = processor_us(), start = now_us(), server_used;
    unsigned long i;
    for (i = 0; i < count; ++i) send_message(size, &server);
    if (o.rdma) send_buffer(buffer, 0);
    await_sends();
    server_used = take_note().processor_us;
    start = now_us() - start;
    used = processor_us() - used;
    if (show)
        printf("%10lu %22.3f %18.1f %18.1f\n", size, (double)size * (double)count / start,
               percent(used, start), percent(server_used, start));
}

int main(int count, char** arguments) {
    VIP_CQ_HANDLE queue = NULL;
    unsigned long receives, i;
    int s;
    read_options(&o, defaults, count, arguments);
    open_nic(&nic, &o);
    receives = nic.attributes.MaxDescriptorsPerQueue;
    if ((unsigned long)o.depth > receives) o.depth = (long)receives;
    descriptors = new_memory(&nic, (receives + (unsigned long)o.depth) * descriptor_bytes(o.segments));
    buffer = new_memory(&nic, largest(&o) + 1);
    notes = new_memory(&nic, sizeof(struct note));
    if (o.queue) MUST(VipCreateCQ(nic.handle, receives, &queue));
    open_vi(&c, &nic, &o, queue);
    if (o.host != NULL)
        for (i = 0; i < NOTES; ++i) post_receive(i, notes, sizeof(struct note));
    connect_vi(&c, &nic, &o, 0);
    if (o.host != NULL)
        printf("%10s %22s %18s %18s\n", "size_bytes", "bandwidth_mbytes_per_s", "client_cpu_percent",
               "server_cpu_percent");
    for (s = 0; s < o.size_count; ++s)
        for (i = o.warmup > 0 ? 0 : 1; i < 2; ++i) {
            const unsigned long n = messages(i == 0 ? o.warmup : o.count, o.sizes[s]);
            if (o.host != NULL)
                send_all(o.sizes[s], n, i == 1);
            else
                serve(o.sizes[s], n);
        }
    MUST(VipCloseNic(nic.handle));
    return 0;
}
