/* SPDX-License-Identifier: Apache-2.0 */

/* Registers memory of every kind (stack, .data, .bss, heap, mmap; overlapping; after munmap; before fork) and sends from
   it to itself: the bytes must be those. Prints what is wrong. */
#include <sys/mman.h>
#include <sys/wait.h>

#include "common.h"

static char in_data[8192] = {1};
static char in_bss[8192];
static struct endpoint e;

static VIP_MEM_HANDLE register_it(void* at, unsigned long bytes) {
    VIP_MEM_ATTRIBUTES a;
    VIP_MEM_HANDLE handle;
    a.Ptag = e.tag;
    a.EnableRdmaWrite = VIP_FALSE;
    a.EnableRdmaRead = VIP_FALSE;
    CHECK(VipRegisterMem(e.nic, at, bytes, &a, &handle));
    return handle;
}

/* Process 0 sends from `at`, process 1 receives into it. */
static void transfer(const char* what, char* at, unsigned long bytes, int seed) {
    const VIP_MEM_HANDLE handle = register_it(at, bytes);
    VIP_DESCRIPTOR* d = descriptor(&e, 0);
    unsigned long i;
    prepare(&e, 0, bytes);
    d->DS[0].Local.Data.Address = at;
    d->DS[0].Local.Handle = handle;
    if (process() == 0) {
        for (i = 0; i < bytes; ++i) at[i] = (char)(i * 7 + (unsigned)seed);
        usleep(2000); /* until the other has posted */
        CHECK(VipPostSend(e.vi, d, e.handle));
        poll_send(&e);
    } else {
        CHECK(VipPostRecv(e.vi, d, e.handle));
        poll_receive(&e);
        for (i = 0; i < bytes; ++i)
            if (at[i] != (char)(i * 7 + (unsigned)seed)) {
                printf("%s: byte %lu is wrong\n", what, i);
                break;
            }
    }
    CHECK(VipDeregisterMem(e.nic, at, handle));
}

int main(void) {
    char on_stack[10000];
    char* mapped = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char* heap = malloc(200000);
    VIP_MEM_ATTRIBUTES a;
    VIP_MEM_HANDLE handle;
    pid_t child;
    int status;
    open_nic(&e);
    open_vi(&e, 1, 64, NULL);
    if (process() == 0)
        call_server(&e, "node1");
    else
        wait_for_client(&e);
    transfer(".data", in_data + 3, 8000, 2);
    transfer(".bss", in_bss + 5, 8000, 3);
    transfer("heap", heap + 11, 30000, 4);
    transfer("overlapping heap", heap + 4000, 20000, 5);
    transfer("mmap", mapped, 16384, 6);
    transfer("mmap again", mapped + 4096, 8192, 7);
    munmap(mapped, 16384);
    mapped = mmap(mapped, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    transfer("mmap after munmap", mapped, 16384, 8);
    heap = realloc(heap, 4000000);
    transfer("heap after realloc", heap, 60000, 9);

    /* A child's stores are its own. */
    in_bss[100] = 5;
    child = fork();
    if (child == 0) {
        in_bss[100] = 6;
        _exit(in_bss[100] == 6 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) printf("the child failed\n");
    if (in_bss[100] != 5) printf("the child's store is seen\n");
    transfer(".bss after fork", in_bss, 8192, 10);

    strcpy(on_stack + 9000, "untouched");
    transfer("stack", on_stack + 100, 8000, 1);
    if (strcmp(on_stack + 9000, "untouched") != 0) printf("the stack has changed\n");

    a.Ptag = e.tag;
    a.EnableRdmaWrite = a.EnableRdmaRead = VIP_FALSE;
    if (VipRegisterMem(e.nic, (void*)0x1000, 64, &a, &handle) != VIP_INVALID_PARAMETER)
        printf("memory that is not there was registered\n");
    if (VipRegisterMem(e.nic, (void*)"text", 4, &a, &handle) != VIP_INVALID_PARAMETER)
        printf("memory that is read-only was registered\n");
    return 0;
}
