// SPDX-License-Identifier: Apache-2.0
#include "traces/fst_reader.h"

#include <fcntl.h>
#include <fstapi.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "hw/sim/error.h"

namespace vinic::traces {

namespace {

/// GTKWave's reader trusts its file: what is damaged lets it write beyond its buffers or end the program. So
/// it reads in a process of its own, which says what it finds through a pipe, in messages of a header and a
/// text.
struct message {
    enum class kind : std::uint32_t { opened, declared, changed };
    kind what;
    std::uint32_t length = 0;
    std::uint64_t at = 0;
    std::uint64_t signal = 0;
};

class sender {
public:
    explicit sender(int descriptor) : to_(::fdopen(descriptor, "wb")) {}
    void send(message header, std::string_view text = {}) {
        header.length = static_cast<std::uint32_t>(text.size());
        if (std::fwrite(&header, sizeof header, 1, to_) != 1 ||
            std::fwrite(text.data(), 1, text.size(), to_) != text.size())
            ::_exit(EXIT_FAILURE);  // nobody listens any more
    }
    [[noreturn]] void end() { ::_exit(std::fclose(to_) == 0 ? EXIT_SUCCESS : EXIT_FAILURE); }

private:
    std::FILE* to_;
};

void declare(void* file, sender& to) {
    std::vector<std::string> scopes{""};
    while (const fstHier* h = fstReaderIterateHier(file)) {
        if (h->htyp == FST_HT_SCOPE) scopes.push_back(scopes.back() + h->u.scope.name + ".");
        if (h->htyp == FST_HT_UPSCOPE && scopes.size() > 1) scopes.pop_back();
        if (h->htyp == FST_HT_VAR && !h->u.var.is_alias)
            to.send({.what = message::kind::declared}, scopes.back() + h->u.var.name);
    }
}

void change(void* to, std::uint64_t at, fstHandle handle, const unsigned char* value, std::size_t length) {
    // Signals are numbered as they are declared, from 1; vinic declares none twice.
    static_cast<sender*>(to)->send({.what = message::kind::changed, .at = at, .signal = handle - 1},
                                   {reinterpret_cast<const char*>(value), length});
}

/// A loop in a damaged file ends with the process's time, of which no whole file needs so much.
void limit_time(std::uint64_t bytes) {
    constexpr std::uint64_t bytes_in_a_second = 2000;
    const rlim_t seconds = 1 + bytes / bytes_in_a_second;
    const rlimit limit{.rlim_cur = seconds, .rlim_max = seconds};
    ::setrlimit(RLIMIT_CPU, &limit);
}

/// The body of the process that reads.
[[noreturn]] void read_and_send(const std::string& path, std::uint64_t bytes, int descriptor) {
    limit_time(bytes);
    std::atexit([] { ::_exit(EXIT_FAILURE); });  // the reader's way out
    if (const int nowhere = ::open("/dev/null", O_WRONLY); nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
    sender to(descriptor);
    void* const file = fstReaderOpen(path.c_str());
    if (!file) to.end();
    to.send({.what = message::kind::opened});
    declare(file, to);
    fstReaderSetFacProcessMaskAll(file);
    fstReaderIterBlocks2(
        file,
        [](void* on, std::uint64_t at, fstHandle handle, const unsigned char* value) {
            change(on, at, handle, value, std::string_view(reinterpret_cast<const char*>(value)).size());
        },
        [](void* on, std::uint64_t at, fstHandle handle, const unsigned char* value, std::uint32_t length) {
            change(on, at, handle, value, length);
        },
        &to, nullptr);
    to.end();
}

/// That process, and what it says; ended with this object.
class reading_process {
public:
    reading_process(const std::string& path, std::uint64_t bytes) {
        int ends[2];
        std::fflush(nullptr);  // what is buffered is not the other process's to write
        if (::pipe2(ends, O_CLOEXEC) != 0 || (process_ = ::fork()) < 0)
            throw sim::input_error("{}: no process to read it in", path);
        if (process_ == 0) {
            ::close(ends[0]);
            read_and_send(path, bytes, ends[1]);
        }
        ::close(ends[1]);
        from_.reset(::fdopen(ends[0], "rb"));
    }
    ~reading_process() { succeeded(); }
    reading_process(const reading_process&) = delete;
    reading_process& operator=(const reading_process&) = delete;

    bool receive(message& header, std::string& text) {
        if (std::fread(&header, sizeof header, 1, from_.get()) != 1) return false;
        constexpr std::uint32_t longest = 1 << 24;  // more is no text that a trace has
        if (header.length > longest) return false;
        text.resize(header.length);
        return std::fread(text.data(), 1, text.size(), from_.get()) == text.size();
    }
    /// Whether it came to the end of the file.
    bool succeeded() {
        from_.reset();
        if (process_ < 0) return false;
        int status = 0;
        while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        process_ = -1;
        return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
    }

private:
    struct closing {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    pid_t process_ = -1;
    std::unique_ptr<std::FILE, closing> from_;
};

}  // namespace

void read_fst(
    const std::string& path, const std::function<void(const std::string& name)>& declared,
    const std::function<void(std::uint64_t at, std::size_t signal, std::string_view value)>& changed) {
    // No way of packing makes a byte of so many changes; a loop in the file does.
    constexpr std::uint64_t most_in_a_byte = 2000;
    std::error_code none;
    const std::uint64_t bytes =
        std::filesystem::exists(path, none) ? std::filesystem::file_size(path, none) : 0;
    const std::uint64_t most = most_in_a_byte * bytes;
    reading_process reader(path, bytes);
    bool opened = false;
    std::uint64_t changes = 0, signals = 0;
    message header{};
    for (std::string text; reader.receive(header, text);) {
        opened = true;
        if (header.what == message::kind::declared) {
            declared(text);
            ++signals;
        } else if (header.what == message::kind::changed) {
            if (header.signal >= signals)
                throw sim::input_error("{}: damaged: at {} ps signal {} changes, of {}", path, header.at,
                                       header.signal, signals);
            if (++changes > most)
                throw sim::input_error("{}: damaged: more changes than a file of that size holds", path);
            changed(header.at, header.signal, text);
        }
    }
    const bool whole = reader.succeeded();
    if (!opened)
        throw sim::input_error(
            "{}: GTKWave's reader does not open it: cut off, or without its .hier beside it", path);
    if (!whole) throw sim::input_error("{}: damaged: GTKWave's reader does not come to its end", path);
}

}  // namespace vinic::traces
