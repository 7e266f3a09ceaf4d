// SPDX-License-Identifier: Apache-2.0
// Wireshark's engine reads a capture with traces/wireshark/vinic.lua and finds every field as it was sent.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "hw/sim/simulation.h"
#include "testbench/report/json.h"
#include "testbench/report/sha256.h"
#include "testbench/tests/testbench/program.h"
#include "testbench/tests/traces/wire.h"
#include "traces/account.h"
#include "traces/capture.h"
#include "traces/pcap_writer.h"

namespace vinic::traces {
namespace {

using testbench::json;
using fields = std::map<std::string, std::string>;

bool have_tshark() { return std::system("tshark --version >/dev/null 2>&1") == 0; }

/// The dissector's fields of one packet, wherever they stand in tshark's tree; not the branches.
void collect(const json& layers, fields& into) {
    for (const auto& [key, value] : layers.items()) {
        if (value.is_object()) collect(value, into);
        const bool branch = key == "vinic.header" || key == "vinic.rdma" || key == "vinic.connection";
        if (value.is_string() && key.starts_with("vinic.") && !branch) into[key] = value;
    }
}

std::vector<fields> dissected(const testbench::program& in, const std::string& file) {
    const std::string command = "cd '" + in.folder().string() +
                                "' && tshark -n -X lua_script:" VINIC_SOURCE_DIR
                                "/traces/wireshark/vinic.lua -T json -r " +
                                file + " >tshark.json 2>tshark.err </dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << in.read("tshark.err");
    std::vector<fields> all;
    for (const auto& packet : json::parse(in.read("tshark.json"))) {
        fields& one = all.emplace_back();
        const json& layers = packet["_source"]["layers"];
        EXPECT_TRUE(layers.contains("vinic"));
        collect(layers["vinic"], one);
        one["interface"] = layers["frame"]["frame.interface_id_tree"]["frame.interface_name"];
        one["comment"] = layers["pkt_comment"]["frame.comment"];
    }
    return all;
}

/// Reads numbers of a packet in the order of wire_format.h and says how tshark writes them.
class expected_fields {
public:
    explicit expected_fields(std::span<const std::uint8_t> packet) : packet_(packet) {
        route();
        header();
        if (kind_ == abi::packet_rdma_write) {
            hex("rdma.address", 8);
            hex("rdma.handle", 4);
            hex("rdma.reserved", 4);
        }
        const std::size_t payload = at_;
        const bool connection = kind_ == abi::packet_control;
        if (connection) control();
        if (!connection && length_ > 0) found_["vinic.payload"] = octets(payload, length_);
        const std::size_t padding = (4 - length_ % 4) % 4;
        if (padding) found_["vinic.padding"] = octets(payload + length_, padding);
        at_ = payload + length_ + padding;
        crcs();
    }
    const fields& found() const { return found_; }

private:
    std::uint64_t number(unsigned bytes) {
        std::uint64_t value = 0;
        for (; bytes > 0; --bytes) value = value << 8 | packet_[at_++];
        return value;
    }
    std::uint64_t decimal(const std::string& name, unsigned bytes) {
        const std::uint64_t value = number(bytes);
        found_["vinic." + name] = std::to_string(value);
        return value;
    }
    std::uint64_t hex(const std::string& name, unsigned bytes) {
        const std::uint64_t value = number(bytes);
        found_["vinic." + name] = fmt::format("0x{:0{}x}", value, 2 * bytes);
        return value;
    }
    std::string octets(std::size_t from, std::size_t bytes) const {
        return fmt::format("{:02x}", fmt::join(packet_.subspan(from, bytes), ":"));
    }

    void route() {
        while (packet_[at_] >= 0x80) ++at_;
        route_ = at_;
        if (route_) found_["vinic.route"] = octets(0, route_);
    }
    void header() {
        hex("type", 4);
        kind_ = decimal("kind", 1);
        const std::uint64_t flags = hex("flags", 1);
        unsigned bit = 0;
        for (const char* name : {"first", "last", "immediate", "wants_acknowledge"})
            found_[std::string("vinic.flags.") + name] = flags >> bit++ & 1 ? "1" : "0";
        length_ = decimal("length", 2);
        decimal("destination_vi", 2);
        decimal("source_vi", 2);
        hex("connection_key", 4);
        decimal("sequence", 4);
        decimal("acknowledge", 4);
        decimal("offset", 4);
        hex("immediate", 4);
    }
    void control() {
        decimal("connection.kind", 1);
        decimal("connection.code", 1);
        found_["vinic.connection.source"] = octets(at_, 6);
        at_ += 6;
        found_["vinic.connection.destination"] = octets(at_, 6);
        at_ += 6;
        decimal("connection.vi", 2);
        decimal("connection.attempt", 4);
        decimal("connection.other_attempt", 4);
        hex("connection.proposed_key", 4);
        decimal("connection.max_transfer_bytes", 4);
        decimal("connection.other_vi", 2);
        decimal("connection.reliability", 1);
        hex("connection.rdma_enables", 1);
        const std::uint64_t local = decimal("connection.local_bytes", 1);
        const std::uint64_t remote = decimal("connection.remote_bytes", 1);
        at_ += 2;
        found_["vinic.connection.local_discriminator"] = octets(at_, local);
        found_["vinic.connection.remote_discriminator"] = octets(at_ + 20, remote);
    }
    void crcs() {
        const auto status = [this](const char* name, bool good) {
            found_[fmt::format("vinic.{}.status", name)] = good ? "1" : "0";
            if (!good) found_[fmt::format("vinic.{}.bad", name)] = "";
        };
        const auto covered = packet_.subspan(route_, at_ - route_);
        const bool with_crc32 = packet_.size() - at_ == 5;
        ASSERT_TRUE(with_crc32 || packet_.size() - at_ == 1);
        found_["vinic.crc32.status"] = "2";
        if (with_crc32) status("crc32", hex("crc32", 4) == link::crc32(covered));
        hex("crc8", 1);
        status("crc8", link::crc8(packet_) == 0);
    }

