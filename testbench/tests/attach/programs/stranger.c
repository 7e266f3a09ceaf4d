/* SPDX-License-Identifier: Apache-2.0 */

/* Speaks to the simulator as a library of another version would, and prints the answer. */
#include <sys/socket.h>
#include <sys/un.h>

#include "common.h"

int main(void) {
    struct sockaddr_un address;
    unsigned hello[3] = {0x4C504956u, 4711, 0};
    char answer[256];
    const int to = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, getenv("VINIC_SOCKET"));
    if (connect(to, (struct sockaddr*)&address, sizeof address) != 0) return 1;
    if (send(to, hello, sizeof hello, 0) != sizeof hello) return 1;
    if (recv(to, answer, sizeof answer, 0) != sizeof answer) return 1;
    printf("%s\n", answer + 4);
    return 0;
}
