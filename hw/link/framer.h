// SPDX-License-Identifier: Apache-2.0
// Who makes the characters of a card's packets and looks at those that arrive: the model (packet_framer.h),
// or RTL (hw/rtl/link). When a character leaves, arrives and is taken stands in the schedules of transmitter
// and receiver, which know it beforehand; what it is, what the checksums say and when STOP and GO go out is
// the framer's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "hw/link/protocol.h"
#include "hw/link/receiver.h"

namespace vinic::link {

/// A packet that was taken to its end. Valid during the call only.
struct reception {
    std::span<const std::uint8_t> bytes;  ///< from the type field on, without the CRC-8; a CRC-32 is in them
    std::uint8_t remainder = 0;           ///< of the CRC-8: zero for a whole packet
    /// Of the CRC-32, where one was asked for: what came XOR what should have come, all ones where there is
    /// no room for one.
    std::uint32_t crc32_remainder = 0;
};

class framer {
public:
    /// What stands around it.
    struct surroundings {
        const schedule& emission;
        const schedule& arrival;
        const schedule& taking;
        /// STOP or GO on the wire, in effect `in` from now plus the cable's delay.
        std::function<void(phase what, picoseconds in)> signal;
    };

    virtual ~framer() = default;

    virtual void connect_out(const wire&) {}
    virtual void connect_in(const wire&, const receiver&) {}

    // The way out. A packet is begun, gets its bytes and is finished; its bytes are on the wire where the
    // emission says.
    virtual void begin(const packet_ptr& what) = 0;
    /// `available`: since when, numbered as in the emission. The CRC-32 covers the packet from that byte of
    /// these on.
    virtual void append(std::span<const std::uint8_t> bytes, const run& available,
                        std::optional<std::uint64_t> crc32_from) = 0;
    /// The CRC-32 where one was asked for, the CRC-8 where the link has one, and the gap follow.
    virtual void finish(const wire& cable) = 0;
    /// STOP or GO has come.
    virtual void flow(phase) {}

    // The way in.
    virtual void arrives(const receiver::held&) {}
    /// Of the front packet, its characters below `limit` may be taken from now on, no closer than `spacing`.
    /// The CRC-32 covers it from that one of its characters on.
    virtual void take(std::uint64_t limit, picoseconds spacing, std::optional<std::uint64_t> crc32_from) = 0;
    /// Characters `first` to `first + count` of the front packet, which are taken.
    virtual std::span<const std::uint8_t> taken(const receiver::held& front, std::uint64_t first,
                                                std::uint64_t count) = 0;
    /// The front packet is taken to its end.
    virtual reception end(const receiver::held& front) = 0;
    /// The slack buffer passes a threshold, by the schedules: STOP or GO goes out.
    virtual void threshold(phase what, picoseconds in) = 0;

    /// When the framer next has something to do by itself; to be called then, and before anything above: does
    /// what lies before `now`.
    virtual picoseconds due() const { return never; }
    virtual void catch_up(picoseconds /*now*/) {}
};

}  // namespace vinic::link
