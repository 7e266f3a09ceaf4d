// SPDX-License-Identifier: Apache-2.0
#include "traces/output_file.h"

#include <cerrno>
#include <cstring>

#include "hw/sim/error.h"

namespace vinic::traces {

output_file::output_file(const std::string& path)
    : path_(path), file_(path == "-" ? stdout : std::fopen(path.c_str(), "wb")) {
    if (!file_) failed();
}

output_file::~output_file() {
    if (file_ == stdout)
        std::fflush(file_);
    else
        std::fclose(file_);
}

void output_file::failed() const {
    if (errno != EPIPE) throw sim::input_error("{}: cannot be written: {}", path_, std::strerror(errno));
}

}  // namespace vinic::traces
