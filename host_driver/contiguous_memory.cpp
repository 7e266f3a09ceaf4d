// SPDX-License-Identifier: Apache-2.0
#include "host_driver/contiguous_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>

#include "host_driver/byte_order.h"

namespace vinic::driver {

contiguous_memory::contiguous_memory(host::memory& ram, std::uint64_t bytes, contents initially)
    : ram_(ram), bytes_(bytes), begin_(ram.allocate_contiguous(bytes)) {
    if (initially == contents::any) return;
    std::array<std::byte, host::page_bytes> zeros{};
    for (std::uint64_t done = 0; done < bytes_; done += zeros.size())
        ram_.write(begin_ + done,
                   std::span(zeros).first(std::min<std::uint64_t>(zeros.size(), bytes_ - done)));
}

std::uint32_t contiguous_memory::read_big(std::uint64_t offset) const {
    std::array<std::byte, 4> bytes;
    ram_.read(begin_ + offset, bytes);
    return big_endian(std::bit_cast<std::uint32_t>(bytes));
}

void contiguous_memory::write_big(std::uint64_t offset, std::uint32_t value) {
    ram_.write(begin_ + offset, std::bit_cast<std::array<std::byte, 4>>(big_endian(value)));
}

}  // namespace vinic::driver
