/* SPDX-License-Identifier: Apache-2.0 */

/* What facts/vipl.md calls SEEN: habits of real programs that a provider must live with. */
#include "testbench/tests/vipl/conformance/programs/programs.h"

#include <stddef.h>
#include <string.h>

#define VIPL095
#include "vipl/vipl.h"

typedef enum { false = 0, true = 1 } bool;

#define SLOTS 8
#define SLOT_BYTES 4096
#define AREA_BYTES (SLOTS * 2 * (64 + SLOT_BYTES))
#define CHECK(condition) \
    if (!(condition)) return __LINE__

/* One end: a VI and an area with descriptors in front and buffers behind them. */
struct end {
    VIP_NIC_HANDLE nic;
    VIP_PROTECTION_HANDLE tag;
    VIP_MEM_HANDLE handle;
    VIP_VI_HANDLE vi;
    char* area;
};

static VIP_DESCRIPTOR* descriptor(struct end* e, int n) { return (VIP_DESCRIPTOR*)e->area + n; }
static char* buffer(struct end* e, int n) { return e->area + SLOTS * 2 * 64 + n * SLOT_BYTES; }

static void prepare(struct end* e, int n, int length) {
    VIP_DESCRIPTOR* d = descriptor(e, n);
    d->CS.SegCount = 1;
    d->CS.Control = VIP_CONTROL_OP_SENDRECV;
    d->CS.Reserved = 0;
    d->CS.Length = (VIP_UINT32)length;
    d->DS[0].Local.Data.Address = buffer(e, n);
    d->DS[0].Local.Handle = e->handle;
    d->DS[0].Local.Length = (VIP_UINT32)length;
}

static int open_end(const struct machine* on, struct end* e, VIP_CQ_HANDLE queue) {
    VIP_MEM_ATTRIBUTES memory;
    VIP_VI_ATTRIBUTES attributes;
    if (e->nic == NULL) {
        CHECK(VipOpenNic("/dev/via_eth0", &e->nic) == VIP_SUCCESS);
        CHECK(VipNSInit(e->nic, NULL) == VIP_SUCCESS);
    }
    CHECK(VipCreatePtag(e->nic, &e->tag) == VIP_SUCCESS);
    e->area = (char*)on->allocate(on->self, AREA_BYTES, 64);
    memory.Ptag = e->tag;
    memory.EnableRdmaWrite = VIP_TRUE;
    memory.EnableRdmaRead = VIP_FALSE;
    CHECK(VipRegisterMem(e->nic, e->area, AREA_BYTES, &memory, &e->handle) == VIP_SUCCESS);
    memset(&attributes, 0, sizeof attributes);
    attributes.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
    attributes.MaxTransferSize = SLOT_BYTES;
    attributes.Ptag = e->tag;
    attributes.EnableRdmaWrite = VIP_TRUE;
    CHECK(VipCreateVi(e->nic, &attributes, queue, queue, &e->vi) == VIP_SUCCESS);
    return 0;
}

/* Rank 0 waits, rank 1 asks until somebody waits: a loop on VIP_NO_MATCH. Both discriminators are the same.
 */
static int connect_end(const struct machine* on, struct end* e, int rank) {
    union {
        VIP_NET_ADDRESS address;
        char room[40];
    } local, remote;
    VIP_NIC_ATTRIBUTES nic;
    VIP_VI_ATTRIBUTES theirs;
    VIP_CONN_HANDLE connection;
    VIP_RETURN result;
    int tries = 0;
    char peer[8];
    strcpy(peer, rank == 0 ? "node1" : "node0");
    memset(&local, 0, sizeof local);
    memset(&remote, 0, sizeof remote);
    CHECK(VipQueryNic(e->nic, &nic) == VIP_SUCCESS);
    local.address.HostAddressLen = nic.NicAddressLen;
    local.address.DiscriminatorLen = 8;
    memcpy(local.address.HostAddress, nic.LocalNicAddress, nic.NicAddressLen);
    memcpy(local.room + offsetof(VIP_NET_ADDRESS, HostAddress) + 6, "channel", 8);
    if (rank == 0) {
        on->spend(on->self, 3000);
        CHECK(VipConnectWait(e->nic, &local.address, VIP_INFINITE, &remote.address, &theirs, &connection) ==
              VIP_SUCCESS);
        CHECK(VipConnectAccept(connection, e->vi) == VIP_SUCCESS);
        return 0;
    }
    CHECK(VipNSGetHostByName(e->nic, peer, &remote.address, 0) == VIP_SUCCESS);
    remote.address.DiscriminatorLen = 8;
    memcpy(remote.room + offsetof(VIP_NET_ADDRESS, HostAddress) + 6, "channel", 8);
    do {
        result = VipConnectRequest(e->vi, &local.address, &remote.address, 5000, &theirs);
        tries++;
    } while (result == VIP_NO_MATCH);
    CHECK(result == VIP_SUCCESS);
    return tries > 0 ? 0 : __LINE__;
}

