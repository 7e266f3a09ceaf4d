/* SPDX-License-Identifier: Apache-2.0 */

/* Half of a round trip, by the size of the message; and the share of the time in which the client has a
   processor. With op=rdma the messages are RDMA writes, and either side polls the last byte of the buffer
   that the other one writes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vibe.h"

#define POOL_BUFFERS 1024ul /* that messages use in turn which do not use the same as ever */

struct lane {
    struct connection c;
    struct memory theirs;        /* where RDMA writes go */
    unsigned long first;         /* of its descriptors: those of sends, then those of receives */
    unsigned long posted, taken; /* receives */
};

static const char* const defaults[] = {"sizes=4,64,1024,4096,16384", NULL};
static struct options o;
static struct nic nic;
static struct memory descriptors, send_buffer, receive_buffer, pool;
static unsigned long room;   /* of a buffer: whole pages */
static unsigned long pieces; /* descriptors of the largest message */
static struct lane* lanes;

/* Of the next message: `usual`, or one of the pool. */
static struct memory next_buffer(struct memory usual) {
    static unsigned long share, used;
    struct memory m = pool;
    share += (unsigned long)o.reuse;
    if (share >= 100) {
        share -= 100;
        return usual;
    }
    m.at += used * room;
    used = (used + 1) % POOL_BUFFERS;
    return m;
}

/* Two messages may come, so that the next one is posted when a reply is on its way. */
static void post_receives(struct lane* l) {
    for (; l->posted < l->taken + 2 * pieces; ++l->posted) {
        VIP_DESCRIPTOR* d =
            descriptor(&descriptors, l->first + pieces + l->posted % (2 * pieces), o.segments);
        const struct memory to = next_buffer(receive_buffer);
        describe(d, to.at, to.handle, smaller(room, o.mtu), o.segments);
        MUST(VipPostRecv(l->c.vi, d, descriptors.handle));
    }
}

static void send_message(struct lane* l, struct memory from, unsigned long size, int write) {
    unsigned long at, n;
    for (at = n = 0; at < size || n == 0; at += o.mtu, ++n) {
        VIP_DESCRIPTOR* d = descriptor(&descriptors, l->first + n, o.segments);
        struct memory to = l->theirs;
        to.at += at;
        if (write)
            describe_write(d, from.at + at, from.handle, smaller(size - at, o.mtu), o.segments, &to);
        else
            describe(d, from.at + at, from.handle, smaller(size - at, o.mtu), o.segments);
        MUST(VipPostSend(l->c.vi, d, descriptors.handle));
    }
    for (; n > 0; --n) next_send(&l->c);
    post_receives(l);
}

/* Where the first piece lies. */
static const char* receive_message(struct lane* l, unsigned long size) {
    const char* begin = NULL;
    unsigned long at, n;
    for (at = n = 0; at < size || n == 0; at += o.mtu, ++n) {
        VIP_DESCRIPTOR* d = next_receive(&l->c);
        if (n == 0) begin = d->DS[0].Local.Data.Address;
        ++l->taken;
    }
    return begin;
}

static void write_message(struct lane* l, unsigned long size, char turn) {
    const struct memory from = next_buffer(send_buffer);
    from.at[size - 1] = turn;
    send_message(l, from, size, 1);
    from.at[size - 1] = 0;
}

static void await_write(unsigned long size, char turn) {
    const volatile char* last = receive_buffer.at + size - 1;
    while (*last != turn) {
    }
}

static void round_trip(long number, unsigned long size) {
    struct lane* const l = lanes + number % o.vis;
    static char turn;
    const int client = o.host != NULL;
    turn = (char)(turn % 100 + 1);
    if (o.rdma) {
        if (client) write_message(l, size, turn);
        await_write(size, turn);
        if (!client) write_message(l, size, turn);
    } else {
        if (client) send_message(l, next_buffer(send_buffer), size, 0);
        receive_message(l, size);
        if (!client) send_message(l, next_buffer(send_buffer), size, 0);
    }
}

/* Takes the place of the other side's receive buffer, and clears the own one for writes. */
static void take_place(struct lane* l) {
    memcpy(&l->theirs, receive_message(l, sizeof l->theirs), sizeof l->theirs);
    memset(receive_buffer.at, 0, sizeof l->theirs);
}

static void exchange_places(struct lane* l) {
    if (o.host == NULL) take_place(l);
    memcpy(send_buffer.at, &receive_buffer, sizeof receive_buffer);
    send_message(l, send_buffer, sizeof receive_buffer, 0);
    memset(send_buffer.at, 0, sizeof receive_buffer);
    if (o.host != NULL) take_place(l);
}

static void open_all(void) {
    VIP_CQ_HANDLE queue = NULL;
    unsigned long i;
    room = largest(&o) > sizeof(struct memory) ? largest(&o) : sizeof(struct memory);
    pieces = (room + o.mtu - 1) / o.mtu;
    room = (room + 4095) / 4096 * 4096;
    descriptors = new_memory(&nic, (unsigned long)o.vis * 3 * pieces * descriptor_bytes(o.segments));
    send_buffer = new_memory(&nic, room);
    receive_buffer = new_memory(&nic, room);
    if (o.reuse < 100) pool = new_memory(&nic, POOL_BUFFERS * room);
    if (o.queue) MUST(VipCreateCQ(nic.handle, (unsigned long)o.vis * 2 * pieces, &queue));
    lanes = calloc((unsigned long)o.vis, sizeof *lanes);
    for (i = 0; i < (unsigned long)o.vis; ++i) {
        struct lane* l = lanes + i;
        l->first = i * 3 * pieces;
        open_vi(&l->c, &nic, &o, queue);
        post_receives(l);
        connect_vi(&l->c, &nic, &o, (unsigned)i);
        if (o.rdma) exchange_places(l);
    }
}

int main(int count, char** arguments) {
    int s;
    read_options(&o, defaults, count, arguments);
    open_nic(&nic, &o);
    open_all();
    if (o.host != NULL) printf("%10s %12s %12s\n", "size_bytes", "latency_us", "cpu_percent");
    for (s = 0; s < o.size_count; ++s) {
        const struct spent all = measure(&o, round_trip, o.sizes[s]);
        if (o.host != NULL)
            printf("%10lu %12.3f %12.1f\n", o.sizes[s], all.us / (2.0 * (double)o.count),
                   percent(all.processor_us, all.us));
    }
    MUST(VipCloseNic(nic.handle));
    return 0;
}
