// SPDX-License-Identifier: Apache-2.0
// What the kernel keeps of a VI under M-VIA.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "firmware/abi/vi_descriptor.h"
#include "host_driver/card_driver.h"
#include "host_driver/mvia/queues.h"
#include "hw/sim/time.h"

namespace vinic::driver {

/// A descriptor as the kernel has read it.
struct mvia_descriptor {
    struct segment {
        host::virtual_address address = 0;
        std::uint32_t handle = 0;
        std::uint32_t length = 0;
    };
    std::uint16_t control = 0;
    std::uint32_t immediate = 0;
    std::uint32_t length = 0;
    std::uint32_t error = 0;  ///< vi_status bits: what is wrong with it
    bool has_remote = false;
    std::vector<segment> segments;  ///< of data
    segment remote;                 ///< of an RDMA write
};

/// A message that is being sent, packet by packet.
struct mvia_send {
    mvia_descriptor descriptor;
    std::uint64_t message = 0;  ///< counted by the driver, for those who watch
    bool rdma = false;
    std::uint32_t payload = 0;  ///< of a packet, at most
    std::uint32_t packets = 1;
    std::uint32_t handed = 0;  ///< packets on the ring, since the last going back
    bool started = false;
    std::uint32_t first_sequence = 0;
    std::uint32_t on_ring = 0;  ///< frames whose memory the card may still read

    std::uint32_t end_sequence() const { return first_sequence + packets; }
};

struct mvia_vi {
    vi_setup setup;
    vi_state state = vi_state::idle;
    std::uint32_t epoch = 0;  ///< of the connection: what waits while it changes begins anew
    connection_setup link;
    std::shared_ptr<mvia_work_queue> send;
    std::shared_ptr<mvia_work_queue> receive;

    // Sending.
    std::deque<std::shared_ptr<mvia_send>> unsent;      ///< the first one may be under way
    std::deque<std::shared_ptr<mvia_send>> unfinished;  ///< all packets handed over
    bool pumping = false;                               ///< somebody sends
    bool wants_room = false;                            ///< on the transmit ring
    std::uint32_t next_sequence = 0;
    // Sending reliably.
    std::uint32_t unacknowledged = 0;
    std::uint32_t sequence_end = 0;  ///< one beyond the highest ever sent
    bool go_back = false;
    std::uint32_t tries = 0;
    sim::picoseconds retransmit_at = sim::never;

    // Receiving.
    std::deque<mvia_descriptor> receives;
    struct {
        std::uint32_t kind = 0;  ///< abi::packet_kind; 0: none under way
        bool skipped = false;    ///< there was no descriptor for it
        std::uint32_t bytes = 0;
        std::uint32_t status = 0;
    } message;
    std::uint32_t expected = 0;
    // Receiving reliably.
    std::uint32_t owed = 0;  ///< packets not yet acknowledged
    sim::picoseconds acknowledge_at = sim::never;
    bool gap_told = false;
    std::uint32_t final_status = 0;  ///< why this side broke the connection

    bool reliable() const { return setup.attributes.reliability != abi::vi_unreliable; }
};

}  // namespace vinic::driver
