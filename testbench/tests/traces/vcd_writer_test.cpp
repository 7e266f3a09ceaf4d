// SPDX-License-Identifier: Apache-2.0
#include "traces/vcd_writer.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "hw/sim/error.h"
#include "testbench/tests/traces/watched_block.h"

namespace vinic::traces {
namespace {

// IEEE 1364 VCD: names in scopes, identifiers from '!', one time mark for each instant, changes only.
TEST(vcd_writer, writes_changes_in_order_of_time_with_floating_bits_and_states) {
    const std::string path = temporary_path(".vcd");
    {
        sim::simulation s;
        watched_block b("node0");
        vcd_writer writer(path, view_of({"*"}));
        b.bus.set(200, 0b0101, 0b1000);  // reported first, happens later
        b.frame.set(100, 0);
        b.frame.set(150, 0);  // no change
        b.state.set(100, 1);
        b.block.report(100, 300, "memory read", {{"bytes", 8}});
        writer.finish(250);
        b.frame.set(300, 1);
        writer.finish(300);
    }
    EXPECT_EQ(contents(path),
              "$version vinic $end\n$timescale 1 ps $end\n$scope module node0 $end\n"
              "$var wire 4 ! ad [3:0] $end\n$var string 1 \" block $end\n$var wire 1 # frame_n $end\n"
              "$var string 1 $ state $end\n$var event 1 % wire $end\n$upscope $end\n$enddefinitions $end\n"
              "$dumpvars\nbx !\nx#\ns? $\n$end\n"
              "#100\nsmemory_read_bytes=0x8 \"\n0#\nsbusy $\n"
              "#200\nbz101 !\n"
              "#300\ns \"\n1#\n");
    std::remove(path.c_str());
}

TEST(vcd_writer, scopes_select_by_glob) {
    const std::string path = temporary_path(".vcd");
    {
        sim::simulation s;
        watched_block a("node0");
        watched_block b("node1");
        vcd_writer writer(path, view_of({"node1.f*"}));
        a.frame.set(1, 0);
        b.frame.set(1, 0);
        b.bus.set(1, 0);
        writer.finish(1);
        EXPECT_FALSE(a.frame.watched());
        EXPECT_FALSE(b.bus.watched());
    }
    const std::string text = contents(path);
    EXPECT_EQ(text.find("node0"), std::string::npos);
    EXPECT_NE(text.find("#1\n0!\n"), std::string::npos);
    std::remove(path.c_str());
}

// Two windows of one run: each begins with what every signal shows then; clocks are functions of time.
TEST(vcd_writer, a_window_begins_with_every_value_and_has_clocks) {
    const std::string path = temporary_path(".vcd");
    {
        sim::simulation s;
        watched_block b("node0");
        wave_view view = view_of({"node0.frame_n", "node0.block", "node0.state"});
        view.clocks = {{"node0.clock", sim::clock_domain(100, 1)}};
        view.when = {sim::picoseconds{1000}, sim::picoseconds{1200}};
        vcd_writer writer(path, view);
        b.state.set(100, 1);
        b.frame.set(200, 1);
        b.frame.set(950, 0);
        b.block.report(900, 1100, "read");
        b.frame.set(1120, 1);
        b.frame.set(1200, 0);
        b.frame.set(1201, 1);
        b.state.set(5000, 0);
        writer.finish(6000);
    }
    const std::string text = contents(path);
    EXPECT_EQ(text.substr(text.find("$dumpvars")),
              "$dumpvars\nx\"\nx#\ns? $\n$end\n"
              "#1000\nsread !\n0#\nsbusy $\n1\"\n"
              "#1050\n0\"\n#1100\n1\"\ns !\n#1120\n1#\n#1150\n0\"\n#1200\n1\"\n0#\n");
    std::remove(path.c_str());
}

TEST(vcd_writer, a_file_that_cannot_be_written_is_an_input_error) {
    sim::simulation s;
    EXPECT_THROW(vcd_writer("/nonexistent/x.vcd", view_of({"*"})), sim::input_error);
}

}  // namespace
}  // namespace vinic::traces
