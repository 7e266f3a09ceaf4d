// SPDX-License-Identifier: Apache-2.0
// Reliable VIs over a network that damages and loses packets: nothing is lost, doubled, out of order or
// wrong, and no descriptor ends in error.
#include <gtest/gtest.h>

#include <string>

#include "testbench/tests/testbench/run_result.h"

namespace vinic::testbench {
namespace {

// Both ends send messages of random sizes to each other. The sender looks at the receiver's count, so that no
// message finds no descriptor.
constexpr const char* both_ways = R"(
local level = argument { name = "level", default = "delivery", choices = reliability_levels, help = "-" }
local count = argument { name = "count", default = 30, help = "-" }
local sends, receives = 3, 5

local function size_of_a_message()
    local kind = math.random(4)
    if kind == 1 then return math.random(0, 16) end
    if kind == 2 then return math.random(1, 5) * 4096 + math.random(-4, 4) end
    return math.random(0, kind == 3 and 4096 or 65536)
end
local finished = barrier(2)
local sizes, taken = { [0] = {}, {} }, { [0] = 0, 0 }
for node = 0, 1 do
    for i = 1, count do sizes[node][i] = size_of_a_message() end
end

for me = 0, 1 do
    process(me, function()
        local peer = 1 - me
        local e = open_endpoint { bytes = 65536, sends = sends, receives = receives, reliability = level }
        if me == 0 then e:call(1, "both") else e:listen("both") end
        local sent, done = 0, 0
        while done < count or taken[me] < count do
            if sent < count and sent - done < sends and sent - taken[peer] < receives then
                local slot = sent % sends + 1
                sent = sent + 1
                e:prepare(slot, sizes[me][sent])
                e.memory:fill(e.sends[slot].at, sizes[me][sent], 2 * sent + me)
                e:send(slot)
            end
            if sent > done and e:try_sent() then done = done + 1 end
            local d = e:try_receive()
            if d then
                local n = taken[me] + 1
                check(n <= count, "a message too many")
                check(e:holds(d, sizes[peer][n], 2 * n + peer), "message " .. n .. " is not what was sent")
                e:again(d)
                taken[me] = n
            end
        end
        sleep(3000000000) -- three retransmission times
        check(not e:try_receive(), "a message twice")
        finished() -- to leave is to disconnect, which flushes what the peer has posted
    end)
end
)";

struct network {
    const char* name;
    const char* options;
};

class reliability : public testing::TestWithParam<std::tuple<const char*, network, int>> {};

TEST_P(reliability, delivers_all_once_in_order_and_right) {
    const auto& [level, net, seed] = GetParam();
    const program vinic;
    vinic.write("both.lua", both_ways);
    const auto outcome = vinic.run("run both.lua --json --stats --seed " + std::to_string(seed) +
                                   net.options + " -- level=" + level);
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    // There was something to mend.
    const json result = json::parse(outcome.output);
    const double sent = sum_of(result, ".nic.send.packets");
    const double received = sum_of(result, ".nic.receive.packets") - sum_of(result, ".nic.receive.bad_crc32");
    EXPECT_GT(received, 0);
    EXPECT_LT(received, sent);
}

INSTANTIATE_TEST_SUITE_P(
    networks, reliability,
    testing::Combine(testing::Values("delivery", "reception"),
                     testing::Values(network{"bit_errors", " --set link.bit_error_rate=1e-5"},
                                     network{"drops", " --set link.drop_rate=0.05"},
                                     network{"both",
                                             " --set link.bit_error_rate=5e-6 --set link.drop_rate=0.02"},
                                     network{"both_on_gm",
                                             " --design gm_pci64b --set link.bit_error_rate=5e-6 "
                                             "--set link.drop_rate=0.02"},
                                     network{"both_on_myvia2",
                                             " --design myvia2 --set link.bit_error_rate=5e-6 "
                                             "--set link.drop_rate=0.02"}),
                     testing::Range(1, 4)),
    [](const auto& of) {
        return std::string(std::get<0>(of.param)) + "_" + std::get<1>(of.param).name + "_" +
               std::to_string(std::get<2>(of.param));
    });

// A packet of 4 KB takes 1.7 ms, a window of them 27 ms.
TEST(reliability, slow_links_break_nothing) {
    for (const char* workload :
         {"pingpong -- sizes=8,20000 count=2 warmup=1", "stream -- sizes=4096 count=40"}) {
        const std::string text = workload;
        const std::size_t rest = text.find(" -- ");
        const auto outcome = program().run("run " + text.substr(0, rest) + " --set link.byte_ps=400000" +
                                               text.substr(rest) + " reliability=delivery",
                                           "timeout 120");
        EXPECT_EQ(outcome.status, 0) << workload << outcome.errors;
    }
}

// Who leaves disconnects, and what the peer has sent and is not acknowledged yet is flushed: nobody leaves
// before the other one is done.
TEST(reliability, the_last_acknowledgement_may_be_lost) {
    for (int seed = 1; seed <= 5; ++seed) {
        const auto outcome = program().run(
            "run pingpong --set link.drop_rate=0.25 --seed " + std::to_string(seed) +
                " -- sizes=8 count=3 warmup=0 reliability=" + (seed % 2 ? "delivery" : "reception"),
            "timeout 60");
        EXPECT_EQ(outcome.status, 0) << seed << outcome.errors;
    }
}

}  // namespace
}  // namespace vinic::testbench
