// SPDX-License-Identifier: Apache-2.0
// What the card holds of a VI, in its own memory.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "firmware/abi/vi_engine_card.h"

namespace vinic::nic {

/// A ring of descriptors. Numbers of slots are free running: completed <= next <= fetched <= posted.
struct ring_context {
    std::uint64_t ring = 0;
    std::uint32_t mask = 0;
    std::uint32_t posted = 0;
    std::uint32_t fetched = 0;  ///< in the card
    std::uint32_t next = 0;     ///< the next to start
    std::uint32_t completed = 0;
    std::uint32_t fetching = 0;  ///< on their way; not looked at when they come if `wanted` is 0
    std::uint32_t wanted = 0;
    bool asked = false;  ///< in the list of those that wait for a fetch
    bool armed = false;  ///< an event is due for the next completion
    std::uint32_t queue = abi::vi_engine::no_queue;
    std::vector<abi::vi_engine::slot> slots;  ///< slot n stands in place n % size

    const abi::vi_engine::slot& at(std::uint32_t number) const { return slots[number % slots.size()]; }
    std::uint64_t address_of(std::uint32_t number) const {
        return ring + std::uint64_t{number & mask} * abi::vi_engine::slot_bytes;
    }
};

/// What a started send descriptor completes with.
struct send_record {
    std::uint32_t length;
    std::uint32_t status;
    std::uint32_t first_sequence;
    std::uint32_t end_sequence;  ///< one beyond its last packet
};

/// The message of which packets are made.
struct outgoing_message {
    bool open = false;
    bool checked = false;
    std::uint32_t error = 0;  ///< status bits that it completes with when its turn comes
    std::uint32_t offset = 0;
    std::uint32_t segment = 0;
    std::uint32_t segment_offset = 0;
};

/// The message that comes in.
struct incoming_message {
    enum class kind : std::uint8_t { none, send, rdma_write, skipped, refused };
    kind what = kind::none;
    std::uint32_t bytes = 0;
    std::uint32_t status = 0;  ///< error bits that it completes with
    std::uint32_t segment = 0;
    std::uint32_t segment_offset = 0;
};

/// What the receiver of a reliable connection refuses.
enum class refusal : std::uint8_t { nothing, gap, gap_told, all };

struct vi_context {
    std::uint32_t index = 0;
    abi::vi_engine::vi_state state = abi::vi_engine::vi_unused;
    std::uint32_t tag = 0;
    std::uint32_t reliability = 0;
    std::uint32_t max_transfer = 0;
    std::uint32_t rdma_enables = 0;
    std::uint64_t epoch = 0;       ///< of the connection; no two ever have the same
    std::uint64_t send_epoch = 0;  ///< likewise; packets that were made before it are void
    bool halted = false;           ///< an error stopped it, and nobody has decided yet what follows
    // Connection
    std::uint32_t remote = 0;
    std::uint32_t key = 0;
    std::uint32_t limit = 0;
    std::vector<std::uint8_t> route;
    bool loopback = false;
    ring_context send;
    ring_context receive;
    // Sending
    bool scheduled = false;
    outgoing_message sending;
    std::uint32_t next_sequence = 0;
    std::deque<send_record> records;  ///< of slots from send.completed on
    // Sending on a reliable connection
    bool go_back = false;  ///< all from `unacknowledged` on is to be sent again
    std::uint32_t unacknowledged = 0;
    std::uint32_t sequence_end = 0;  ///< one beyond the highest that was ever sent
    std::uint32_t resume_offset = 0;
    bool timed = false;
    std::uint32_t tries = 0;
    std::uint32_t mark = 0;
    // Receiving
    incoming_message receiving;
    std::uint32_t expected = 0;
    std::uint32_t placed = 0;
    std::uint32_t placing = 0;  ///< packets on their way to memory
    std::uint32_t acknowledgements = 0;
    bool urgent = false;
    bool acknowledging = false;
    refusal refuses = refusal::nothing;
    std::uint32_t final_status = 0;
    // Flushing
    bool flush_sends = false;
    bool flush_receives = false;

    bool reliable() const { return reliability != abi::vi_unreliable; }
    bool connected() const { return state == abi::vi_engine::vi_connected; }
    std::uint32_t started() const { return send.completed + static_cast<std::uint32_t>(records.size()); }
};

/// `first` is before `second`, both counting round.
constexpr bool before(std::uint32_t first, std::uint32_t second) {
    return static_cast<std::int32_t>(first - second) < 0;
}

}  // namespace vinic::nic
