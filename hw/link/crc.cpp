// SPDX-License-Identifier: Apache-2.0
#include "hw/link/crc.h"

#include <array>
#include <cstddef>

namespace vinic::link {

namespace {

/// tables[n][b]: what byte b contributes after n further bytes, so that eight bytes are one step.
using crc8_tables = std::array<std::array<std::uint8_t, 256>, 8>;

constexpr crc8_tables make_crc8_tables() {
    crc8_tables tables{};
    for (unsigned b = 0; b < 256; ++b) {
        unsigned crc = b;
        for (int bit = 0; bit < 8; ++bit) crc = (crc << 1) ^ (crc & 0x80 ? 0x107 : 0);
        tables[0][b] = static_cast<std::uint8_t>(crc);
    }
    for (std::size_t n = 1; n < tables.size(); ++n)
        for (unsigned b = 0; b < 256; ++b) tables[n][b] = tables[0][tables[n - 1][b]];
    return tables;
}

using crc32_tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr crc32_tables make_crc32_tables() {
    crc32_tables tables{};
    for (std::uint32_t b = 0; b < 256; ++b) {
        std::uint32_t crc = b;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0u);
        tables[0][b] = crc;
    }
    for (std::size_t n = 1; n < tables.size(); ++n)
        for (unsigned b = 0; b < 256; ++b)
            tables[n][b] = (tables[n - 1][b] >> 8) ^ tables[0][tables[n - 1][b] & 0xFF];
    return tables;
}

constexpr crc8_tables crc8_of = make_crc8_tables();
constexpr crc32_tables crc32_of = make_crc32_tables();

}  // namespace

std::uint8_t crc8(std::span<const std::uint8_t> bytes, std::uint8_t start) {
    std::uint8_t crc = start;
    while (bytes.size() >= 8) {
        crc = static_cast<std::uint8_t>(crc8_of[7][crc ^ bytes[0]] ^ crc8_of[6][bytes[1]] ^
                                        crc8_of[5][bytes[2]] ^ crc8_of[4][bytes[3]] ^ crc8_of[3][bytes[4]] ^
                                        crc8_of[2][bytes[5]] ^ crc8_of[1][bytes[6]] ^ crc8_of[0][bytes[7]]);
        bytes = bytes.subspan(8);
    }
    for (const std::uint8_t b : bytes) crc = crc8_of[0][crc ^ b];
    return crc;
}

std::uint32_t crc32(std::span<const std::uint8_t> bytes, std::uint32_t start) {
    std::uint32_t crc = ~start;
    while (bytes.size() >= 8) {
        crc = crc32_of[7][(crc ^ bytes[0]) & 0xFF] ^ crc32_of[6][(crc >> 8 ^ bytes[1]) & 0xFF] ^
              crc32_of[5][(crc >> 16 ^ bytes[2]) & 0xFF] ^ crc32_of[4][crc >> 24 ^ bytes[3]] ^
              crc32_of[3][bytes[4]] ^ crc32_of[2][bytes[5]] ^ crc32_of[1][bytes[6]] ^ crc32_of[0][bytes[7]];
        bytes = bytes.subspan(8);
    }
    for (const std::uint8_t b : bytes) crc = (crc >> 8) ^ crc32_of[0][(crc ^ b) & 0xFF];
    return ~crc;
}

std::uint32_t crc32_remainder(std::span<const std::uint8_t> bytes) {
    if (bytes.size() < crc32_bytes) return ~std::uint32_t{0};
    const auto came = bytes.last(crc32_bytes);
    const std::uint32_t received =
        std::uint32_t{came[0]} << 24 | std::uint32_t{came[1]} << 16 | std::uint32_t{came[2]} << 8 | came[3];
    return received ^ crc32(bytes.first(bytes.size() - crc32_bytes));
}

}  // namespace vinic::link
