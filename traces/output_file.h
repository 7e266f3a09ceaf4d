// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace vinic::traces {

/// A trace being written: a stream, readable up to the last flush. "-" is standard output. Throws
/// sim::input_error when it cannot be opened.
class output_file {
public:
    explicit output_file(const std::string& path);
    ~output_file();
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;

    template <typename... Args>
    void print(fmt::format_string<Args...> format, Args&&... args) {
        fmt::print(file_, format, std::forward<Args>(args)...);
    }
    void write(std::string_view bytes) { std::fwrite(bytes.data(), 1, bytes.size(), file_); }
    void flush() { std::fflush(file_); }

private:
    std::FILE* file_;
};

}  // namespace vinic::traces
