
// What a VI packet looks like on the wire, behind the route bytes (which switches strip) and before the
// CRC-32, which covers all of it (a LANai 4 makes none), and the CRC-8. Big-endian. The first word has bit 31
// clear, as Myrinet asks (facts lanai_pcix.md B6).
#pragma once

#include <stdint.h>

namespace vinic::abi {

inline constexpr uint32_t packet_type_vi = 0x00005649;  // 16-bit type id in the low half

// Where packets travel in Ethernet frames: the first type for local experiments (IEEE 802 clause 9).
inline constexpr uint16_t ethertype_vi = 0x88B5;

enum packet_kind : uint8_t {
    packet_send = 1,         // part of a message for a receive descriptor
    packet_rdma_write = 2,   // part of an RDMA write: an rdma_header follows
    packet_acknowledge = 3,  // no payload
    packet_not_acknowledge =
        4,  // `acknowledge` says from where to send again; `immediate` holds a vi_status error where final
    packet_control = 5  // payload is for the kernel agent (connections); sequence and destination_vi unused
};

enum packet_flag : uint8_t {
    packet_first = 1u << 0,      // first packet of a message
    packet_last = 1u << 1,       // last packet of a message
    packet_immediate = 1u << 2,  // `immediate` is valid
    packet_wants_acknowledge = 1u << 3
};

struct packet_header {
    uint32_t type;
    uint8_t kind;
    uint8_t flags;
    uint16_t length;  // bytes of payload in this packet; padded with zeros to whole words on the wire
    uint16_t destination_vi;
    uint16_t source_vi;
    uint32_t connection_key;  // of this connection, chosen at connection time: what is left of an older one
                              // is dropped
    uint32_t sequence;        // packets of the connection, counted from 0
    uint32_t acknowledge;     // the next sequence number that the sender of this packet expects
    uint32_t offset;          // of this payload in its message
    uint32_t immediate;
};
static_assert(sizeof(packet_header) == 32);

struct rdma_header {
    uint32_t address_high;  // where the message begins; this packet's payload goes to address + offset
    uint32_t address_low;
    uint32_t handle;
    uint32_t reserved;
};
static_assert(sizeof(rdma_header) == 16);

inline constexpr uint32_t route_bytes_max = 8;        // one a switch (B6)
inline constexpr uint32_t packet_payload_max = 4096;  // bytes

}  // namespace vinic::abi
