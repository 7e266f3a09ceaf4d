/* SPDX-License-Identifier: Apache-2.0 */

/* What the test programs share: opening a VI with registered memory and connecting two, as programs of the
   time did it. gnu89. */
#ifndef VINIC_TEST_PROGRAM_H
#define VINIC_TEST_PROGRAM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "vipl/vipl.h"

#define CHECK(call)                                                                    \
    do {                                                                               \
        VIP_RETURN code_ = (call);                                                     \
        if (code_ != VIP_SUCCESS) {                                                    \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, (int)code_); \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

/* A VI and its memory: descriptors first, a buffer of `bytes` for each behind them. */
struct endpoint {
    VIP_NIC_HANDLE nic;
    VIP_PROTECTION_HANDLE tag;
    VIP_VI_HANDLE vi;
    VIP_MEM_HANDLE handle;
    VIP_NIC_ATTRIBUTES attributes;
    VIP_VI_ATTRIBUTES vi_attributes;
    unsigned long bytes;
    unsigned count;
    char* memory;
};

static VIP_DESCRIPTOR* descriptor(struct endpoint* e, unsigned i) {
    return (VIP_DESCRIPTOR*)(e->memory + 64 * i);
}
static char* buffer(struct endpoint* e, unsigned i) { return e->memory + 64 * e->count + e->bytes * i; }

static void prepare(struct endpoint* e, unsigned i, unsigned long bytes) {
    VIP_DESCRIPTOR* d = descriptor(e, i);
    memset(d, 0, sizeof *d);
    d->CS.SegCount = 1;
    d->CS.Length = bytes;
    d->DS[0].Local.Data.Address = buffer(e, i);
    d->DS[0].Local.Handle = e->handle;
    d->DS[0].Local.Length = bytes;
}

static void open_nic(struct endpoint* e) {
    memset(e, 0, sizeof *e);
    CHECK(VipOpenNic("VINIC", &e->nic));
    CHECK(VipNSInit(e->nic, NULL));
    CHECK(VipQueryNic(e->nic, &e->attributes));
    CHECK(VipCreatePtag(e->nic, &e->tag));
}

static void open_vi(struct endpoint* e, unsigned count, unsigned long bytes, VIP_CQ_HANDLE receive_queue) {
    VIP_MEM_ATTRIBUTES memory;
    void* place = NULL;
    e->count = count;
    e->bytes = (bytes + 63) & ~63ul;
    if (posix_memalign(&place, 4096, count * (64 + e->bytes)) != 0) exit(1);
    e->memory = place;
    memset(place, 0, count * (64 + e->bytes));
    memory.Ptag = e->tag;
    memory.EnableRdmaWrite = VIP_TRUE;
    memory.EnableRdmaRead = VIP_FALSE;
    CHECK(VipRegisterMem(e->nic, place, count * (64 + e->bytes), &memory, &e->handle));
    e->vi_attributes.ReliabilityLevel = VIP_SERVICE_UNRELIABLE;
    e->vi_attributes.MaxTransferSize = e->attributes.MaxTransferSize;
    e->vi_attributes.Ptag = e->tag;
    e->vi_attributes.EnableRdmaWrite = VIP_TRUE;
    CHECK(VipCreateVi(e->nic, &e->vi_attributes, NULL, receive_queue, &e->vi));
}

union address {
    VIP_NET_ADDRESS net;
    char room[64];
};

static void own_address(struct endpoint* e, union address* a) {
    a->net.HostAddressLen = e->attributes.NicAddressLen;
    memcpy(a->net.HostAddress, e->attributes.LocalNicAddress, e->attributes.NicAddressLen);
    a->net.DiscriminatorLen = 4;
    memcpy(a->net.HostAddress + a->net.HostAddressLen, "test", 4);
}

static void wait_for_client(struct endpoint* e) {
    union address local, remote;
    VIP_VI_ATTRIBUTES theirs;
    VIP_CONN_HANDLE connection;
    own_address(e, &local);
    CHECK(VipConnectWait(e->nic, &local.net, VIP_INFINITE, &remote.net, &theirs, &connection));
    CHECK(VipConnectAccept(connection, e->vi));
}

/* Tries until the server is there, as programs of the time did. */
static void call_address(struct endpoint* e, union address* remote) {
    union address local;
    VIP_VI_ATTRIBUTES theirs;
    VIP_RETURN code;
    own_address(e, &local);
    while ((code = VipConnectRequest(e->vi, &local.net, &remote->net, VIP_INFINITE, &theirs)) == VIP_NO_MATCH)
        usleep(20);
    CHECK(code);
}

static void call_server(struct endpoint* e, const char* host) {
    union address remote;
    memset(&remote, 0, sizeof remote);
    CHECK(VipNSGetHostByName(e->nic, (VIP_CHAR*)host, &remote.net, 0));
    remote.net.DiscriminatorLen = 4;
    memcpy(remote.net.HostAddress + remote.net.HostAddressLen, "test", 4);
    call_address(e, &remote);
}

static VIP_DESCRIPTOR* poll_send(struct endpoint* e) {
    VIP_DESCRIPTOR* d;
    VIP_RETURN code;
    while ((code = VipSendDone(e->vi, &d)) == VIP_NOT_DONE) {
    }
    CHECK(code);
    return d;
}

static VIP_DESCRIPTOR* poll_receive(struct endpoint* e) {
    VIP_DESCRIPTOR* d;
    VIP_RETURN code;
    while ((code = VipRecvDone(e->vi, &d)) == VIP_NOT_DONE) {
    }
    CHECK(code);
    return d;
}

static double now_us(void) {
    struct timeval t;
    gettimeofday(&t, NULL);
    return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

/* Which of the processes this is: from `vinic exec`, from a launcher, or one on each node; else the first. */
static int process(void) {
    const char* number = getenv("VINIC_PROCESS");
    if (number == NULL) number = getenv("PMI_RANK");
    if (number == NULL) number = getenv("VINIC_NODE");
    return number != NULL ? atoi(number) : 0;
}

#endif
