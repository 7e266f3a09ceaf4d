// SPDX-License-Identifier: Apache-2.0

// Payload of a control packet (wire_format.h packet_control): what kernel agents say to each other to set up
// and end connections. Big-endian. The network may lose and, by retransmission, double them; each one is
// answered by another or repeated by time-out. The protocol is ours (facts vipl.md 4.4, 4.5 give its
// effects).
#pragma once

#include <stdint.h>

namespace vinic::abi {

enum connection_kind : uint8_t {
    connection_request = 1,         // client to server
    connection_accept = 2,          // server to client: the server's VI is connected
    connection_confirm = 3,         // client to server: so is the client's
    connection_reject = 4,          // server to client
    connection_no_match = 5,        // server's node to client: nobody waits for that address
    connection_cancel = 6,          // client to server: the attempt is over
    connection_peer_request = 7,    // peer to peer
    connection_peer_connected = 8,  // `code` 1: the sender has seen the receiver's, and wants no answer
    connection_disconnect = 9,
    connection_disconnected = 10,  // the answer
    connection_peer_refused = 11   // attributes differ: `code` is the VIP_RETURN
};

inline constexpr uint32_t node_address_bytes = 6;
inline constexpr uint32_t discriminator_bytes_max = 20;

struct connection_packet {
    uint8_t kind;
    uint8_t code;
    uint8_t source[node_address_bytes];       // node address of the sender's card
    uint8_t destination[node_address_bytes];  // and of the receiver's
    uint16_t vi;                              // the sender's VI
    uint32_t attempt;                         // of the client, or of the peer that sends: unique on its card
    uint32_t other_attempt;                   // peer to peer: the receiver's attempt, where known
    uint32_t key;                             // of the connection, proposed by the sender of a request
    uint32_t max_transfer_bytes;
    uint16_t other_vi;     // the receiver's VI, where known
    uint8_t reliability;   // vi_reliability
    uint8_t rdma_enables;  // bit 0 write, bit 1 read
    uint8_t local_bytes;   // discriminators, of sender and receiver
    uint8_t remote_bytes;
    uint8_t reserved[2];
    uint8_t local_discriminator[discriminator_bytes_max];
    uint8_t remote_discriminator[discriminator_bytes_max];
};
static_assert(sizeof(connection_packet) == 80);

}  // namespace vinic::abi
