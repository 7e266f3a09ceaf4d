// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "firmware/abi/wire_format.h"
#include "firmware/common/bytes.h"

namespace vinic::common {

// The header (wire_format.h) as words: sub-word stores cost the LANai four cycles (facts A7).
enum header_word : uint32_t {
    header_type,
    header_kind_flags_length,
    header_ends,  // destination VI, source VI
    header_key,
    header_sequence,
    header_acknowledge,
    header_offset,
    header_immediate,
    header_words
};
static_assert(offsetof(abi::packet_header, kind) == 4 * header_kind_flags_length);
static_assert(offsetof(abi::packet_header, destination_vi) == 4 * header_ends);
static_assert(offsetof(abi::packet_header, connection_key) == 4 * header_key);
static_assert(offsetof(abi::packet_header, sequence) == 4 * header_sequence);
static_assert(offsetof(abi::packet_header, acknowledge) == 4 * header_acknowledge);
static_assert(offsetof(abi::packet_header, offset) == 4 * header_offset);
static_assert(offsetof(abi::packet_header, immediate) == 4 * header_immediate);
static_assert(sizeof(abi::packet_header) == 4 * header_words);

inline constexpr uint32_t rdma_words = sizeof(abi::rdma_header) / 4;

constexpr uint32_t kind_word(uint32_t kind, uint32_t flags, uint32_t length) {
    return network(kind << 24 | flags << 16 | length);
}

}  // namespace vinic::common