/* Ends as programs do that are in a hurry: disconnects twice, destroys without draining, ignores what that
   returns, and frees its memory. */
static void close_end(const struct machine* on, struct end* e) {
    VipDisconnect(e->vi);
    VipDisconnect(e->vi);
    VipDestroyVi(e->vi);
    VipDeregisterMem(e->nic, e->area, e->handle);
    VipDestroyPtag(e->nic, e->tag);
    VipCloseNic(e->nic);
    memset(e->area, 0x7E, AREA_BYTES);
    on->spend(on->self, 5000);
}

static int untouched(const struct end* e) {
    int i;
    for (i = 0; i < AREA_BYTES; i++)
        if (e->area[i] != 0x7E) return 0;
    return 1;
}

/* A stream in which the receiver gives credits by messages without segments, whose number is their immediate
   data. Descriptors are posted again as they came back, with their old Status. */
int credit_channel(const struct machine* on, int rank) {
    struct end e;
    VIP_DESCRIPTOR* d;
    VIP_RETURN result;
    int i, line, credits = SLOTS, sent = 0, done = 0;
    const int messages = 100;
    memset(&e, 0, sizeof e);
    if ((line = open_end(on, &e, NULL)) != 0) return line;
    for (i = 0; i < SLOTS; i++) {
        prepare(&e, i, SLOT_BYTES);
        CHECK(VipPostRecv(e.vi, descriptor(&e, i), e.handle) == VIP_SUCCESS);
    }
    for (i = SLOTS; i < 2 * SLOTS; i++) prepare(&e, i, 100);
    if ((line = connect_end(on, &e, rank)) != 0) return line;
    if (rank == 1) {
        while (sent < messages || done < messages) {
            if (credits > 0 && sent < messages) {
                const int slot = SLOTS + sent % SLOTS;
                buffer(&e, slot)[99] = (char)sent;
                CHECK(VipPostSend(e.vi, descriptor(&e, slot), e.handle) == VIP_SUCCESS);
                sent++;
                credits--;
            }
            if (VipSendDone(e.vi, &d) == VIP_SUCCESS) done++;
            result = VipRecvDone(e.vi, &d);
            if (result == VIP_NOT_DONE) continue;
            CHECK(result == VIP_SUCCESS);
            CHECK(d->CS.Length == 0 && (d->CS.Status & VIP_STATUS_IMMEDIATE) != 0);
            credits += (int)d->CS.ImmediateData;
            d->CS.Length = SLOT_BYTES;
            CHECK(VipPostRecv(e.vi, d, e.handle) == VIP_SUCCESS);
        }
        on->spend(on->self, 2000);
    } else {
        for (i = 0; i < messages; i++) {
            while ((result = VipRecvDone(e.vi, &d)) == VIP_NOT_DONE) {
            }
            CHECK(result == VIP_SUCCESS);
            CHECK(d->CS.Length == 100);
            CHECK(((char*)d->DS[0].Local.Data.Address)[99] == (char)i);
            d->CS.Length = SLOT_BYTES;
            d->DS[0].Local.Length = SLOT_BYTES;
            CHECK(VipPostRecv(e.vi, d, e.handle) == VIP_SUCCESS);
            if (i % 4 != 3) continue;
            d = descriptor(&e, SLOTS);
            d->CS.SegCount = 0;
            d->CS.Length = 0;
            d->CS.Control = VIP_CONTROL_IMMEDIATE;
            d->CS.ImmediateData = 4;
            CHECK(VipPostSend(e.vi, d, e.handle) == VIP_SUCCESS);
            while ((result = VipSendDone(e.vi, &d)) == VIP_NOT_DONE) {
            }
            CHECK(result == VIP_SUCCESS);
        }
        on->spend(on->self, 1000);
    }
    close_end(on, &e);
    CHECK(untouched(&e));
    on->release(on->self, e.area);
    return 0;
}

/* The receiver looks at the last word of where the sender writes, and at nothing else: all before it is there
   then. The sender learns from a write of the same kind that it may go on. */
