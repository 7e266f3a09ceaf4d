// SPDX-License-Identifier: Apache-2.0
// A packet of the engine (firmware/abi/wire_format.h): in the buffer in which it is made, or arrived.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "firmware/abi/wire_format.h"
#include "hw/nic/vi_engine/host_transfers.h"

namespace vinic::nic {

/// What stands before the payload, in the machine's byte order.
struct packet_head {
    abi::packet_header header{.type = abi::packet_type_vi};
    std::uint64_t rdma_address = 0;
    std::uint32_t rdma_handle = 0;

    bool is_write() const { return header.kind == abi::packet_rdma_write; }
    bool has(abi::packet_flag flag) const { return (header.flags & flag) != 0; }
    /// Bytes before the payload.
    std::size_t bytes() const {
        return sizeof(abi::packet_header) + (is_write() ? sizeof(abi::rdma_header) : 0);
    }
    /// The payload is padded to whole words on the wire.
    std::size_t padded() const { return (header.length + std::size_t{3}) / 4 * 4; }

    std::vector<std::uint8_t> encode() const;
    /// None when these bytes hold no VI packet, or not all of it.
    static std::optional<packet_head> decode(std::span<const std::uint8_t> contents);
};

struct vi_context;

struct outgoing_packet {
    packet_head head;
    std::vector<std::uint8_t> route;
    bool loopback = false;
    std::vector<std::uint8_t> payload;  ///< padded
    std::list<host_read> reads;         ///< of the payload, in order
    vi_context* owner = nullptr;        ///< none: not of a connection
    std::uint64_t epoch = 0;            ///< send_epoch of the owner then
    std::uint64_t number = 0;           ///< of the card's data packets, for traces
    bool completes = false;             ///< the owner's oldest descriptor completes when this packet leaves
    bool has_buffer = false;            ///< it came from the pool of send buffers

    bool is_void() const;
    /// Bytes of the payload that are here without a gap, padding included at the end.
    std::size_t arrived() const;
    bool all_here() const;
};

struct arrived_packet {
    packet_head head;
    std::uint64_t number = 0;  ///< of the card's packets, for traces
    std::vector<std::uint8_t> payload;
    std::uint32_t writing = 0;  ///< writes of it that are under way
    bool placed = false;        ///< all writes have been started
    bool counts = false;        ///< its placement is to be acknowledged
    vi_context* receiver = nullptr;
    std::uint64_t epoch = 0;
};

}  // namespace vinic::nic
