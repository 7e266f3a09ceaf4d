// SPDX-License-Identifier: Apache-2.0
#include "traces/output_file.h"

#include <cerrno>
#include <cstring>

#include "hw/sim/error.h"

namespace vinic::traces {

output_file::output_file(const std::string& path)
    : file_(path == "-" ? stdout : std::fopen(path.c_str(), "wb")) {
    if (!file_) throw sim::input_error("{}: cannot be written: {}", path, std::strerror(errno));
}

output_file::~output_file() {
    if (file_ == stdout)
        std::fflush(file_);
    else
        std::fclose(file_);
}

}  // namespace vinic::traces
