// SPDX-License-Identifier: Apache-2.0
#include "testbench/study/slurm.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>

#include "hw/sim/error.h"
#include "testbench/report/sha256.h"

namespace vinic::testbench::study::slurm {

namespace {

struct outcome {
    int status = 0;
    std::string output;
    std::string errors;
};

/// A file in memory, for what a program says.
class capture {
public:
    capture() : file_(::memfd_create("capture", MFD_CLOEXEC)) {
        if (file_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
    }
    ~capture() { ::close(file_); }
    capture(const capture&) = delete;
    capture& operator=(const capture&) = delete;
    int file() const { return file_; }
    std::string text() const { return read_file("/proc/self/fd/" + std::to_string(file_)); }

private:
    int file_;
};

/// Runs a program to its end, in a process group of its own: Ctrl-C is for this process, which decides.
outcome call(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const capture output, errors;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output.file(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors.file(), STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t process = 0;
    const int failed = posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT)
        throw sim::input_error(
            "--engine slurm: there is no {} here: run it where Slurm's commands are, or without --engine",
            words[0]);
    if (failed) throw sim::input_error("cannot run {}: {}", words[0], std::strerror(failed));
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), output.text(), errors.text()};
}

/// What a command complains of, in one line: "sbatch: error: No partition" -> "No partition".
std::string complaint(const outcome& of, const std::string& command) {
    std::string all;
    std::istringstream lines(of.errors);
    for (std::string line; std::getline(lines, line);) {
        for (const std::string& prefix : {command + ": ", std::string("error: ")})
            if (line.starts_with(prefix)) line.erase(0, prefix.size());
        if (!line.empty()) all += (all.empty() ? "" : "; ") + line;
    }
    return all.empty() ? fmt::format("exit status {}", of.status) : all;
}

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> all(1);
    for (const char c : line)
        if (c == '|')
            all.emplace_back();
        else
            all.back() += c;
    return all;
}

}  // namespace

bool task::is_over() const {
    static constexpr std::array over{"COMPLETED", "FAILED",    "CANCELLED",     "TIMEOUT", "NODE_FAIL",
                                     "PREEMPTED", "BOOT_FAIL", "OUT_OF_MEMORY", "DEADLINE"};
    return std::ranges::find(over, state) != over.end();
}

void check_available() { call({"sbatch", "--version"}); }

std::size_t most_tasks() {
    const outcome said = call({"scontrol", "show", "config"});
    if (said.status != 0) throw sim::input_error("Slurm does not answer: {}", complaint(said, "scontrol"));
    const std::string key = "MaxArraySize";
    const std::size_t at = said.output.find(key);
    const std::size_t value = at == std::string::npos ? at : said.output.find_first_of("0123456789", at);
    if (value == std::string::npos) throw sim::input_error("scontrol show config: no {}", key);
    // The largest index is one less, and 0 means that there are no arrays.
    const std::size_t most = std::stoull(said.output.substr(value));
    if (most == 0) throw sim::input_error("this Slurm allows no array jobs: {} is 0", key);
    return most;
}

std::string submit(const std::vector<std::string>& options, const std::string& command) {
    std::vector<std::string> words{"sbatch", "--parsable"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--wrap=" + command);
    const outcome said = call(words);
    if (said.status != 0) throw sim::input_error("Slurm took no job: {}", complaint(said, "sbatch"));
    return said.output.substr(0, said.output.find_first_not_of("0123456789"));
}

answer tasks(const std::vector<std::string>& names) {
    const outcome said =
        call({"squeue", "--noheader", "--array", "--states=all", fmt::format("--user={}", ::getuid()),
              fmt::format("--name={}", fmt::join(names, ",")), "--format=%j|%F|%K|%T|%r|%N"});
    if (said.status != 0) return {.error = complaint(said, "squeue")};
    answer all{.known = true};
    std::istringstream lines(said.output);
    for (std::string line; std::getline(lines, line);) {
        const auto field = fields_of(line);
        // Of a job that is no array, the index is N/A.
        if (field.size() != 6 || field[2].find_first_not_of("0123456789") != std::string::npos) continue;
        all.tasks.push_back({field[0], field[1], std::stoull(field[2]), field[3], field[4], field[5]});
    }
    return all;
}

void cancel(const std::vector<std::string>& jobs) {
    std::vector<std::string> words{"scancel", "--quiet"};
    words.insert(words.end(), jobs.begin(), jobs.end());
    if (!jobs.empty()) call(words);
}

}  // namespace vinic::testbench::study::slurm
