// SPDX-License-Identifier: Apache-2.0
#include "traces/fst_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "hw/sim/error.h"
#include "testbench/tests/traces/watched_block.h"
#include "traces/fst_reader.h"
#include "traces/vcd_writer.h"
#include "traces/waveform.h"

namespace vinic::traces {
namespace {

void drive(watched_block& b) {
    const std::array<std::uint8_t, 3> packet{1, 2, 3};
    b.bus.set(200, 0b0101, 0b1000);
    b.frame.set(100, 0);
    b.state.set(100, 1);
    b.block.report(100, 300, "memory read", {{"bytes", 8}});
    b.wire.report(250, packet, "send");
    b.frame.set(300, 1);
}

void write_driven(const std::string& path) {
    sim::simulation s;
    watched_block b("node0");
    const auto writer = make_fst_writer(path, view_of({"*"}));
    drive(b);
    writer->finish(300);
}

// The same signals and changes as a VCD, worked out by hand.
TEST(fst_writer, holds_floating_bits_states_spans_and_events) {
    const std::string path = temporary_path(".fst");
    write_driven(path);
    using changes = std::vector<waveform::change>;
    const waveform read(path);
    EXPECT_EQ(read.signals().at("node0.ad"), (changes{{200, "z101"}}));
    EXPECT_EQ(read.signals().at("node0.frame_n"), (changes{{100, "0"}, {300, "1"}}));
    EXPECT_EQ(read.signals().at("node0.state"), (changes{{100, "busy"}}));
    EXPECT_EQ(read.signals().at("node0.block"), (changes{{100, "memory_read_bytes=0x8"}, {300, ""}}));
    EXPECT_EQ(read.signals().at("node0.wire").size(), 1u);
    EXPECT_EQ(read.at("node0.block", 299), "memory_read_bytes=0x8");
    std::remove(path.c_str());
}

// GTKWave's reader trusts what it reads; vinic does not: whatever a file holds, it is read or it is bad
// input.
TEST(fst_reader, a_damaged_file_is_read_or_bad_input) {
    const std::string path = temporary_path(".fst");
    write_driven(path);
    std::ifstream file(path, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    ASSERT_FALSE(whole.empty());
    unsigned refused = 0;
    for (std::size_t at = fst_magic.size(); at < whole.size(); at += 37)
        for (const unsigned char wrong : {0x00, 0x7F, 0xFF}) {
            std::string damaged = whole;
            if (wrong == 0x7F)
                damaged.resize(at);
            else
                damaged[at] = static_cast<char>(wrong);
            std::ofstream(path, std::ios::binary) << damaged;
            try {
                waveform read(path);
            } catch (const sim::input_error&) {
                ++refused;
            }
        }
    EXPECT_GT(refused, 0u);
    std::remove(path.c_str());
}

TEST(fst_writer, a_file_that_cannot_be_written_is_an_input_error) {
    sim::simulation s;
    EXPECT_THROW(make_fst_writer("/nonexistent/x.fst", view_of({"*"})), sim::input_error);
}

}  // namespace
}  // namespace vinic::traces
