// SPDX-License-Identifier: Apache-2.0
// What the card puts around its packets on the wire: real bytes, over and above what the link layer adds by
// itself (CRC-8 and GAP, two characters a packet; route bytes, which are part of addressing).
//
// plain: the packet and a CRC-32. cells: AAL5 (ITU-T I.363.5): the packet, padding and a trailer of 8 bytes
// (length, CRC-32) in cells of 48 bytes behind a header of 5 (I.361; the VCI is the destination's VI).
// ethernet: preamble and SFD, addresses, type, at least 46 bytes of content, FCS (IEEE 802.3 clause 3).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class framing : public sim::module {
public:
    enum class kind : std::uint8_t { plain, cells, ethernet };

    explicit framing(const sc_core::sc_module_name& name);

    sim::parameter<std::string> format;
    sim::parameter<std::uint64_t> packet_payload_bytes;
    sim::parameter<std::uint64_t> gap_ps;

    sim::counter<sim::unit::bytes> framed{*this, "framed", "bytes that framing added to packets sent"};
    sim::counter<sim::unit::packets> damaged{*this, "damaged", "packets dropped because a check failed"};

    kind what() const { return kind_; }

    /// A frame that is made as its contents come.
    class writer {
    public:
        /// Bytes for the wire that these contents complete; with `last`, the frame's end too.
        std::vector<std::uint8_t> put(std::span<const std::uint8_t> contents, bool last);

    private:
        friend class framing;
        void put_cell(std::vector<std::uint8_t>& to, std::size_t from, bool last) const;

        kind what_ = kind::plain;
        std::uint32_t crc_ = 0;
        std::size_t length_ = 0;
        std::uint16_t channel_ = 0;
        std::vector<std::uint8_t> cell_;
    };
    /// `channel`: the destination's VI.
    writer begin(std::uint16_t channel) const;
    /// What stands before the contents: to go first.
    std::vector<std::uint8_t> prefix() const;

    /// The contents of a frame as it came from the wire, its route stripped; none when a check fails.
    std::optional<std::vector<std::uint8_t>> open(std::span<const std::uint8_t> frame) const;

private:
    kind kind_;
};

}  // namespace vinic::nic
