/* SPDX-License-Identifier: Apache-2.0 */

/* rdma_poll BYTES ROUNDS: ping-pong by RDMA writes; each side polls on the last word of its buffer, and calls nothing
   meanwhile. */
#include "common.h"

/* What the peer must know to write here: sent as the first message. */
struct place {
    VIP_UINT64 address;
    VIP_UINT32 handle;
};

int main(int count, char** arguments) {
    const unsigned long bytes = count > 1 ? (unsigned long)atol(arguments[1]) : 64;
    const unsigned rounds = count > 2 ? (unsigned)atoi(arguments[2]) : 10;
    const int client = process() == 0;
    struct endpoint e;
    struct place mine, theirs;
    VIP_DESCRIPTOR* d;
    volatile unsigned* last;
    unsigned i, k;
    double start;
    open_nic(&e);
    open_vi(&e, 3, bytes < 64 ? 64 : bytes, NULL);
    prepare(&e, 0, sizeof mine);
    prepare(&e, 1, sizeof mine);
    CHECK(VipPostRecv(e.vi, descriptor(&e, 1), e.handle));
    if (client)
        call_server(&e, "node1");
    else
        wait_for_client(&e);
    mine.address = (unsigned long)buffer(&e, 2);
    mine.handle = e.handle;
    memcpy(buffer(&e, 0), &mine, sizeof mine);
    /* The client of an unreliable VI may be connected before the server is ready to receive: it waits for its word. */
    if (client) memcpy(&theirs, poll_receive(&e)->DS[0].Local.Data.Address, sizeof theirs);
    CHECK(VipPostSend(e.vi, descriptor(&e, 0), e.handle));
    poll_send(&e);
    if (!client) memcpy(&theirs, poll_receive(&e)->DS[0].Local.Data.Address, sizeof theirs);

    last = (volatile unsigned*)(buffer(&e, 2) + bytes - 4);
    start = now_us();
    for (i = 1; i <= rounds; ++i) {
        unsigned* out = (unsigned*)buffer(&e, 0);
        if (!client)
            while (*last != i) {
            }
        for (k = 0; k < bytes / 4; ++k) out[k] = i;
        d = descriptor(&e, 0);
        memset(d, 0, sizeof *d);
        d->CS.SegCount = 2;
        d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
        d->CS.Length = bytes;
        d->DS[0].Remote.Data.AddressBits = theirs.address;
        d->DS[0].Remote.Handle = theirs.handle;
        d->DS[1].Local.Data.Address = out;
        d->DS[1].Local.Handle = e.handle;
        d->DS[1].Local.Length = bytes;
        CHECK(VipPostSend(e.vi, d, e.handle));
        poll_send(&e);
        if (client)
            while (*last != i) {
            }
        for (k = 0; k < bytes / 4; ++k)
            if (((unsigned*)buffer(&e, 2))[k] != i) {
                printf("word %u of round %u is %u\n", k, i, ((unsigned*)buffer(&e, 2))[k]);
                return 1;
            }
    }
    if (client) printf("%lu bytes by RDMA write: %.3f us one way\n", bytes, (now_us() - start) / (2.0 * rounds));
    return 0;
}
