// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "hw/sim/error.h"

namespace vinic::testbench {

namespace {

[[noreturn]] void cannot_write(const std::string& place) {
    throw sim::input_error("cannot write {}: {}", place, std::strerror(errno));
}

void write_all(int descriptor, const std::string& text, const std::string& place) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t n = ::write(descriptor, text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) cannot_write(place);
        done += static_cast<std::size_t>(n);
    }
}

}  // namespace

output::output(std::string place) : place_(std::move(place)) {
    if (is_standard_output()) return;
    if (std::filesystem::is_directory(place_)) {
        errno = EISDIR;
        cannot_write(place_);
    }
    draft_ = fmt::format("{}.{}.tmp", place_, ::getpid());
    const int descriptor = ::open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) cannot_write(place_);
    ::close(descriptor);
}

output::~output() {
    if (!draft_.empty()) ::unlink(draft_.c_str());
}

void output::commit(const std::string& text) {
    if (is_standard_output()) {
        std::fflush(stdout);
        write_all(STDOUT_FILENO, text, "standard output");
        return;
    }
    const int descriptor = ::open(draft_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) cannot_write(place_);
    try {
        write_all(descriptor, text, place_);
    } catch (...) {
        ::close(descriptor);
        throw;
    }
    if (::close(descriptor) != 0 || std::rename(draft_.c_str(), place_.c_str()) != 0) cannot_write(place_);
    draft_.clear();
}

void check_writable(const std::string& place) {
    if (place.empty() || place == "-") return;
    const bool existed = std::filesystem::exists(place);
    const int descriptor = ::open(place.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) cannot_write(place);
    ::close(descriptor);
    if (!existed) ::unlink(place.c_str());
}

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

}  // namespace vinic::testbench
