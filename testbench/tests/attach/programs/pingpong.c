/* SPDX-License-Identifier: Apache-2.0 */

/* pingpong BYTES ROUNDS: round trips between two processes, as the workload of that name makes them. */
#include "common.h"

int main(int count, char** arguments) {
    const unsigned long bytes = count > 1 ? (unsigned long)atol(arguments[1]) : 8;
    const int rounds = count > 2 ? atoi(arguments[2]) : 100;
    const int warmup = 10;
    const int client = process() == 0;
    struct endpoint e;
    VIP_DESCRIPTOR* received = NULL;
    double start = 0;
    int i;
    open_nic(&e);
    open_vi(&e, 3, bytes, NULL);
    for (i = 0; i < 3; ++i) prepare(&e, i, bytes);
    CHECK(VipPostRecv(e.vi, descriptor(&e, 1), e.handle));
    CHECK(VipPostRecv(e.vi, descriptor(&e, 2), e.handle));
    if (client)
        call_server(&e, "node1");
    else
        wait_for_client(&e);
    for (i = -warmup; i < rounds; ++i) {
        if (i == 0) start = now_us();
        if (client) {
            memset(buffer(&e, 0), i & 0x7F, bytes);
        } else {
            received = poll_receive(&e);
            memcpy(buffer(&e, 0), received->DS[0].Local.Data.Address, bytes);
        }
        CHECK(VipPostSend(e.vi, descriptor(&e, 0), e.handle));
        poll_send(&e);
        if (received != NULL) CHECK(VipPostRecv(e.vi, received, e.handle));
        if (client) {
            received = poll_receive(&e);
            if (memcmp(received->DS[0].Local.Data.Address, buffer(&e, 0), bytes) != 0) {
                printf("wrong data in round %d\n", i);
                return 1;
            }
        }
    }
    if (client) printf("%lu bytes: %.3f us one way\n", bytes, (now_us() - start) / (2.0 * rounds));
    return 0;
}
