// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/host/address_space.h"

namespace vinic::driver {

/// A card's address in the fabric: 6 bytes, as programs of the time expect (facts vipl.md 8).
using node_address = std::array<std::uint8_t, 6>;

/// The address of the `nic`-th card of a node: locally administered, never all zero.
constexpr node_address make_node_address(unsigned node, unsigned nic) {
    return {0x02,
            0x00,
            static_cast<std::uint8_t>(nic),
            static_cast<std::uint8_t>(node >> 16),
            static_cast<std::uint8_t>(node >> 8),
            static_cast<std::uint8_t>(node)};
}

/// Where a connection starts or ends: a card, and which of the consumers behind it.
struct net_address {
    node_address host{};
    std::vector<std::uint8_t> discriminator;
    bool operator==(const net_address&) const = default;
};

/// A protection tag as the card knows it; zero is none.
using protection_tag = std::uint32_t;

struct vi_attributes {
    std::uint16_t reliability = 0;  ///< one bit of abi::vi_reliability
    std::uint64_t max_transfer_bytes = 0;
    std::uint64_t quality_of_service = 0;
    protection_tag tag = 0;
    bool rdma_write = false;
    bool rdma_read = false;
};

struct memory_attributes {
    protection_tag tag = 0;
    bool rdma_write = false;
    bool rdma_read = false;
};

/// The numbers are those of VIP_VI_STATE (facts vipl.md 1.3).
enum class vi_state { idle = 0, connected = 1, connect_pending = 2, error = 3 };

/// What a card and its firmware can do; finite, so that each limit can be reached and reported.
struct card_limits {
    std::uint32_t vis = 0;
    std::uint32_t regions = 0;
    std::uint32_t completion_queues = 0;
    std::uint32_t completion_entries = 0;
    std::uint32_t processes = 0;
    std::uint32_t segments = 0;
    std::uint32_t descriptors_per_queue = 0;
    std::uint32_t pages = 0;  ///< entries of the translation table
    std::uint32_t mtu_bytes = 0;
    std::uint64_t transfer_bytes = 0;
    std::uint16_t reliability_mask = 0;
    std::uint16_t rdma_read_mask = 0;  ///< reliability levels with RDMA read
    std::uint32_t hardware_version = 0;
};

}  // namespace vinic::driver
