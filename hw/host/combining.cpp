// SPDX-License-Identifier: Apache-2.0
#include "hw/host/combining.h"

#include <algorithm>

namespace vinic::host {

void combining_buffer::store(std::uint64_t at, std::span<const std::byte> from) {
    const std::uint64_t offset = at - line_;
    std::ranges::copy(from, bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    for (std::size_t i = 0; i < from.size(); ++i) stored_ |= std::uint64_t{1} << (offset + i);
}

bool combining_buffer::full() const { return stored_ == ~std::uint64_t{0} >> (longest_line - line_bytes_); }

std::vector<combining_buffer::piece> combining_buffer::pieces() const {
    const std::span<const std::byte> all(bytes_.data(), line_bytes_);
    if (full()) return {{line_, all}};
    const auto has = [&](unsigned i) { return (stored_ >> i & 1) != 0; };
    std::vector<piece> found;
    for (unsigned begin = 0; begin < line_bytes_;) {
        unsigned end = begin;
        while (end < line_bytes_ && has(end) && end / piece_bytes == begin / piece_bytes) ++end;
        if (end > begin) found.push_back({line_ + begin, all.subspan(begin, end - begin)});
        begin = std::max(end, begin + 1);
    }
    return found;
}

}  // namespace vinic::host
