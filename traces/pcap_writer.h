// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/account.h"
#include "traces/cable_ends.h"
#include "traces/output_file.h"
#include "traces/packet_owners.h"
#include "traces/recorder.h"

namespace vinic::traces {

/// Writes the packets of all cables as pcapng (draft-ietf-opsawg-pcapng): each cable is an interface, link
/// type USER0 (traces/wireshark/vinic.lua dissects it), stamps in picoseconds. A packet's stamp is the
/// instant at which the GAP behind its last byte is sent; outbound is from end A of the cable, inbound from
/// end B. Its bytes are those on that cable: the rest of its route, header, payload, CRCs.
class pcap_writer : public recorder {
public:
    /// `messages` says which message a packet belongs to, and must watch already.
    pcap_writer(const std::string& path, account& messages, const cable_map& cables, window when = {});

    void on_packet(const sim::packet_probe&, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                   std::string_view note, std::span<const sim::field> fields) override;

protected:
    void emit(const record&) override;
    void flushed() override { file_.flush(); }

private:
    struct direction {
        std::uint32_t interface;
        bool outbound;
        bool ethernet;
    };
    void write_header(const cable_map& cables);
    std::string comment(const sim::packet_probe& where, std::span<const std::uint8_t> bytes,
                        std::string_view note, std::uint64_t remainder) const;

    output_file file_;
    packet_owners owners_;
    std::vector<direction> directions_;  // by probe
};

}  // namespace vinic::traces
