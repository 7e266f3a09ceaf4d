// SPDX-License-Identifier: Apache-2.0
#include "hw/link/protocol.h"

#include "hw/link/crc.h"

namespace vinic::link {

void packet::append(std::span<const std::uint8_t> more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    // Not from bytes_ later: what the wire does to earlier bytes meanwhile must not enter the sender's CRC.
    sender_crc_ = crc8(more, sender_crc_);
}

void packet::finish(bool with_crc8) {
    bytes_.push_back(with_crc8 ? sender_crc_ : 0);
    crc_fits_ = with_crc8;
    finished_ = true;
}

void packet::finish_bare() {
    bare_ = true;
    finished_ = true;
}

void packet::flip(std::size_t byte, std::uint8_t bits, unsigned hop) {
    bytes_.at(byte) ^= bits;
    damages_.push_back({byte, bits, hop});
}

std::uint8_t packet::remainder() const {
    if (bare_) return 0;
    if (damages_.empty() && crc_fits_) return 0;
    return crc8(bytes_);
}

std::vector<std::uint8_t> packet::on_wire(std::size_t first, unsigned hop) const {
    std::vector<std::uint8_t> all = bytes_;
    for (const damage& d : damages_)
        if (d.hop > hop) all[d.byte] ^= d.bits;
    if (!finished_ || bare_) return {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()};
    const std::size_t data = all.size() - 1;
    const auto remains = static_cast<std::uint8_t>(crc8({all.data(), data}) ^ all.back());
    all.back() = static_cast<std::uint8_t>(crc8({all.data() + first, data - first}) ^ remains);
    return {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()};
}

}  // namespace vinic::link
