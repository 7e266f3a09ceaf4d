// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>

namespace vinic::traces {

/// A trace being written: a stream, readable up to the last flush. "-" is standard output. Throws
/// sim::input_error when it cannot be opened, and from then on when it cannot be written (a full disk): the
/// last flush says so at the latest. Whoever reads standard output may have seen enough; that is no error.
class output_file {
public:
    explicit output_file(const std::string& path);
    ~output_file();
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    template <typename... Args>
    void print(fmt::format_string<Args...> format, Args&&... args) {
        fmt::memory_buffer text;
        fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
        write({text.data(), text.size()});
    }
    void write(std::string_view bytes) {
        if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) failed();
    }
    void flush() {
        if (std::fflush(file_) != 0) failed();
    }

private:
    void failed() const;

    std::string path_;
    std::FILE* file_;
};

}  // namespace vinic::traces
