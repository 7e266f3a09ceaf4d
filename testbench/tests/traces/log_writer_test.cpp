// SPDX-License-Identifier: Apache-2.0
#include "traces/log_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "testbench/tests/traces/watched_block.h"

namespace vinic::traces {
namespace {

TEST(log_writer, one_line_for_each_event_in_order_of_time_then_name) {
    const std::string path = temporary_path(".log");
    {
        sim::simulation s;
        watched_block b("node0");
        log_writer writer(path);
        const std::array<std::uint8_t, 3> packet{1, 2, 3};
        b.wire.report(70, packet, "send");
        b.state.set(50, 1);
        b.block.report(50, 60, "read", {{"address", 0x1000}, {"bytes", 64}});
        b.bus.set(40, 0, 15);
        writer.finish(100);
    }
    EXPECT_EQ(contents(path),
              "40 node0.ad z\n"
              "50 node0.block read address=0x1000 bytes=0x40 for 10 ps\n"
              "50 node0.state busy\n"
              "70 node0.wire packet 3 bytes send\n");
    std::remove(path.c_str());
}

// A span is reported when it ends: what came after its begin waits for it.
TEST(log_writer, a_span_reported_late_stands_where_it_began) {
    const std::string path = temporary_path(".log");
    {
        sim::simulation s;
        watched_block b("node0");
        log_writer writer(path);
        b.state.set(2'000, 1);
        writer.flush(3'000);
        b.block.report(1'000, 4'000, "read");
        writer.flush(5'000);
        writer.finish(6'000);
    }
    EXPECT_EQ(contents(path), "1000 node0.block read for 3000 ps\n2000 node0.state busy\n");
    std::remove(path.c_str());
}

}  // namespace
}  // namespace vinic::traces
