// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/machine_process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "testbench/attach/kernel_view.h"

namespace vinic::testbench {

machine_process::machine_process(pid_t number, bool ours) : number_(number), ours_(ours) {
    if (!ours_) file_ = static_cast<int>(syscall(SYS_pidfd_open, number, 0));
}

machine_process::~machine_process() {
    if (file_ >= 0) close(file_);
    if (!ours_ || ended()) return;
    const std::vector<pid_t> below = descendants_of(number_);
    kill(number_, SIGKILL);
    for (const pid_t one : below) kill(one, SIGKILL);
    waitpid(number_, nullptr, 0);
}

void machine_process::note(int status) {
    if (!WIFEXITED(status) && !WIFSIGNALED(status)) return;
    ended_ = true;
    status_ = status;
}

bool machine_process::ended() {
    int status = 0;
    if (ended_) return true;
    if (ours_ && waitpid(number_, &status, WNOHANG) == number_) note(status);
    if (ours_) return ended_;
    pollfd look{.fd = file_, .events = POLLIN, .revents = 0};
    ended_ = file_ < 0 || poll(&look, 1, 0) == 1;
    if (ended_)
        waitpid(number_, nullptr, WNOHANG | __WALL);  // its parent waits for it in vain if we trace it
    return ended_;
}

int machine_process::copy_of(int file) const {
    const int process = ours_ ? static_cast<int>(syscall(SYS_pidfd_open, number_, 0)) : file_;
    const int copy = static_cast<int>(syscall(SYS_pidfd_getfd, process, file, 0));
    if (ours_) close(process);
    return copy;
}

int machine_process::exit_status() const {
    return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

int machine_process::signal() const { return WIFSIGNALED(status_) ? WTERMSIG(status_) : 0; }

}  // namespace vinic::testbench
