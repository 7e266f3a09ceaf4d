/* SPDX-License-Identifier: Apache-2.0 */

/* starts_process HOW: a child computes for a while and writes to a pipe. Time stands until it has: after a
   sleep the pipe is not empty. */
#define _GNU_SOURCE
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include "common.h"

static const char* const work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done";

/* As fork; but the parent of what runs has ended. */
static pid_t fork_orphan(void) {
    const pid_t child = fork();
    if (child == 0 && fork() != 0) _exit(0);
    if (child != 0) waitpid(child, NULL, 0);
    return child;
}

static void start(const char* how, int to) {
    char* words[] = {"sh", "-c", (char*)work, NULL};
    char* const environment[] = {NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
    if (strcmp(how, "posix_spawn") == 0) {
        if (posix_spawn(&child, "/bin/sh", &actions, NULL, words, environment) != 0) exit(1);
    } else if (strcmp(how, "posix_spawnp") == 0) {
        if (posix_spawnp(&child, "sh", &actions, NULL, words, environment) != 0) exit(1);
    } else if ((strcmp(how, "orphan") == 0  ? fork_orphan()
                : strcmp(how, "vfork") == 0 ? vfork()
                                            : fork()) == 0) {
        dup2(to, STDOUT_FILENO);
        execve("/bin/sh", words, environment);
        _exit(127);
    }
}

int main(int count, char** words) {
    static struct endpoint e;
    int ends[2];
    struct pollfd look;
    if (count < 2 || pipe(ends) != 0) return 2;
    open_nic(&e);
    if (strcmp(words[1], "popen") == 0)
        ends[0] = fileno(popen(work, "r"));
    else
        start(words[1], ends[1]);
    usleep(100);
    look.fd = ends[0];
    look.events = POLLIN;
    printf("%s\n", poll(&look, 1, 0) == 1 ? "ready" : "not ready");
    return 0;
}
