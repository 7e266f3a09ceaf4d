// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/packet.h"

#include <algorithm>
#include <cstddef>

#include "hw/nic/bytes.h"
#include "hw/nic/vi_engine/vi_context.h"

namespace vinic::nic {

namespace {

using wire = abi::packet_header;
using rdma = abi::rdma_header;

std::uint16_t load_half(const std::uint8_t* p) { return static_cast<std::uint16_t>(p[0] << 8 | p[1]); }
void store_half(std::uint8_t* p, std::uint16_t value) {
    p[0] = static_cast<std::uint8_t>(value >> 8);
    p[1] = static_cast<std::uint8_t>(value);
}

}  // namespace

std::vector<std::uint8_t> packet_head::encode() const {
    std::vector<std::uint8_t> made(bytes());
    std::uint8_t* p = made.data();
    store_big(p, header.type);
    p[offsetof(wire, kind)] = header.kind;
    p[offsetof(wire, flags)] = header.flags;
    store_half(p + offsetof(wire, length), header.length);
    store_half(p + offsetof(wire, destination_vi), header.destination_vi);
    store_half(p + offsetof(wire, source_vi), header.source_vi);
    store_big(p + offsetof(wire, connection_key), header.connection_key);
    store_big(p + offsetof(wire, sequence), header.sequence);
    store_big(p + offsetof(wire, acknowledge), header.acknowledge);
    store_big(p + offsetof(wire, offset), header.offset);
    store_big(p + offsetof(wire, immediate), header.immediate);
    if (is_write()) {
        p += sizeof(wire);
        store_big(p + offsetof(rdma, address_high), static_cast<std::uint32_t>(rdma_address >> 32));
        store_big(p + offsetof(rdma, address_low), static_cast<std::uint32_t>(rdma_address));
        store_big(p + offsetof(rdma, handle), rdma_handle);
    }
    return made;
}

std::optional<packet_head> packet_head::decode(std::span<const std::uint8_t> contents) {
    if (contents.size() < sizeof(wire)) return std::nullopt;
    const std::uint8_t* p = contents.data();
    packet_head found;
    found.header = {.type = load_big(p),
                    .kind = p[offsetof(wire, kind)],
                    .flags = p[offsetof(wire, flags)],
                    .length = load_half(p + offsetof(wire, length)),
                    .destination_vi = load_half(p + offsetof(wire, destination_vi)),
                    .source_vi = load_half(p + offsetof(wire, source_vi)),
                    .connection_key = load_big(p + offsetof(wire, connection_key)),
                    .sequence = load_big(p + offsetof(wire, sequence)),
                    .acknowledge = load_big(p + offsetof(wire, acknowledge)),
                    .offset = load_big(p + offsetof(wire, offset)),
                    .immediate = load_big(p + offsetof(wire, immediate))};
    if (found.header.type != abi::packet_type_vi || contents.size() < found.bytes() + found.padded())
        return std::nullopt;
    if (found.is_write()) {
        p += sizeof(wire);
        found.rdma_address = std::uint64_t{load_big(p + offsetof(rdma, address_high))} << 32 |
                             load_big(p + offsetof(rdma, address_low));
        found.rdma_handle = load_big(p + offsetof(rdma, handle));
    }
    return found;
}

bool outgoing_packet::is_void() const { return owner != nullptr && owner->send_epoch != epoch; }

std::size_t outgoing_packet::arrived() const {
    std::size_t here = 0;
    for (const host_read& one : reads) {
        here += one.arrived();
        if (!one.done()) return here;
    }
    return payload.size();
}

bool outgoing_packet::all_here() const { return std::ranges::all_of(reads, &host_read::done); }

}  // namespace vinic::nic