    std::span<const std::uint8_t> packet_;
    std::size_t at_ = 0, route_ = 0;
    std::uint64_t kind_ = 0, length_ = 0;
    fields found_;
};

void expect_all_found(const testbench::program& in, const std::string& file, std::size_t at_least) {
    const std::string bytes = in.read(file);
    const capture sent = read_capture(bytes);
    EXPECT_EQ(sent.faults, std::vector<std::string>{});
    const std::vector<fields> seen = dissected(in, file);
    ASSERT_EQ(seen.size(), sent.packets.size());
    EXPECT_GE(seen.size(), at_least);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const capture::packet& packet = sent.packets[i];
        fields expected = expected_fields(packet.bytes).found();
        expected["interface"] = sent.interfaces[packet.interface].name;
        expected["comment"] = packet.comment;
        EXPECT_EQ(seen[i], expected) << "packet " << i + 1;
    }
}

TEST(dissector, finds_every_field_of_a_run) {
    if (!have_tshark()) GTEST_SKIP() << "tshark is not installed (testbench/packages.txt)";
    const testbench::program vinic;
    const auto outcome = vinic.run("run pingpong --pcap run.pcapng -- sizes=1,9000 count=2 warmup=0");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    // 3 connection messages; 2 messages of a packet and 2 of three each way; on two cables.
    expect_all_found(vinic, "run.pcapng", 2 * (3 + 2 * (2 + 6)));
}

/// The header up to the length, which `payload` of this many bytes follows; all other fields differ.
wire_bytes header(abi::packet_kind kind, std::uint8_t flags, std::uint16_t payload) {
    wire_bytes b;
    b.put(0x83BF, 2).put(abi::packet_type_vi, 4).put(kind, 1).put(flags, 1).put(payload, 2);
    b.put(0x0102, 2).put(0x0304, 2).put(0x05060708, 4).put(0x090A0B0C, 4).put(0x0D0E0F10, 4);
    b.put(0x11121314, 4).put(0xA1A2A3A4, 4);
    return b;
}
constexpr std::size_t route_bytes = 2;

TEST(dissector, finds_rdma_immediate_data_and_damage) {
    if (!have_tshark()) GTEST_SKIP() << "tshark is not installed (testbench/packages.txt)";
    const testbench::program folder;
    const auto rdma = header(abi::packet_rdma_write, 0x0D, 5)
                          .put(0x123456789ABCDEF0, 8)
                          .put(0x40010002, 4)
                          .put(0, 4)
                          .put(0xDEADBEEF01000000, 8)
                          .crc32(route_bytes)
                          .crc8()
                          .bytes();
    const auto refused = header(abi::packet_not_acknowledge, 0x04, 0).crc8().bytes();
    auto damaged = rdma;
    damaged[40] ^= 0x20;
    {
        sim::simulation s;
        fabric_block fabric("fabric");
        account messages;
        pcap_writer writer((folder.folder() / "w.pcapng").string(), messages, {});
        pass(fabric.cable0.ab, 200, rdma);
        pass(fabric.cable0.ba, 300, refused);
        pass(fabric.cable1.ba, 400, damaged);
        writer.finish(500);
    }
    expect_all_found(folder, "w.pcapng", 3);
    const auto seen = dissected(folder, "w.pcapng");
    EXPECT_EQ(seen[0].at("vinic.crc32.status"), "1");
    EXPECT_EQ(seen[0].at("vinic.crc8.status"), "1");
    EXPECT_EQ(seen[1].at("vinic.crc32.status"), "2");
    EXPECT_EQ(seen[2].at("vinic.crc32.status"), "0");
    EXPECT_EQ(seen[2].at("vinic.crc8.status"), "0");
}

}  // namespace
}  // namespace vinic::traces
