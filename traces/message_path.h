// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "hw/sim/time.h"

namespace vinic::traces {

/// The points that a message passes, in causal order. Each is an instant that some probe reported.
enum class checkpoint : std::uint8_t {
    post_begin,        ///< VipPostSend is called
    post_end,          ///< ... returns
    doorbell,          ///< the doorbell is in the card's SRAM
    descriptor_begin,  ///< the host DMA that fetches the descriptor starts
    descriptor_end,
    payload_begin,  ///< the host DMA of the first payload of the first packet starts
    payload_end,    ///< ... of the last payload of the first packet ends
    send,           ///< the link takes the first packet
    receive,        ///< the last packet is in the SRAM of the receiving card
    data_begin,     ///< the host DMA of received data starts
    data_end,
    completion_begin,  ///< the host DMA that writes the completion starts
    completion_end,
    taken  ///< VipRecvDone (or Wait) returns the descriptor
};
inline constexpr std::size_t checkpoints = static_cast<std::size_t>(checkpoint::taken) + 1;

/// What a message does until each checkpoint from the second on: the names of the stages.
inline constexpr std::array<const char*, checkpoints - 1> stage_names{"post",
                                                                      "doorbell",
                                                                      "firmware: doorbell to fetch",
                                                                      "descriptor fetch",
                                                                      "firmware: descriptor to payload",
                                                                      "payload DMA",
                                                                      "firmware: payload to wire",
                                                                      "wire",
                                                                      "firmware: packet to host",
                                                                      "receive DMA",
                                                                      "firmware: data to completion",
                                                                      "completion write",
                                                                      "poll"};

/// A message that arrived.
struct message_path {
    std::string sender;  ///< card: "node0.nic"
    std::string receiver;
    std::uint32_t vi = 0;              ///< of the sender
    std::uint64_t number = 0;          ///< of the sender's messages, in order of posting, from 1
    std::uint64_t descriptor = 0;      ///< bus address of the slot that holds the send descriptor
    std::uint64_t receive_status = 0;  ///< bus address of the status word of the receive descriptor
    std::uint64_t bytes = 0;
    std::uint64_t packets = 0;
    std::array<sim::picoseconds, checkpoints> at{};
    /// What overlapped: by how much a checkpoint lay before an earlier one of the chain, summed. Such a
    /// checkpoint is moved to the earlier one, so that stages always add up.
    sim::picoseconds overlapped = 0;

    sim::picoseconds& operator[](checkpoint c) { return at[static_cast<std::size_t>(c)]; }
    sim::picoseconds operator[](checkpoint c) const { return at[static_cast<std::size_t>(c)]; }
    /// Length of stage i: they add up to latency().
    sim::picoseconds stage(std::size_t i) const { return at[i + 1] - at[i]; }
    sim::picoseconds latency() const { return at.back() - at.front(); }
};

}  // namespace vinic::traces
