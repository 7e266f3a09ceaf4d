// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "firmware/abi/wire_format.h"
#include "hw/sim/probe.h"
#include "hw/sim/time.h"
#include "traces/message_path.h"

namespace vinic::traces {

/// Told by an account what it learns of a message while that is under way.
class message_listener {
public:
    virtual ~message_listener() = default;
    /// `where` reported from `begin` to `end` (equal: an instant) what took the message to checkpoint `what`;
    /// of what has two checkpoints, a transfer for instance, the first is named.
    virtual void on_step(const message_path&, checkpoint /*what*/, const sim::probe& /*where*/,
                         sim::picoseconds /*begin*/, sim::picoseconds /*end*/) {}
    /// A block of host DMA brings payload of a later packet of the message than its first.
    virtual void on_more_payload(const message_path&, const sim::probe& /*where*/, sim::picoseconds /*begin*/,
                                 sim::picoseconds /*end*/) {}
    /// The sender's link takes a packet of the message, from these bytes of the card's SRAM.
    virtual void on_sent(const message_path&, sim::picoseconds /*at*/, std::uint64_t /*address*/,
                         std::uint64_t /*bytes*/) {}
    /// The packet that ends the message is in these bytes of the receiving card's SRAM.
    virtual void on_received(const message_path&, sim::picoseconds /*at*/, std::uint64_t /*address*/,
                             std::uint64_t /*bytes*/) {}
    /// The program has it: the last call for this message.
    virtual void on_finished(const message_path&) {}
    /// The sender's link takes a packet of the message for the first time.
    virtual void on_packet_of(const message_path&, const abi::packet_header&) {}
};

}  // namespace vinic::traces
