// SPDX-License-Identifier: Apache-2.0
#include "traces/capture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "hw/sim/simulation.h"
#include "testbench/tests/traces/watched_block.h"
#include "testbench/tests/traces/wire.h"
#include "traces/account.h"
#include "traces/pcap_writer.h"
#include "traces/pcapng.h"

namespace vinic::traces {
namespace {

/// Route byte, header of an acknowledgement from VI 5 to VI 9 with sequence number 3, CRC-8.
const std::vector<std::uint8_t> acknowledgement = wire_bytes()
                                                      .put(0x81, 1)
                                                      .put(abi::packet_type_vi, 4)
                                                      .put(abi::packet_acknowledge, 1)
                                                      .put(0, 3)
                                                      .put(9, 2)
                                                      .put(5, 2)
                                                      .put(77, 4)
                                                      .put(3, 4)
                                                      .put(0, 12)
                                                      .crc8()
                                                      .bytes();

std::string written(const std::string& path) {
    {
        sim::simulation s;
        fabric_block fabric("fabric");
        account messages;
        pcap_writer writer(path, messages, {{"fabric.cable1", {"node1", "switch0 port 4"}}});
        std::vector<std::uint8_t> damaged = acknowledgement;
        damaged[8] ^= 1;
        pass(fabric.cable1.ba, 5'000'000'000'000'101, damaged);
        pass(fabric.cable1.ab, 152, acknowledgement);
        writer.finish(5'000'000'000'000'101);
    }
    const std::string file = contents(path);
    std::remove(path.c_str());
    return file;
}

TEST(capture, says_interface_direction_picoseconds_and_crc_of_each_packet) {
    const std::string file = written(temporary_path(".pcapng"));
    const capture read = read_capture(file);
    EXPECT_EQ(read.faults, std::vector<std::string>{});
    ASSERT_EQ(read.interfaces.size(), 2u);
    EXPECT_EQ(read.interfaces[0].name, "fabric.cable0");
    EXPECT_EQ(read.interfaces[1].name, "fabric.cable1");
    EXPECT_EQ(read.interfaces[1].text, "outbound from node1, inbound from switch0 port 4");
    ASSERT_EQ(read.packets.size(), 2u);
    const auto& [first, second] = std::tie(read.packets[0], read.packets[1]);
    EXPECT_EQ(first.interface, 1u);
    EXPECT_EQ(first.at, 152u);
    EXPECT_EQ(first.flags, pcapng::flag_outbound);
    EXPECT_EQ(first.comment, "acknowledge, VI 5 to VI 9, sequence 3");
    EXPECT_TRUE(std::ranges::equal(first.bytes, acknowledgement));
    EXPECT_EQ(second.at, 5'000'000'000'000'101u);
    EXPECT_EQ(second.flags, pcapng::flag_inbound | pcapng::flag_crc_error);
    EXPECT_TRUE(second.comment.starts_with("damaged, CRC-8 remainder")) << second.comment;
}

// A run that was killed, and every other way to end too early.
TEST(capture, a_file_cut_anywhere_but_between_blocks_is_a_fault) {
    const std::string file = written(temporary_path(".pcapng"));
    std::size_t whole = 0;
    for (std::size_t length = 1; length < file.size(); ++length)
        whole += read_capture(std::string_view(file).substr(0, length)).faults.empty();
    EXPECT_EQ(whole, 4u);  // behind the section's header, each interface, the first packet
}

TEST(capture, lengths_that_disagree_and_stamps_that_go_back_are_faults) {
    const std::string file = written(temporary_path(".pcapng"));
    std::string other_end = file;
    other_end[file.size() - 4] = static_cast<char>(other_end[file.size() - 4] + 4);
    EXPECT_EQ(read_capture(other_end).faults.size(), 1u);
    const capture read = read_capture(file);
    const auto offset = [&](const capture::packet& p) {
        return static_cast<std::size_t>(reinterpret_cast<const char*>(p.bytes.data()) - file.data()) - 28;
    };
    const std::size_t first = offset(read.packets[0]), second = offset(read.packets[1]);
    const std::string swapped =
        file.substr(0, first) + file.substr(second) + file.substr(first, second - first);
    ASSERT_EQ(read_capture(swapped).packets.size(), 2u);
    EXPECT_EQ(read_capture(swapped).faults.size(), 1u);
}

}  // namespace
}  // namespace vinic::traces
