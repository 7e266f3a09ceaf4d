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
    /// The sender's link takes a packet of the message for the first time.
    virtual void on_packet_of(const message_path&, const abi::packet_header&) {}
};

}  // namespace vinic::traces
