// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/kernel_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>

#include "hw/sim/error.h"

namespace vinic::testbench {

namespace {

/// Empty when it is not there.
std::string text_of(const std::string& path) {
    std::string all;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return all;
    char text[512];
    ssize_t got = sizeof text;
    while (got == sizeof text && (got = read(file, text, sizeof text)) > 0)
        all.append(text, static_cast<std::size_t>(got));
    close(file);
    return all;
}

std::vector<pid_t> numbers_in(const std::string& folder) {
    struct closer {
        void operator()(DIR* d) const { closedir(d); }
    };
    std::vector<pid_t> all;
    const std::unique_ptr<DIR, closer> entries(opendir(folder.c_str()));
    while (const dirent* const one = entries ? readdir(entries.get()) : nullptr)
        if (const int number = std::atoi(one->d_name); number > 0) all.push_back(number);
    std::sort(all.begin(), all.end());
    return all;
}

/// What follows the name, which may hold anything, in parentheses; 0 when there is no such thread.
char state_in(const std::string& folder) {
    const std::string stat = text_of(folder + "/stat");
    const std::size_t name_end = stat.rfind(')');
    return name_end != std::string::npos && name_end + 2 < stat.size() ? stat[name_end + 2] : '\0';
}

/// Between the state's change and the last look at what it waits for, a thread has a processor, or waits for
/// one for as long as others have them. The kernel says in which system call a thread is only when it is off
/// them. Where it says nothing at all (another user's program), the state must do.
bool has_left_processor(pid_t thread) {
    return !text_of(fmt::format("/proc/{}/syscall", thread)).starts_with("running");
}

}  // namespace

std::string name_of(pid_t process) {
    std::string name = text_of(fmt::format("/proc/{}/comm", process));
    if (name.ends_with('\n')) name.pop_back();
    return name;
}

std::vector<thread_view> threads_of(pid_t process) {
    std::vector<thread_view> all;
    const std::string tasks = fmt::format("/proc/{}/task", process);
    for (const pid_t thread : numbers_in(tasks)) {
        const std::string folder = fmt::format("{}/{}", tasks, thread);
        unsigned long long run_ns = 0;
        unsigned long long slices = 0;
        std::sscanf(text_of(folder + "/schedstat").c_str(), "%llu %*u %llu", &run_ns, &slices);
        const thread_view view{
            .thread = thread, .state = state_in(folder), .run_ns = run_ns, .slices = slices};
        if (view.state != 0) all.push_back(view);
    }
    return all;
}

bool blocked(const thread_view& t) {
    if (t.state == 'Z' || t.state == 'X') return true;
    return t.state == 'S' && has_left_processor(t.thread);
}

bool signal_pending(pid_t process, int signal) {
    const std::string status = text_of(fmt::format("/proc/{}/status", process));
    for (const std::string key : {"\nSigPnd:", "\nShdPnd:"}) {
        const std::size_t at = status.find(key);
        if (at == std::string::npos) continue;
        if (std::strtoull(status.c_str() + at + key.size(), nullptr, 16) >> (signal - 1) & 1) return true;
    }
    return false;
}

bool shares_memory(pid_t process) {
    std::istringstream maps(text_of(fmt::format("/proc/{}/maps", process)));
    for (std::string line; std::getline(maps, line);)
        if (line.find(" rw-s ") != std::string::npos && line.find("/memfd:vinic ") == std::string::npos)
            return true;
    return false;
}

std::vector<pid_t> descendants_of(pid_t process) {
    std::vector<pid_t> all{process};
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::string tasks = fmt::format("/proc/{}/task", all[i]);
        for (const pid_t thread : numbers_in(tasks)) {
            std::istringstream children(text_of(fmt::format("{}/{}/children", tasks, thread)));
            for (pid_t child = 0; children >> child;) all.push_back(child);
        }
    }
    all.erase(all.begin());
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace vinic::testbench
