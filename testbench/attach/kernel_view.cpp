// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/kernel_view.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "hw/sim/error.h"

namespace vinic::testbench {

namespace {

/// The file's beginning; empty when it is not there.
std::string text_of(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return "";
    char text[512];
    const ssize_t got = read(file, text, sizeof text);
    close(file);
    return {text, got > 0 ? static_cast<std::size_t>(got) : 0};
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

/// State and parent: what follows the name, which may hold anything, in parentheses.
bool read_stat(const std::string& folder, char& state, pid_t& parent) {
    const std::string stat = text_of(folder + "/stat");
    const std::size_t name_end = stat.rfind(')');
    return name_end != std::string::npos &&
           std::sscanf(stat.c_str() + name_end + 1, " %c %d", &state, &parent) == 2;
}

}  // namespace

std::vector<thread_view> threads_of(pid_t process) {
    std::vector<thread_view> all;
    const std::string tasks = fmt::format("/proc/{}/task", process);
    for (const pid_t thread : numbers_in(tasks)) {
        const std::string folder = fmt::format("{}/{}", tasks, thread);
        thread_view view{.thread = thread, .state = '?', .run_ns = 0, .slices = 0};
        pid_t parent = 0;
        if (!read_stat(folder, view.state, parent)) continue;
        unsigned long long run_ns = 0;
        unsigned long long slices = 0;
        std::sscanf(text_of(folder + "/schedstat").c_str(), "%llu %*u %llu", &run_ns, &slices);
        view.run_ns = run_ns;
        view.slices = slices;
        all.push_back(view);
    }
    return all;
}

std::vector<pid_t> descendants_of(pid_t process) {
    std::multimap<pid_t, pid_t> children;
    for (const pid_t one : numbers_in("/proc")) {
        char state = '?';
        pid_t parent = 0;
        if (read_stat(fmt::format("/proc/{}", one), state, parent) && state != 'Z')
            children.emplace(parent, one);
    }
    std::vector<pid_t> all{process};
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto [begin, end] = children.equal_range(all[i]);
        for (auto child = begin; child != end; ++child) all.push_back(child->second);
    }
    all.erase(all.begin());
    return all;
}

}  // namespace vinic::testbench
