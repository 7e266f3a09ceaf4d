// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "hw/link/agenda.h"
#include "hw/link/framer.h"
#include "hw/link/inbox.h"
#include "hw/link/protocol.h"
#include "hw/link/receiver.h"
#include "hw/link/transmitter.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::link {

/// What a link port tells the card. Calls come in kernel time, at the instant that they speak of; the card
/// may call the port from within.
class port_client {
public:
    virtual ~port_client() = default;

    /// The first character of `what` has arrived and nothing is before it (HEAD). It is taken as far as
    /// take() allows.
    virtual void on_head(const packet_ptr& what) = 0;
    /// All that take() allowed is taken and the packet goes on (BUFF): the slack buffer fills.
    virtual void on_take_limit() = 0;
    /// The packet is taken to its end, CRC-8 and GAP included (RECV); of a longer gap, the first character.
    /// On a link without CRC-8 it is always whole.
    virtual void on_tail(const reception& of) = 0;
    /// The times at which received characters are taken have changed from now on: see port::taking().
    virtual void on_taking_changed() {}

    /// The last byte of a part that is not the packet's last goes on the wire (SEND).
    virtual void on_part_sent() = 0;
    /// The packet has left, its GAP is on the wire (SEND): the next one can be sent.
    virtual void on_sent() = 0;
    /// The times at which bytes are sent have changed from now on: see port::sending().
    virtual void on_sending_changed() {}

    /// The packet being sent has been blocked for nres_ps (NRES).
    virtual void on_blocked() {}
};

/// The link port of a card (`nic.link`): one cable, sender and receiver. The card sends a packet in one or
/// more parts and takes what arrives at its own pace; what it does not take stays in the slack buffer, and
/// STOP goes back to the sender, in closed form. What the characters are, the checksums, STOP and GO are the
/// framer's: the model's, or RTL's (hw/rtl/link).
class port : public sim::module, private endpoint, private transmitter::host, private receiver::host {
public:
    initiator_socket out;
    target_socket in;

    receiver::parameters slack;
    sim::parameter<std::uint64_t> nres_ps;
    sim::parameter<std::string> impl;

    sim::counter<sim::unit::packets> packets_sent;
    sim::counter<sim::unit::packets> packets_received;
    sim::counter<sim::unit::packets> crc_errors;
    sim::counter<sim::unit::events> blocked;

    /// Parameters are `NAME.slack_bytes` ...; `port.slack_bytes` for all link ports of cards.
    port(const sc_core::sc_module_name& name, port_client& client);
    ~port() override;

    /// Begins a packet, or continues one of which `last` was false. The bytes (route first) become available
    /// to the wire from now on, one each `period` (0: all at once); with `last` the CRC-8 and GAP follow.
    /// The next packet may be begun once `last` was given; it waits its turn. A CRC-32 of the packet from
    /// byte `crc32_from` of this part on, or of the part where that was said last, goes before the CRC-8.
    void send(std::span<const std::uint8_t> bytes, bool last, picoseconds period = 0,
              std::optional<std::uint64_t> crc32_from = {});
    /// Of a byte on the cable; known once the simulation has started.
    picoseconds byte_time() const { return transmitter_.cable().byte_ps; }
    /// The what-if `link.free` holds for the cable.
    bool cable_is_free() const { return transmitter_.cable().free; }
    /// Whether a packet is begun whose GAP has not been sent.
    bool busy() const;
    /// When each character is put on the wire, numbered from the port's first; the packet begun last starts
    /// at sending_base().
    const schedule& sending() const { return transmitter_.emission(); }
    std::uint64_t sending_base() const { return sending_base_; }

    /// The packet at the front of the slack buffer, null when there is none.
    packet_ptr front() const;
    /// Allows the characters of the front packet below `limit` (its CRC-8 counts, the GAP goes by itself) to
    /// be taken from now on, no closer than `spacing` to each other; never: all of it. A packet starts at
    /// limit 0. The last four bytes are a CRC-32 of those from `crc32_from` on, where that is given.
    void take(std::uint64_t limit, picoseconds spacing = 0, std::optional<std::uint64_t> crc32_from = {});
    /// Characters of the front packet that have been taken at `t`, by what is known if that lies ahead.
    std::uint64_t taken(picoseconds t) const;
    /// Characters `first` to `first + count` of the front packet, which have been taken; valid until this
    /// packet's end.
    std::span<const std::uint8_t> taken_bytes(std::uint64_t first, std::uint64_t count);
    /// When characters are taken, numbered from the port's first; the front packet starts at front_base().
    const schedule& taking() const { return receiver_.taking(); }
    std::uint64_t front_base() const;

    /// The most characters that the slack buffer has held, and its size.
    std::uint64_t highest_slack() const { return receiver_.highest(); }
    std::uint64_t slack_size() const { return receiver_.capacity(); }
    /// How often the kernel woke this port.
    std::uint64_t activations() const { return agenda_.activations(); }

private:
    enum kind : unsigned { control, arrival, tail, part, launch, taken_up, level, nres, clocks, kinds };

    void forward(unsigned, transfer& message, phase what, picoseconds in) override;
    void backward(unsigned, transfer& message, phase what, picoseconds in) override;
    void announce(transfer& message, phase what, picoseconds in) override;
    void emission_appended(const run&) override { sending_changed_ = true; }
    void emission_cut(std::uint64_t) override { sending_changed_ = true; }
    void signal(phase what, picoseconds in) override;
    void arrival_appended(const run&) override { plan_taking(); }
    void arrival_cut(std::uint64_t from) override;

    void act();
    void perform(unsigned what, picoseconds now);
    void plan_taking();
    void finish_taking();
    void finish_part();
    void refresh();
    std::unique_ptr<framer> make_framer();
    picoseconds taken_up_due() const;

    port_client& client_;
    forward_adapter forward_;
    backward_adapter backward_;
    transmitter transmitter_;
    receiver receiver_;
    std::unique_ptr<framer> framer_;
    agenda agenda_;
    inbox arrivals_;
    inbox controls_;

    packet_ptr filling_;  ///< begun, its last part not given yet
    std::uint64_t sending_base_ = 0;
    std::deque<std::uint64_t> parts_;  ///< the last character of each part that is not a packet's last
    bool sending_changed_ = false;
    bool blocked_ = false;

    std::uint64_t limit_ = 0;
    picoseconds spacing_ = 0;
    bool limit_told_ = true;
    bool taking_changed_ = false;
};

}  // namespace vinic::link
