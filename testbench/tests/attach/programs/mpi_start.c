/* SPDX-License-Identifier: Apache-2.0 */

/* mpi_start ROUNDS: a program of MPI whose data go by VIPL: MPI starts two ranks and tells rank 1 where rank 0 is; round
   trips of 8 bytes follow. */
#include <mpi.h>

#include "common.h"

static void turn(struct endpoint* e, int send_first) {
    if (send_first) {
        CHECK(VipPostSend(e->vi, descriptor(e, 0), e->handle));
        poll_send(e);
    }
    CHECK(VipPostRecv(e->vi, poll_receive(e), e->handle));
    if (!send_first) {
        CHECK(VipPostSend(e->vi, descriptor(e, 0), e->handle));
        poll_send(e);
    }
}

int main(int count, char** arguments) {
    const int rounds = count > 1 ? atoi(arguments[1]) : 100;
    struct endpoint e;
    union address server;
    double start;
    int rank, i;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    open_nic(&e);
    open_vi(&e, 3, 8, NULL);
    for (i = 0; i < 3; ++i) prepare(&e, i, 8);
    for (i = 1; i < 3; ++i) CHECK(VipPostRecv(e.vi, descriptor(&e, i), e.handle));
    own_address(&e, &server);
    MPI_Bcast(&server, sizeof server, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        wait_for_client(&e);
    else
        call_address(&e, &server);
    start = now_us();
    for (i = 0; i < rounds; ++i) turn(&e, rank == 1);
    if (rank == 1) printf("8 bytes: %.3f us one way\n", (now_us() - start) / (2.0 * rounds));
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
