// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "hw/link/protocol.h"

namespace vinic::link {

/// The sending half of a port. Packets stand in a queue; their characters become available as the owner says,
/// and leave one each byte time unless STOP holds them. Both are schedules, numbered from the port's first
/// character; an event changes them, none moves a single character. Time is passed in by the owner.
///
/// A character that starts at the instant at which STOP takes effect is sent; one that would start later is
/// held. GO lets characters start at its own instant.
class transmitter {
public:
    class host {
    public:
        virtual ~host() = default;
        /// A message for the receiver, in effect there `in` from now plus the cable's delay.
        virtual void announce(transfer& message, phase what, picoseconds in) = 0;
        virtual void emission_appended(const run& characters) = 0;
        virtual void emission_cut(std::uint64_t from) = 0;
    };

    explicit transmitter(host& to) : host_(to) {}

    void connect(const wire& cable) { cable_ = cable; }
    const wire& cable() const { return cable_; }

    /// A packet whose characters start at byte `first_byte`; the ones that become available from here on are
    /// its own.
    void begin(packet_ptr what, std::size_t first_byte, unsigned hop);
    /// Further characters of the newest packet can be sent from these times on.
    void available(const run& characters, picoseconds now);
    /// Characters from `from` on are not available as said before.
    void retract(std::uint64_t from, picoseconds now);
    /// The newest packet has this many characters in all, CRC-8 and GAP included.
    void close(std::uint64_t length, picoseconds now);

    void stop(picoseconds now);
    void go(picoseconds now);
    bool stopped() const { return stopped_; }

    /// When the next packet of the queue starts, and when the gap of the first one starts; never when that is
    /// not known. The owner calls launch() and tail() then.
    picoseconds launch_due() const;
    picoseconds tail_due() const;
    void launch(picoseconds now);
    void tail();

    bool idle() const { return packets_.empty(); }
    /// A packet is under way or waits, and cannot go on because of STOP.
    bool held() const { return stopped_ && !packets_.empty(); }

    /// The packet on the wire has come to the end of what is available of it.
    bool starved(picoseconds now) const;

    const schedule& emission() const { return emission_; }
    std::uint64_t next_character() const { return ready_.end(); }
    /// When a character could start: after the last one that is known.
    picoseconds free_from() const;

private:
    struct queued {
        packet_ptr what;
        std::size_t first_byte;
        unsigned hop;
        std::uint64_t base;
        std::uint64_t length;  ///< zero: not known yet
        bool launched;
    };
    void emit(picoseconds now);
    void cut(std::uint64_t from);
    void announce(const queued& of, const run& characters, phase what);
    /// The packet that the characters on the wire belong to; null when none has been launched.
    queued* under_way();

    host& host_;
    wire cable_;
    std::deque<queued> packets_;
    schedule ready_;
    schedule emission_;
    bool stopped_ = false;
    picoseconds stopped_at_ = 0;
};

}  // namespace vinic::link
