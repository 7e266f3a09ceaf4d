// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/link/crc.h"
#include "hw/sim/probe.h"

namespace vinic::traces {

/// The probes of a cable.
struct cable_block : sim::module {
    explicit cable_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::packet_probe ab{*this, "ab.packet", "packets from A"};
    sim::packet_probe ba{*this, "ba.packet", "packets from B"};
    sim::span_probe ab_transmission{*this, "ab.transmission", "the same, from first byte to GAP"};
    sim::span_probe ba_transmission{*this, "ba.transmission", "the same, from first byte to GAP"};
};
struct fabric_block : sim::module {
    explicit fabric_block(const sc_core::sc_module_name& name) : module(name) {}
    cable_block cable0{"cable0"}, cable1{"cable1"};
};

/// What a cable reports of a packet.
inline void pass(sim::packet_probe& at, sim::picoseconds end, std::span<const std::uint8_t> bytes) {
    at.report(end, bytes, "", {{"remainder", link::crc8(bytes)}});
}

/// Big-endian bytes, put together field by field (firmware/abi/wire_format.h).
class wire_bytes {
public:
    wire_bytes& put(std::uint64_t value, unsigned bytes) {
        for (unsigned i = bytes; i > 0; --i)
            bytes_.push_back(static_cast<std::uint8_t>(value >> 8 * (i - 1)));
        return *this;
    }
    /// CRC-32 over all from byte `from` on.
    wire_bytes& crc32(std::size_t from) { return put(link::crc32(std::span(bytes_).subspan(from)), 4); }
    wire_bytes& crc8() { return put(link::crc8(bytes_), 1); }
    const std::vector<std::uint8_t>& bytes() const { return bytes_; }

private:
    std::vector<std::uint8_t> bytes_;
};

}  // namespace vinic::traces
