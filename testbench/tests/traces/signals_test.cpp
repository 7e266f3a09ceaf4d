// SPDX-License-Identifier: Apache-2.0
#include "traces/signals.h"

#include <gtest/gtest.h>

#include "hw/sim/error.h"

namespace vinic::traces {
namespace {

using names = std::vector<std::string>;

const names all{"node0.bus.ad",       "node0.bus.clock", "node0.nic.dma.state", "node0.nic.lanai.function",
                "node0.nic.lanai.pc", "node1.bus.ad"};

TEST(signals, what_changes_each_cycle_is_shown_only_when_meant) {
    const names calm{"node0.bus.ad", "node0.nic.dma.state", "node0.nic.lanai.function", "node1.bus.ad"};
    EXPECT_EQ(choose_signals(all, {}, false), calm);
    EXPECT_EQ(choose_signals(all, {"*"}, false), calm);
    EXPECT_EQ(choose_signals(all, {"node0.nic.*"}, false), (names{calm[1], calm[2]}));
    EXPECT_EQ(choose_signals(all, {"*.pc", "node1.*"}, false), (names{all[4], all[5]}));
    EXPECT_EQ(choose_signals(all, {"*.lanai.*"}, false), (names{all[3], all[4]}));
    EXPECT_EQ(choose_signals(all, {}, true),
              (names{all[0], all[1], all[2], all[3], all[5]}));  // a window has clocks
}

TEST(signals, a_glob_without_match_names_what_is_near) {
    const auto complaint = [](const std::string& glob) -> std::string {
        try {
            choose_signals(all, {"node0.*", glob}, false);
        } catch (const sim::input_error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(complaint("nod0.*"), "no signal matches 'nod0.*'; did you mean 'node0.*'?");
    EXPECT_EQ(complaint("node0.bus.da"), "no signal matches 'node0.bus.da'; did you mean 'node0.bus.ad'?");
    EXPECT_EQ(complaint("x"), "no signal matches 'x'");
}

}  // namespace
}  // namespace vinic::traces
