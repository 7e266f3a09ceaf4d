// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "hw/host/memory.h"

namespace vinic::driver {

/// Physically contiguous host memory that lives as long as this.
class contiguous_memory {
public:
    enum class contents { any, zero };
    contiguous_memory(host::memory& ram, std::uint64_t bytes, contents initially);
    ~contiguous_memory() { ram_.free_contiguous(begin_, bytes_); }
    contiguous_memory(const contiguous_memory&) = delete;
    contiguous_memory& operator=(const contiguous_memory&) = delete;

    host::memory& ram() const { return ram_; }
    host::physical_address begin() const { return begin_; }
    std::uint64_t bytes() const { return bytes_; }

    std::uint32_t read_big(std::uint64_t offset) const;
    void write_big(std::uint64_t offset, std::uint32_t value);

private:
    host::memory& ram_;
    std::uint64_t bytes_;
    host::physical_address begin_;
};

}  // namespace vinic::driver
