// SPDX-License-Identifier: Apache-2.0
#include "traces/pcap_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "traces/pcapng.h"
#include "traces/vi_packet.h"

namespace vinic::traces {

namespace {

/// A block of pcapng, little-endian: type, length, body, options, length again; all in whole words.
class block {
public:
    explicit block(std::uint32_t type) { word(type).word(0); }

    block& word(std::uint32_t value) { return integer(value, 4); }
    block& half(std::uint16_t value) { return integer(value, 2); }
    block& padded(std::string_view bytes) {
        bytes_ += bytes;
        bytes_.append((4 - bytes_.size() % 4) % 4, '\0');
        return *this;
    }
    block& option(std::uint16_t code, std::string_view value) {
        return half(code).half(static_cast<std::uint16_t>(value.size())).padded(value);
    }
    std::string_view close() {
        word(pcapng::end_of_options);
        const auto length = static_cast<std::uint32_t>(bytes_.size() + 4);
        word(length);
        for (unsigned i = 0; i < 4; ++i) bytes_[4 + i] = static_cast<char>(length >> 8 * i);
        return bytes_;
    }

private:
    block& integer(std::uint64_t value, unsigned bytes) {
        for (unsigned i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> 8 * i);
        return *this;
    }
    std::string bytes_;
};

std::string_view as_text(std::span<const std::uint8_t> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t get(std::span<const sim::field> fields, std::string_view name) {
    const auto found = std::ranges::find(fields, name, &sim::field::name);
    return found == fields.end() ? 0 : found->value;
}

/// Of "fabric.cable0.ab.packet": the cable, and which way.
constexpr std::string_view from_a = ".ab.packet", from_b = ".ba.packet";

std::string cable_of(const sim::probe& p) { return p.name().substr(0, p.name().size() - from_a.size()); }

}  // namespace

pcap_writer::pcap_writer(const std::string& path, account& messages, const cable_map& cables, window when)
    : recorder(probes_matching({"*.cable*.ab.packet", "*.cable*.ba.packet"}), std::move(when)),
      file_(path),
      owners_(cables) {
    messages.tell(owners_);
    write_header(cables);
}

void pcap_writer::write_header(const cable_map& cables) {
    constexpr std::uint32_t unknown_length = ~0u;
    file_.write(block(pcapng::section_header)
                    .word(pcapng::byte_order_magic)
                    .half(1)
                    .half(0)
                    .word(unknown_length)
                    .word(unknown_length)
                    .option(pcapng::section_application, "vinic")
                    .close());
    std::uint32_t interfaces = 0;
    std::string last;
    bool ethernet = false;
    for (const sim::probe* p : probes()) {
        if (!p->name().ends_with(from_a) && !p->name().ends_with(from_b)) continue;  // only for the window
        const std::string name = cable_of(*p);
        if (name != last) {
            ++interfaces;
            const auto ends = cables.find(name);
            ethernet = ends != cables.end() && ends->second.ethernet;
            std::string text = "outbound from end A, inbound from end B";
            if (ends != cables.end())
                text = fmt::format("outbound from {}, inbound from {}", ends->second.a, ends->second.b);
            file_.write(block(pcapng::interface_description)
                            .half(ethernet ? pcapng::link_type_ethernet : pcapng::link_type_user0)
                            .half(0)
                            .word(0)
                            .option(pcapng::interface_name, name)
                            .option(pcapng::interface_text, text)
                            .option(pcapng::interface_resolution, std::string(1, pcapng::picoseconds))
                            .close());
        }
        last = name;
        directions_.push_back({interfaces - 1, p->name().ends_with(from_a), ethernet});
    }
}

std::string pcap_writer::comment(const sim::packet_probe& where, std::span<const std::uint8_t> bytes,
                                 std::string_view note, std::uint64_t remainder) const {
    std::string text;
    const auto header = vi_header_of(bytes);
    if (remainder != 0) {
        text = fmt::format("damaged, CRC-8 remainder {:#04x}", remainder);
    } else if (header) {
        text = fmt::format("{}, VI {} to VI {}", kind_name(header->kind), header->source_vi,
                           header->destination_vi);
        if (header->kind != abi::packet_control) text += fmt::format(", sequence {}", header->sequence);
        if (const packet_owners::owner* of = owners_.of(*header, where, bytes))
            text +=
                fmt::format(", message {} of {}, descriptor {:#x}", of->number, of->sender, of->descriptor);
    } else {
        text = "no VI packet";
    }
    return note.empty() ? text : fmt::format("{}, {}", text, note);
}

/// The comment is made when the packet passes: whose packet it is can be forgotten before it is written.
void pcap_writer::on_packet(const sim::packet_probe& p, sim::picoseconds at,
                            std::span<const std::uint8_t> bytes, std::string_view note,
                            std::span<const sim::field> fields) {
    recorder::on_packet(p, at, bytes, comment(p, bytes, note, get(fields, "remainder")), fields);
}

void pcap_writer::emit(const record& r) {
    const direction& on = directions_[r.probe];
    // Of Ethernet what captures of it show: without preamble, with FCS.
    const std::size_t skipped = on.ethernet ? std::min(ethernet_preamble_bytes, r.bytes.size()) : 0;
    const auto shown = r.bytes.subspan(skipped);
    const auto length = static_cast<std::uint32_t>(shown.size());
    std::uint32_t flags = on.outbound ? pcapng::flag_outbound : pcapng::flag_inbound;
    if (get(r.fields, "remainder") != 0) flags |= pcapng::flag_crc_error;
    file_.write(block(pcapng::enhanced_packet)
                    .word(on.interface)
                    .word(static_cast<std::uint32_t>(r.at >> 32))
                    .word(static_cast<std::uint32_t>(r.at))
                    .word(length)
                    .word(length)
                    .padded(as_text(shown))
                    .option(pcapng::comment, r.text)
                    .half(pcapng::packet_flags)
                    .half(sizeof flags)
                    .word(flags)
                    .close());
}

}  // namespace vinic::traces
