// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/framing.h"

#include <algorithm>
#include <array>

#include "firmware/abi/wire_format.h"
#include "hw/link/crc.h"
#include "hw/link/ethernet_frame.h"
#include "hw/nic/bytes.h"

namespace vinic::nic {

namespace {

constexpr std::size_t crc_bytes = 4;
// Cells (I.361, I.363.5).
constexpr std::size_t cell_header = 5, cell_payload = 48, trailer = 8;
constexpr std::uint8_t last_cell = 0x02;     // user indication in the payload type
constexpr std::uint8_t check_offset = 0x55;  // of the header's check byte
// Ethernet: broadcast, from a local address.
constexpr std::array<std::uint8_t, link::ethernet::header_bytes> ethernet_header{0xFF,
                                                                                 0xFF,
                                                                                 0xFF,
                                                                                 0xFF,
                                                                                 0xFF,
                                                                                 0xFF,
                                                                                 0x02,
                                                                                 0x00,
                                                                                 0x00,
                                                                                 0x00,
                                                                                 0x00,
                                                                                 0x00,
                                                                                 abi::ethertype_vi >> 8,
                                                                                 abi::ethertype_vi & 0xFF};

framing::kind kind_of(const std::string& name) {
    if (name == "cells") return framing::kind::cells;
    return name == "ethernet" ? framing::kind::ethernet : framing::kind::plain;
}

template <typename Range>
void append(std::vector<std::uint8_t>& to, const Range& from) {
    to.insert(to.end(), from.begin(), from.end());
}

void append_big(std::vector<std::uint8_t>& to, std::uint32_t word) {
    std::array<std::uint8_t, crc_bytes> bytes;
    store_big(bytes.data(), word);
    append(to, bytes);
}

/// The FCS goes out from its highest power, each byte with its lowest bit first.
void append_little(std::vector<std::uint8_t>& to, std::uint32_t word) {
    std::array<std::uint8_t, crc_bytes> bytes;
    store_little(bytes.data(), word);
    append(to, bytes);
}

}  // namespace

framing::framing(const sc_core::sc_module_name& name)
    : module(name),
      format(*this,
             {.name = "format",
              .value = "plain",
              .choices = {"plain", "cells", "ethernet"},
              .help = "around a packet: a CRC-32; AAL5 in cells of 48 bytes in 53; an Ethernet frame"}),
      packet_payload_bytes(*this, {.name = "packet_payload_bytes",
                                   .unit = "bytes",
                                   .value = abi::packet_payload_max,
                                   .min = 64,
                                   .max = abi::packet_payload_max,
                                   .help = "most payload of a packet; a multiple of 8"}),
      gap_ps(*this, {.name = "gap_ps",
                     .unit = "ps",
                     .value = 0,
                     .max = 1'000'000'000,
                     .help = "least time between packets on the wire, over what the link keeps"}),
      kind_(kind_of(format)) {}

framing::writer framing::begin(std::uint16_t channel) const {
    writer made;
    made.what_ = kind_;
    made.channel_ = channel;
    if (kind_ == kind::ethernet) made.crc_ = link::crc32(ethernet_header);
    return made;
}

std::vector<std::uint8_t> framing::prefix() const {
    std::vector<std::uint8_t> made;
    if (kind_ != kind::ethernet) return made;
    append(made, link::ethernet::preamble);
    append(made, ethernet_header);
    return made;
}

void framing::writer::put_cell(std::vector<std::uint8_t>& to, std::size_t from, bool last) const {
    std::array<std::uint8_t, cell_header> head{
        0, static_cast<std::uint8_t>(channel_ >> 12), static_cast<std::uint8_t>(channel_ >> 4),
        static_cast<std::uint8_t>(channel_ << 4 | (last ? last_cell : 0))};
    head[4] = link::crc8(std::span(head).first(4)) ^ check_offset;
    append(to, head);
    append(to, std::span(cell_).subspan(from, cell_payload));
}

std::vector<std::uint8_t> framing::writer::put(std::span<const std::uint8_t> contents, bool last) {
    std::vector<std::uint8_t> made;
    crc_ = link::crc32(contents, crc_);
    length_ += contents.size();
    if (what_ != kind::cells) {
        append(made, contents);
        if (!last) return made;
        if (what_ == kind::plain) {
            append_big(made, crc_);
            return made;
        }
        constexpr std::size_t least = link::ethernet::payload_min_bytes;
        const std::vector<std::uint8_t> padding(least - std::min(length_, least));
        append(made, padding);
        append_little(made, link::crc32(padding, crc_));
        return made;
    }
    append(cell_, contents);
    if (last) {
        std::vector<std::uint8_t> end((cell_payload - (length_ + trailer) % cell_payload) % cell_payload + 2);
        end.push_back(static_cast<std::uint8_t>(length_ >> 8));
        end.push_back(static_cast<std::uint8_t>(length_));
        append_big(end, link::crc32(end, crc_));
        append(cell_, end);
    }
    std::size_t done = 0;
    for (; cell_.size() - done >= cell_payload; done += cell_payload)
        put_cell(made, done, last && cell_.size() - done == cell_payload);
    cell_.erase(cell_.begin(), cell_.begin() + static_cast<std::ptrdiff_t>(done));
    return made;
}

namespace {

std::optional<std::vector<std::uint8_t>> open_plain(std::span<const std::uint8_t> frame) {
    if (frame.size() < crc_bytes) return std::nullopt;
    const auto contents = frame.first(frame.size() - crc_bytes);
    if (load_big(frame.last(crc_bytes).data()) != link::crc32(contents)) return std::nullopt;
    return std::vector(contents.begin(), contents.end());
}

std::optional<std::vector<std::uint8_t>> open_cells(std::span<const std::uint8_t> frame) {
    std::vector<std::uint8_t> all;
    if (frame.empty() || frame.size() % (cell_header + cell_payload) != 0) return std::nullopt;
    for (std::size_t at = 0; at < frame.size(); at += cell_header + cell_payload) {
        const auto head = frame.subspan(at, cell_header);
        if ((link::crc8(head.first(4)) ^ check_offset) != head[4]) return std::nullopt;
        append(all, frame.subspan(at + cell_header, cell_payload));
    }
    const std::size_t length = std::size_t{all[all.size() - 6]} << 8 | all[all.size() - 5];
    const auto covered = std::span(all).first(all.size() - crc_bytes);
    if (load_big(all.data() + covered.size()) != link::crc32(covered) || length + trailer > all.size())
        return std::nullopt;
    all.resize(length);
    return all;
}

std::optional<std::vector<std::uint8_t>> open_ethernet(std::span<const std::uint8_t> frame) {
    if (!link::ethernet::is_whole(frame)) return std::nullopt;
    const auto payload = link::ethernet::contents(frame).subspan(link::ethernet::header_bytes);
    return std::vector(payload.begin(), payload.end());
}

}  // namespace

std::optional<std::vector<std::uint8_t>> framing::open(std::span<const std::uint8_t> frame) const {
    switch (kind_) {
        case kind::cells:
            return open_cells(frame);
        case kind::ethernet:
            return open_ethernet(frame);
        default:
            return open_plain(frame);
    }
}

}  // namespace vinic::nic
