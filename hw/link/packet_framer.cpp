// SPDX-License-Identifier: Apache-2.0
#include "hw/link/packet_framer.h"

#include <algorithm>
#include <array>

#include "hw/link/crc.h"

namespace vinic::link {

void packet_framer::begin(const packet_ptr& what) {
    filling_ = what;
    crc32_.reset();
}

void packet_framer::append(std::span<const std::uint8_t> bytes, const run&,
                           std::optional<std::uint64_t> crc32_from) {
    filling_->append(bytes);
    if (crc32_from)
        crc32_ = crc32(bytes.subspan(*crc32_from));
    else if (crc32_)
        crc32_ = crc32(bytes, *crc32_);
}

void packet_framer::finish(const wire& cable) {
    if (crc32_) {
        std::array<std::uint8_t, crc32_bytes> sum;
        for (std::size_t i = 0; i < sum.size(); ++i)
            sum[i] = static_cast<std::uint8_t>(*crc32_ >> (24 - 8 * i));
        filling_->append(sum);
    }
    cable.check_characters != 0 ? filling_->finish() : filling_->finish_bare();
    filling_.reset();
}

void packet_framer::take(std::uint64_t, picoseconds, std::optional<std::uint64_t> crc32_from) {
    if (crc32_from) checked_from_ = crc32_from;
}

std::span<const std::uint8_t> packet_framer::taken(const receiver::held& front, std::uint64_t first,
                                                   std::uint64_t count) {
    return front.what->bytes().subspan(front.first_byte + first, count);
}

reception packet_framer::end(const receiver::held& front) {
    const auto all = front.what->bytes().subspan(front.first_byte);
    reception r{.bytes = all.first(all.size() - front.what->check_characters()),
                .remainder = front.what->remainder()};
    if (!checked_from_) return r;
    r.crc32_remainder =
        crc32_remainder(r.bytes.subspan(std::min<std::uint64_t>(*checked_from_, r.bytes.size())));
    checked_from_.reset();
    return r;
}

}  // namespace vinic::link
