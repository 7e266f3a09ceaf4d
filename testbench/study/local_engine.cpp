// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/local_engine.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

namespace vinic::testbench::study {

namespace {

constexpr std::size_t log_bytes_kept = 64 << 10;

int checked(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
    return result;
}

void limit(int resource, rlim_t most) {
    const rlimit both{most, most};
    ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

/// In the child, between fork and exec: only what is safe there.
[[noreturn]] void become_vinic(char* const* arguments, const limits& each, pid_t parent, int output,
                               int log) {
    ::setpgid(0, 0);  // Ctrl-C is for the parent, which decides
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
#ifndef __SANITIZE_ADDRESS__                // which reserves terabytes
    limit(RLIMIT_DATA, each.memory_bytes);  // what may be written; reserved addresses cost nothing
#endif
    limit(RLIMIT_FSIZE, each.file_bytes);
    limit(RLIMIT_CORE, 0);
    ::execv("/proc/self/exe", arguments);
    ::_exit(127);
}

std::string content_of(int file, std::size_t most) {
    const off_t size = ::lseek(file, 0, SEEK_END);
    const off_t from = size > static_cast<off_t>(most) ? size - static_cast<off_t>(most) : 0;
    std::string text(static_cast<std::size_t>(size - from), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t n =
            ::pread(file, text.data() + done, text.size() - done, from + static_cast<off_t>(done));
        if (n <= 0) break;
        done += static_cast<std::size_t>(n);
    }
    text.resize(done);
    return text;
}

std::string status_name(int exit_status, const std::string& log) {
    for (const char* said : {"std::bad_alloc", "of memory", "allocate memory"})
        if (exit_status != 0 && log.find(said) != std::string::npos) return "out of memory";
    switch (exit_status) {
        case 0:
            return "done";
        case 1:
            return "check failed";
        case 2:
            return "bad input";
        case 3:
            return "model error";
        case 127:
            return "not started";
        default:
            return "failed";
    }
}

}  // namespace

std::size_t processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return static_cast<std::size_t>(CPU_COUNT(&set));
}

local_engine::~local_engine() {
    for (const auto& [process, of] : children_) ::kill(-process, SIGKILL);
    for (const auto& [process, of] : children_) {
        ::waitpid(process, nullptr, 0);
        for (const int file : {of.alive, of.output, of.log}) ::close(file);
    }
}

void local_engine::start(std::size_t index, const std::vector<std::string>& arguments) {
    std::string name = "vinic";
    std::vector<std::string> words = arguments;
    std::vector<char*> pointers{name.data()};
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);

    int ends[2];
    checked(::pipe2(ends, O_CLOEXEC), "pipe");
    const int output = checked(::memfd_create("output", MFD_CLOEXEC), "memfd_create");
    const int log = checked(::memfd_create("log", MFD_CLOEXEC), "memfd_create");
    const pid_t parent = ::getpid();
    const pid_t process = checked(::fork(), "fork");
    if (process == 0) {
        ::fcntl(ends[1], F_SETFD, 0);
        become_vinic(pointers.data(), limits_, parent, output, log);
    }
    ::setpgid(process, process);  // whoever of the two comes first
    ::close(ends[1]);
    children_[process] = {index, ends[0], output, log, std::chrono::steady_clock::now()};
}

void local_engine::kill_overdue() {
    const auto now = std::chrono::steady_clock::now();
    for (auto& [process, of] : children_) {
        if (of.overdue || std::chrono::duration<double>(now - of.begun).count() < limits_.seconds) continue;
        of.overdue = true;
        ::kill(-process, SIGKILL);
    }
}

ended_point local_engine::reap(pid_t process, const child& of) const {
    int status = 0;
    ::waitpid(process, &status, 0);
    ended_point p{.index = of.index};
    p.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - of.begun).count();
    p.output = content_of(of.output, limits_.file_bytes);
    p.log = content_of(of.log, log_bytes_kept);
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    p.host = host;
    p.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (of.overdue) {
        p.status = "timed out";
        p.log += fmt::format("vinic: ended after its limit of {} s\n", limits_.seconds);
    } else if (WIFSIGNALED(status)) {
        p.status = WTERMSIG(status) == SIGKILL ? ended_point::killed : "crashed";
        p.log +=
            fmt::format("vinic: ended by signal {} ({})\n", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    } else {
        p.status = status_name(p.exit_status, p.log);
        if (p.status == "out of memory")
            p.log +=
                fmt::format("vinic: ended at its limit of {} MB of memory\n", limits_.memory_bytes >> 20);
    }
    for (const int file : {of.alive, of.output, of.log}) ::close(file);
    return p;
}

std::vector<ended_point> local_engine::wait(std::chrono::milliseconds longest) {
    kill_overdue();
    std::vector<pollfd> pipes;
    for (const auto& [process, of] : children_) pipes.push_back({of.alive, POLLIN, 0});
    ::poll(pipes.data(), pipes.size(), static_cast<int>(longest.count()));
    std::vector<ended_point> ended;
    std::size_t i = 0;
    for (auto at = children_.begin(); at != children_.end(); ++i) {
        if (pipes[i].revents == 0) {
            ++at;
            continue;
        }
        ended.push_back(reap(at->first, at->second));
        at = children_.erase(at);
    }
    return ended;
}

}  // namespace vinic::testbench::study
