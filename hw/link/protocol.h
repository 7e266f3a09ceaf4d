// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hw/link/schedule.h"

namespace vinic::link {

/// The characters of a packet on Myrinet: its bytes (route, type, payload, CRC-8) and the GAP that ends it.
inline constexpr std::uint64_t gap_characters = 1;
inline constexpr std::uint64_t crc_characters = 1;

/// A packet under way. One object travels from the sender to the receiver through all switches and is never
/// copied: a switch that strips a route byte only starts its own transmission one byte later.
class packet {
public:
    /// A bit error that a cable made: for probes of the cables before it.
    struct damage {
        std::size_t byte;
        std::uint8_t bits;
        unsigned hop;
    };

    /// All bytes as they left the sender, stripped route bytes included, CRC-8 last once the sender has
    /// finished; bit errors of the cables passed so far are in them.
    std::span<const std::uint8_t> bytes() const { return bytes_; }
    bool finished() const { return finished_; }

    void append(std::span<const std::uint8_t> more);
    /// Appends the CRC-8 (facts/lanai_pcix.md B6), or a zero in its place.
    void finish(bool with_crc8 = true);
    /// The link adds nothing: the packet ends with the sender's last byte.
    void finish_bare();

    /// A sender that makes its characters one by one: so many more will come, which put() fills in as they
    /// leave; the last ones are announced with finish_filled(), and the very last is the CRC-8.
    void extend(std::size_t characters) { bytes_.resize(bytes_.size() + characters); }
    void finish_filled() { finished_ = true; }
    /// Bit errors of cables that have announced the character may be in it already.
    void put(std::size_t at, std::uint8_t byte) { bytes_.at(at) ^= byte; }

    /// At the end of bytes(), once it is finished.
    std::uint64_t check_characters() const { return bare_ ? 0 : crc_characters; }

    void flip(std::size_t byte, std::uint8_t bits, unsigned hop);
    const std::vector<damage>& damages() const { return damages_; }

    /// Of the division of the packet, its CRC-8 included: zero when it is whole. A switch replaces the CRC-8
    /// such that the remainder stays what it was, so the one over all bytes that were ever part of the packet
    /// is the one that the receiver computes.
    std::uint8_t remainder() const;

    /// The bytes as they are on the wire of hop `hop` (0: the sender's cable), which starts at byte `first`:
    /// the CRC-8 as the switch before it recomputed it, later damage undone.
    std::vector<std::uint8_t> on_wire(std::size_t first, unsigned hop) const;

private:
    std::vector<std::uint8_t> bytes_;
    std::vector<damage> damages_;
    std::uint8_t sender_crc_ = 0;
    bool crc_fits_ = false;  ///< the sender's, as long as no cable damages the packet
    bool finished_ = false;
    bool bare_ = false;
};

using packet_ptr = std::shared_ptr<packet>;

/// The least by which something can come after something else: a picosecond.
inline constexpr picoseconds least_time = 1;

/// What a cable is to the ports at its ends: how fast, how long, and what the link adds to a packet.
struct wire {
    picoseconds byte_ps = 0;
    picoseconds delay_ps = 0;
    std::uint64_t check_characters = crc_characters;  ///< CRC-8; none on Ethernet, whose FCS is the MAC's
    std::uint64_t gap = gap_characters;               ///< Myrinet's GAP; Ethernet's inter-frame gap
    bool flow_control = true;                         ///< STOP and GO
    bool free = false;  ///< what-if: it takes no time, nor does a switch for what comes over it
};

/// The payload of the link protocol: one message about a packet's transmission over one cable. It is valid
/// during the call only; who needs it later copies it.
struct transfer {
    packet_ptr what;
    std::size_t first_byte = 0;   ///< the byte of `what` that is character zero on this cable
    unsigned hop = 0;             ///< cables passed before this one
    run characters;               ///< head, more: when each is completely past the sender of the message
    std::uint64_t length = 0;     ///< characters with CRC-8 and GAP; zero while the sender does not know
    std::uint64_t held_from = 0;  ///< hold: the first character that does not come as announced
    wire cable;                   ///< connect
};

/// forward:  head     a packet begins; `characters` starts at zero
///           more     further characters of it, or its length became known
///           hold     characters from `held_from` on do not come as announced (STOP reached the sender)
///           tail     the GAP is being sent: for observers, never late enough to wait for
/// backward: stop, go the receiver's slack buffer passed a threshold
/// both:     connect  the cable introduces itself to its ends, before time zero
///
/// The delay argument of nb_transport says when the message takes effect at whom it is handed to. A sender
/// passes head, more and hold one byte time ahead: when the first character concerned is through.
enum class phase { connect, head, more, hold, tail, stop, go };

struct protocol_types {
    using tlm_payload_type = transfer;
    using tlm_phase_type = phase;
};

/// A port of a switch may stay without a cable.
using initiator_socket = tlm::tlm_initiator_socket<8, protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
using target_socket = tlm::tlm_target_socket<8, protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
using forward_if = tlm::tlm_fw_transport_if<protocol_types>;
using backward_if = tlm::tlm_bw_transport_if<protocol_types>;

/// Whoever has link ports: each message with the number of the port that it concerns.
class endpoint {
public:
    virtual ~endpoint() = default;
    virtual void forward(unsigned port, transfer& message, phase what, picoseconds in) = 0;
    virtual void backward(unsigned port, transfer& message, phase what, picoseconds in) = 0;
};

/// Binds to the sockets of one port and hands its messages to the endpoint.
class forward_adapter : public forward_if {
public:
    forward_adapter(endpoint& to, unsigned port) : to_(to), port_(port) {}
    tlm::tlm_sync_enum nb_transport_fw(transfer& message, phase& what, sc_core::sc_time& in) override {
        to_.forward(port_, message, what, in.value());
        return tlm::TLM_ACCEPTED;
    }
    /// The link has no blocking, debug or direct access.
    void b_transport(transfer&, sc_core::sc_time&) override {}
    bool get_direct_mem_ptr(transfer&, tlm::tlm_dmi&) override { return false; }
    unsigned transport_dbg(transfer&) override { return 0; }

private:
    endpoint& to_;
    unsigned port_;
};

class backward_adapter : public backward_if {
public:
    backward_adapter(endpoint& to, unsigned port) : to_(to), port_(port) {}
    tlm::tlm_sync_enum nb_transport_bw(transfer& message, phase& what, sc_core::sc_time& in) override {
        to_.backward(port_, message, what, in.value());
        return tlm::TLM_ACCEPTED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

private:
    endpoint& to_;
    unsigned port_;
};

}  // namespace vinic::link
