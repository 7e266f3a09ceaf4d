// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "hw/link/protocol.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"

namespace vinic::link {

/// The receiving half of a port: the slack buffer. What arrives and what is taken are schedules, numbered
/// from the port's first character; the instants at which the buffer passes the thresholds of STOP and GO
/// follow from both. STOP refresh is a function of time and no event (rule 1). Time is passed in by the
/// owner.
class receiver {
public:
    struct parameters {
        sim::parameter<std::uint64_t> slack_bytes;
        sim::parameter<std::uint64_t> stop_above;
        sim::parameter<std::uint64_t> go_below;
        explicit parameters(const sim::module& owner);
    };

    class host {
    public:
        virtual ~host() = default;
        /// STOP or GO for the sender, in effect there `in` from now plus the cable's delay.
        virtual void signal(phase what, picoseconds in) = 0;
        /// Characters of the newest packet arrive at these times, or not from `from` on as said before.
        virtual void arrival_appended(const run& characters) = 0;
        virtual void arrival_cut(std::uint64_t from) = 0;
    };

    struct held {
        packet_ptr what;
        std::size_t first_byte;
        unsigned hop;
        std::uint64_t base;    ///< number of its first character
        std::uint64_t length;  ///< with CRC-8 and GAP; zero while not known
    };

    receiver(const sim::module& owner, const parameters& sizes, host& to);

    /// Checks that the slack covers the cable: input_error with the numbers when it does not.
    void connect(const wire& cable);

    const wire& cable() const { return cable_; }
    const parameters& sizes() const { return sizes_; }

    /// A head, more or hold message, at the instant at which it takes effect.
    void accept(const transfer& message, phase what);

    bool empty() const { return packets_.empty(); }
    const held& front() const { return packets_.front(); }
    const held& newest() const { return packets_.back(); }
    /// The front packet is taken to its end.
    void pop();

    const schedule& arrival() const { return arrival_; }
    const schedule& taking() const { return taking_; }
    void taking_appended(const run& characters) { taking_.append(characters); }
    void taking_follow(const run& arriving, picoseconds earliest, picoseconds spacing) {
        taking_.follow(arriving, earliest, spacing);
    }
    void taking_cut(std::uint64_t from) { taking_.truncate(from); }

    /// A picosecond after the buffer next passes a threshold, by what is known at `now`; the owner calls
    /// level() then. By that time it is known what the instant itself brought, in whatever order; the symbol,
    /// one character long, loses nothing by it.
    picoseconds level_due(picoseconds now);
    void level(picoseconds now);
    bool stopping() const { return stopping_; }

    /// Characters in the buffer at `t`; the most there have been at any event so far, which is where it peaks
    /// (where arrival ends or taking begins); and the size.
    std::uint64_t occupancy(picoseconds t) const { return arrival_.passed(t) - taking_.passed(t); }
    std::uint64_t highest() const { return highest_; }
    std::uint64_t capacity() const { return slack_; }

private:
    bool past_threshold(std::uint64_t in_buffer) const;

    const sim::module& owner_;
    const parameters& sizes_;
    host& host_;
    wire cable_;
    std::uint64_t slack_ = 0;
    std::deque<held> packets_;
    schedule arrival_;
    schedule taking_;
    bool stopping_ = false;
    std::uint64_t highest_ = 0;
};

}  // namespace vinic::link
