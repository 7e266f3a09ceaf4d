// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>

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
        // Who reads has seen enough, as in `vinic params | head`.
        if (n < 0 && errno == EPIPE) return;
        if (n < 0) cannot_write(place);
        done += static_cast<std::size_t>(n);
    }
}

}  // namespace

output::output(std::string place) : place_(std::move(place)) {
    if (is_standard_output()) return;
    std::error_code none;
    const auto kind = std::filesystem::status(place_, none).type();
    if (kind == std::filesystem::file_type::directory) {
        errno = EISDIR;
        cannot_write(place_);
    }
    if (kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::not_found) {
        if (::access(place_.c_str(), W_OK) != 0) cannot_write(place_);
        return;
    }
    // Through symbolic links, so that they stay.
    file_ = std::filesystem::weakly_canonical(place_, none).string();
    if (none) file_ = place_;
    draft_ = fmt::format("{}.{}.tmp", file_, ::getpid());
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
    const int descriptor = ::open(draft_.empty() ? place_.c_str() : draft_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) cannot_write(place_);
    try {
        write_all(descriptor, text, place_);
    } catch (...) {
        ::close(descriptor);
        throw;
    }
    if (::close(descriptor) != 0) cannot_write(place_);
    if (!draft_.empty() && std::rename(draft_.c_str(), file_.c_str()) != 0) cannot_write(place_);
    draft_.clear();
}

void check_writable(const std::string& place) {
    if (place.empty() || place == "-") return;
    std::error_code none;
    const bool existed = std::filesystem::exists(place, none);
    const int descriptor = ::open(place.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) cannot_write(place);
    ::close(descriptor);
    if (!existed) ::unlink(place.c_str());
}

void check_distinct(const std::vector<std::pair<std::string, std::string>>& places) {
    std::map<std::filesystem::path, std::string> taken;
    for (const auto& [option, place] : places) {
        std::error_code none;
        const bool device =
            std::filesystem::exists(place, none) && !std::filesystem::is_regular_file(place, none);
        if (place.empty() || place == "-" || device) continue;
        std::filesystem::path file = std::filesystem::weakly_canonical(place, none);
        if (none) file = place;  // whoever writes it says why that cannot be
        const auto [other, fresh] = taken.emplace(std::filesystem::absolute(file), option);
        if (!fresh) throw sim::input_error("{} and {} would both write {}", other->second, option, place);
    }
}

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

}  // namespace vinic::testbench
