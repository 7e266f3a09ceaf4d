// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/launch.h"

#include <fcntl.h>
#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "hw/sim/error.h"

namespace vinic::testbench {

namespace {

bool executable(const std::string& file) {
    return std::filesystem::is_regular_file(file) && access(file.c_str(), X_OK) == 0;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
    all.push_back(nullptr);
    return all;
}

std::size_t bytes_of(const std::vector<std::string>& texts) {
    std::size_t bytes = 0;
    for (const std::string& text : texts) bytes += text.size() + 1;
    return bytes;
}

/// All texts that the kernel puts at the top of the stack fill a multiple of this.
constexpr std::size_t padding = 16'384;

std::vector<std::string> environment_of(const program_command& what, const std::string& file) {
    std::vector<std::string> all;
    for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH"}) {
        const char* const value = std::getenv(name);
        all.push_back(fmt::format("{}={}", name, value ? value : ""));
    }
    all.insert(all.end(), what.environment.begin(), what.environment.end());
    const std::string pad_name = "VINIC_PADDING=";
    const std::size_t bytes = file.size() + 1 + bytes_of(what.words) + bytes_of(all) + pad_name.size() + 1;
    all.push_back(pad_name + std::string((padding - bytes % padding) % padding, '.'));
    return all;
}

[[noreturn]] void become(const std::string& file, char* const* words, char* const* environment,
                         bool reads_input) {
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
    if (!reads_input) {
        const int nothing = open("/dev/null", O_RDONLY);
        dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
    if (personality(ADDR_NO_RANDOMIZE) == -1)
        std::fputs(
            "vinic: the kernel refuses to switch address-space randomisation off: the run may not be "
            "reproducible\n",
            stderr);
    execve(file.c_str(), words, environment);
    std::fprintf(stderr, "vinic: cannot start %s: %s\n", file.c_str(), std::strerror(errno));
    _exit(127);
}

}  // namespace

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        if (executable(name)) return name;
        throw sim::input_error("{} is no program that can be started", name);
    }
    const char* const set = std::getenv("PATH");
    const std::string path = set ? set : "";
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find(':', begin), path.size());
        const std::string file = path.substr(begin, end - begin) + "/" + name;
        if (executable(file)) return file;
        begin = end + 1;
    }
    throw sim::input_error("no program {} in PATH{}", name,
                           executable("./" + name) ? fmt::format("; did you mean ./{}?", name) : "");
}

pid_t launch(const program_command& what, bool reads_input) {
    const std::string file = find_program(what.words.front());
    const std::vector<std::string> environment = environment_of(what, file);
    const std::vector<char*> words = pointers_to(what.words);
    const std::vector<char*> variables = pointers_to(environment);
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) throw sim::input_error("cannot start {}: {}", file, std::strerror(errno));
    if (child == 0) become(file, words.data(), variables.data(), reads_input);
    return child;
}

}  // namespace vinic::testbench