int remote_ring(const struct machine* on, int rank) {
    struct end e;
    struct {
        char* at;
        VIP_MEM_HANDLE handle;
    } there;
    VIP_DESCRIPTOR* d;
    VIP_RETURN result;
    int i, j, line;
    const int rounds = 30, words = 300;
    memset(&e, 0, sizeof e);
    if ((line = open_end(on, &e, NULL)) != 0) return line;
    prepare(&e, 0, sizeof there);
    CHECK(VipPostRecv(e.vi, descriptor(&e, 0), e.handle) == VIP_SUCCESS);
    if ((line = connect_end(on, &e, rank)) != 0) return line;
    there.at = buffer(&e, 2);
    there.handle = e.handle;
    memcpy(buffer(&e, 1), &there, sizeof there);
    prepare(&e, 1, sizeof there);
    CHECK(VipPostSend(e.vi, descriptor(&e, 1), e.handle) == VIP_SUCCESS);
    CHECK(VipRecvWait(e.vi, 5000, &d) == VIP_SUCCESS);
    memcpy(&there, buffer(&e, 0), sizeof there);
    CHECK(VipSendWait(e.vi, 5000, &d) == VIP_SUCCESS);

    for (i = 1; i <= rounds; i++) {
        int* const out = (int*)buffer(&e, 3);
        volatile int* const in = (volatile int*)buffer(&e, 2);
        if (rank == 0) {
            while (in[words - 1] != i) on->spend(on->self, 1);
            for (j = 0; j < words; j++) CHECK(in[j] == i);
        }
        for (j = 0; j < words; j++) out[j] = i;
        d = descriptor(&e, 4);
        d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
        d->CS.SegCount = 2;
        d->CS.Length = (VIP_UINT32)(words * sizeof(int));
        d->DS[0].Remote.Data.Address = there.at;
        d->DS[0].Remote.Handle = there.handle;
        d->DS[0].Remote.Reserved = 0;
        d->DS[1].Local.Data.Address = (VIP_PVOID)out;
        d->DS[1].Local.Handle = e.handle;
        d->DS[1].Local.Length = (VIP_UINT32)(words * sizeof(int));
        CHECK(VipPostSend(e.vi, d, e.handle) == VIP_SUCCESS);
        while ((result = VipSendDone(e.vi, &d)) == VIP_NOT_DONE) {
        }
        CHECK(result == VIP_SUCCESS);
        if (rank == 1)
            while (in[words - 1] != i) on->spend(on->self, 1);
    }
    on->spend(on->self, 2000);
    close_end(on, &e);
    CHECK(untouched(&e));
    on->release(on->self, e.area);
    return 0;
}

/* A server thread blocks on the completion queue for ever while the main thread sends. */
struct server {
    struct end* of;
    VIP_CQ_HANDLE queue;
    int received;
    int wrong;
};

static void serve_queue(void* argument) {
    struct server* s = (struct server*)argument;
    VIP_VI_HANDLE vi;
    VIP_BOOLEAN receive;
    VIP_DESCRIPTOR* d;
    VIP_RETURN result;
    while (s->received < 20) {
        if (VipCQWait(s->queue, VIP_INFINITE, &vi, &receive) != VIP_SUCCESS || vi != s->of->vi) {
            s->wrong = __LINE__;
            return;
        }
        if (receive == VIP_FALSE) {
            while ((result = VipSendDone(vi, &d)) == VIP_NOT_DONE) {
            }
        } else {
            while ((result = VipRecvDone(vi, &d)) == VIP_NOT_DONE) {
            }
            d->CS.Length = SLOT_BYTES;
            s->received++;
            if (VipPostRecv(vi, d, s->of->handle) != VIP_SUCCESS) s->wrong = __LINE__;
        }
        if (result != VIP_SUCCESS) s->wrong = __LINE__;
    }
}

int two_threads(const struct machine* on, int rank) {
    struct end e;
    struct server s;
    int i, line;
    memset(&e, 0, sizeof e);
    memset(&s, 0, sizeof s);
    CHECK(VipOpenNic("VINIC0", &e.nic) == VIP_SUCCESS);
    CHECK(VipCreateCQ(e.nic, 1, &s.queue) == VIP_SUCCESS); /* one client, one entry */
    if ((line = open_end(on, &e, s.queue)) != 0) return line;
    for (i = 0; i < SLOTS; i++) {
        prepare(&e, i, SLOT_BYTES);
        CHECK(VipPostRecv(e.vi, descriptor(&e, i), e.handle) == VIP_SUCCESS);
    }
    if ((line = connect_end(on, &e, rank)) != 0) return line;
    s.of = &e;
    on->start_thread(on->self, serve_queue, &s);
    for (i = 0; i < 20; i++) {
        prepare(&e, SLOTS + i % SLOTS, 64);
        CHECK(VipPostSend(e.vi, descriptor(&e, SLOTS + i % SLOTS), e.handle) == VIP_SUCCESS);
        on->spend(on->self, 100);
    }
    on->join_threads(on->self);
    CHECK(s.wrong == 0);
    CHECK(s.received == 20);
    on->spend(on->self, 2000);
    close_end(on, &e);
    CHECK(untouched(&e));
    return 0;
}
