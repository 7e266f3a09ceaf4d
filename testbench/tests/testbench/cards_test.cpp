// SPDX-License-Identifier: Apache-2.0
// Nodes with several cards: each is a card like the first, on the node's bus and in the network.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testbench/tests/testbench/run_result.h"

namespace vinic::testbench {
namespace {

/// Every card of node 0 sends a message of several packets to every card of every node, itself included. A
/// server for each card takes them one after the other, and knows by its pattern whose each is.
const std::string pairs = R"(
description "Every card of node 0 sends to every card"
local cards = argument { name = "cards", default = 2, help = "-" }
local bytes = 5000
local all = barrier(1 + nodes * cards)
local addresses = {}
local function open(card)
    local e = open_endpoint { bytes = bytes, sends = 1, receives = 1, nic = ok(VipOpenNic("nic" .. card)) }
    check(ok(VipQueryNic(e.nic)).Name == "vinic" .. card, "the name of card " .. card)
    return e
end
local function seed(from, node, to) return 100 * from + 10 * node + to end
local function port(from, node, to) return "p" .. seed(from, node, to) end

local function serve(from, node, to)
    local e, name = open(to), port(from, node, to)
    addresses[name] = ok(VipQueryNic(e.nic)).LocalNicAddress
    e:listen(name)
    check(e:holds(e:receive(), bytes, seed(from, node, to)), "what card " .. from .. " sent")
    row("from", from, "node", node, "to", to)
end

local function send(from, node, to)
    local e, name = open(from), port(from, node, to)
    while not addresses[name] do sleep(1000000) end
    local status
    repeat
        sleep(20000000)
        status = VipConnectRequest(e.vi, e:address("c" .. name), { host = addresses[name], discriminator = name })
    until status ~= VIP_NO_MATCH
    ok(status)
    e.memory:fill(e.sends[1].at, bytes, seed(from, node, to))
    e:send(1)
    e:sent()
end

for node = 0, nodes - 1 do
    for to = 0, cards - 1 do
        process(node, function()
            for from = 0, cards - 1 do serve(from, node, to) end
            all()
        end)
    end
end
process(0, function()
    for from = 0, cards - 1 do
        for node = 0, nodes - 1 do
            for to = 0, cards - 1 do send(from, node, to) end
        end
    end
    all()
end)
)";

class cards_of_design : public testing::TestWithParam<const char*> {};

TEST_P(cards_of_design, reach_each_other_and_themselves_with_the_same_bytes_in_every_mode) {
    const program vinic;
    vinic.write("pairs.lua", pairs);
    const auto run = [&](const std::string& way) {
        const auto outcome = vinic.run(fmt::format(
            "run pairs.lua --design {} --set cards=2 --set topology=switch --reproducible --json - "
            "--stats --fingerprint {}",
            GetParam(), way));
        EXPECT_EQ(outcome.status, 0) << way << outcome.errors;
        return outcome.output;
    };
    const std::string plain = run("");
    const json result = json::parse(plain);
    EXPECT_EQ(result["results"].size(), 2u * 2 * 2) << "cards, nodes and cards";
    for (const char* agent : {"node0.agent.connections", "node0.agent1.connections"})
        // Of the two cards of node 0 each calls four, and is called by two.
        EXPECT_EQ(sum_of(result, agent), 4 + 2) << agent;
    for (const char* agent : {"node1.agent.connections", "node1.agent1.connections"})
        EXPECT_EQ(sum_of(result, agent), 2) << agent;
    for (const char* way : {"--lockstep", "--shuffle 3"}) EXPECT_EQ(run(way), plain) << way;
}

INSTANTIATE_TEST_SUITE_P(run, cards_of_design,
                         testing::Values("myvia", "myvia2", "gm_pci64b", "bvia", "firmvia", "xuni", "clan",
                                         "hvia_ge", "mvia_ge", "mvia_fe"));

class traces_of_cards : public testing::TestWithParam<const char*> {};

TEST_P(traces_of_cards, change_nothing_and_tell_cards_apart) {
    const program vinic;
    vinic.write("pairs.lua", pairs);
    const std::string run = fmt::format(
        "run pairs.lua --design {} --set cards=2 --set topology=switch --reproducible --stats --fingerprint",
        GetParam());
    const auto plain = vinic.run(run + " --json plain.json");
    ASSERT_EQ(plain.status, 0) << plain.errors;
    const auto traced =
        vinic.run(run +
                  " --json traced.json --account --wave w.vcd --gtkw w.gtkw --timeline t.json "
                  "--pcap p.pcapng --log l.log");
    ASSERT_EQ(traced.status, 0) << traced.errors;
    json with = json::parse(vinic.read("traced.json"));
    const json account = with["account"];
    with.erase("account");
    EXPECT_EQ(with, json::parse(vinic.read("plain.json")));

    // Two cards send to four each; what a card sends to itself passes no link.
    ASSERT_EQ(account.size(), 1u);
    EXPECT_EQ(account[0]["count_messages"], 2 * 4 - 2);
    double stages = 0, latency = 0;
    for (const json& s : account[0]["stages"])
        (s["stage"] == "latency" ? latency : stages) += s["mean_ps"].get<double>();
    EXPECT_GT(latency, 0);
    EXPECT_NEAR(stages, latency, 1);

    const auto contains = [&](const char* file, const std::string& text) {
        return vinic.read(file).find(text) != std::string::npos;
    };
    EXPECT_TRUE(contains("l.log", " node0.nic1."));
    EXPECT_TRUE(contains("w.vcd", "$scope module nic1 $end"));
    EXPECT_TRUE(contains("t.json", "\"nic1 wire to switch0 port 1\""));
    EXPECT_TRUE(contains("t.json", "\"wire to switch0 port 0\""));
    EXPECT_TRUE(contains("t.json", "\"nic1 VI 0 descriptors\""));
    EXPECT_TRUE(contains("p.pcapng", "outbound from node0.nic1, inbound from switch0 port 1"));
    for (const char* file : {"w.vcd", "t.json", "p.pcapng"})
        EXPECT_EQ(vinic.run(std::string("trace ") + file).status, 0) << file;
}

INSTANTIATE_TEST_SUITE_P(run, traces_of_cards, testing::Values("myvia", "xuni", "clan", "mvia_ge"));

// Instruction traces and windows name cores and clocks.
TEST(several_cards, have_cores_and_clocks_of_their_own) {
    const program vinic;
    vinic.write("open.lua", "description 'Opens'\nprocess(0, function() ok(VipOpenNic('nic1')) end)\n");
    // By then the image is loaded and the core runs.
    const auto outcome = vinic.run(
        "run open.lua --set cards=2 --itrace i.txt --itrace-node node0.nic1.lanai "
        "--itrace-from node0.nic1.clock@1000000 --itrace-to node0.nic1.clock@1000100 --wave w.vcd "
        "--wave-scope 'node0.nic1.*' --wave-from node0.nic1.clock@1000000 --wave-to "
        "node0.nic1.clock@1000100");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_NE(vinic.read("i.txt").find("node0.nic1.lanai"), std::string::npos);
    EXPECT_EQ(vinic.read("i.txt").find("node0.nic.lanai"), std::string::npos);
    EXPECT_NE(vinic.read("w.vcd").find("$scope module nic1 $end"), std::string::npos);
    EXPECT_EQ(vinic.read("w.vcd").find("$scope module nic $end"), std::string::npos);
}

TEST(several_cards, four_on_a_switch_of_a_users_own_list_and_a_device_too_many) {
    const program vinic;
    vinic.write("pairs.lua", pairs);
    vinic.write("four.yaml", R"(
base: clan
cards: 4
nodes: 1
topology:
  switches: {middle: 8}
  cables: [[node0, middle:3], [node0.nic1, middle:0], [node0.nic2, middle:5], [node0.nic3, middle:7]]
)");
    const auto outcome = vinic.run("run pairs.lua --json - --design four.yaml -- cards=4");
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(json::parse(outcome.output)["results"].size(), 4u * 4);
    vinic.write("devices.lua", R"(
description "Names of devices"
process(0, function()
    for _, name in ipairs { "nic", "nic0", "nic3", "VINIC1", "/dev/via_eth2", "/dev/clanvi3" } do
        check(VipOpenNic(name) == VIP_SUCCESS, name)
    end
    for _, name in ipairs { "nic4", "VINIC4", "/dev/clanvi17" } do
        check(VipOpenNic(name) == VIP_INVALID_PARAMETER, name)
    end
end)
)");
    EXPECT_EQ(vinic.run("run devices.lua --design four.yaml").status, 0);
}

// Back to back, each card has a cable to the other node's card of its number, and no way to others.
TEST(several_cards, cards_without_a_way_do_not_reach_each_other) {
    const program vinic;
    vinic.write("ways.lua", R"(
description "Who reaches whom"
process(0, function()
    for card = 0, 1 do
        local e = open_endpoint { bytes = 1, sends = 1, receives = 1, nic = ok(VipOpenNic("nic" .. card)) }
        local own = ok(VipNSGetHostByName(e.nic, "node1", 0))
        local other = ok(VipNSGetHostByName(e.nic, "node1", 1))
        own.discriminator, other.discriminator = "x", "x"
        local status = VipConnectRequest(e.vi, e:address("c"), own)
        check(status == VIP_NO_MATCH, "the own cable: " .. status_name(status))
        status = VipConnectRequest(e.vi, e:address("c"), other)
        check(status == VIP_NOT_REACHABLE, "no cable: " .. status_name(status))
    end
end)
process(1, function() for card = 0, 1 do ok(VipOpenNic("nic" .. card)) end end)
)");
    for (const char* design : {"myvia", "clan", "mvia_ge"}) {
        const auto outcome = vinic.run(
            fmt::format("run ways.lua --set cards=2 --set topology=back_to_back --design {}", design));
        EXPECT_EQ(outcome.status, 0) << design << outcome.errors;
    }
}

// facts/vipl.md 4.2: handles belong to the NIC that they were made with.
TEST(several_cards, memory_is_registered_for_one_of_them) {
    const program vinic;
    vinic.write("memory.lua", R"(
description "Handles of the other card"
process(0, function()
    local first, second = ok(VipOpenNic("nic0")), ok(VipOpenNic("nic1"))
    local a, b = ok(VipCreatePtag(first)), ok(VipCreatePtag(second))
    local m = memory(8192, 4096)
    local handle = ok(VipRegisterMem(first, m, { Ptag = a }))
    check(VipDeregisterMem(second, m, handle) == VIP_INVALID_PARAMETER, "deregistered by the other card")
    check(VipRegisterMem(second, m, { Ptag = a }) == VIP_INVALID_PTAG, "a tag of the other card")
    check(VipDestroyPtag(second, a) ~= VIP_SUCCESS, "a tag destroyed by the other card")
    local other = ok(VipRegisterMem(second, m, { Ptag = b }))
    ok(VipDeregisterMem(first, m, handle))
    ok(VipDeregisterMem(second, m, other))
end)
)");
    const auto outcome = vinic.run("run memory.lua --set cards=2");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
}

TEST(several_cards, parameters_of_all_or_of_one) {
    const auto value_of = [](const std::string& settings, const std::string& name) {
        const program vinic;
        vinic.write("p.yaml", "base: myvia\ncards: 2\n" + settings);
        const auto outcome = vinic.run("params '" + name + "' --design p.yaml --json -");
        EXPECT_EQ(outcome.status, 0) << outcome.errors;
        std::string all;
        const json reply = json::parse(outcome.output);
        for (const json& p : reply["parameters"])
            all += p["parameter"].get<std::string>() + "=" + p["value"].get<std::string>() + " ";
        return all;
    };
    EXPECT_EQ(value_of("nic.lanai.clock_mhz: 66\n", "lanai.clock_mhz"),
              "node0.nic.lanai.clock_mhz=66 node0.nic1.lanai.clock_mhz=66 "
              "node1.nic.lanai.clock_mhz=66 node1.nic1.lanai.clock_mhz=66 ");
    EXPECT_EQ(value_of("nic.lanai.clock_mhz: 66\nnic1.lanai.clock_mhz: 33\n", "node0.*lanai.clock_mhz"),
              "node0.nic.lanai.clock_mhz=66 node0.nic1.lanai.clock_mhz=33 ");
}

TEST(several_cards, share_a_stream) {
    const json result = result_of(
        "stream --set cards=2 --json - --stats --design xuni -- cards=2 sizes=4096 "
        "count=100 warmup=20 verify=true");
    for (const char* agent : {"node0.agent.connections", "node0.agent1.connections"})
        EXPECT_EQ(sum_of(result, agent), 1) << agent;
    EXPECT_EQ(program().run("run stream -- cards=2").status, 2);
    EXPECT_EQ(program().run("run stream --design udp_ge --set cards=2 -- cards=2").status, 2);
}

TEST(several_cards, bad_input_is_one_line) {
    const program vinic;
    const auto complaint = [&](const std::string& arguments) {
        const auto outcome = vinic.run("run pingpong " + arguments);
        EXPECT_EQ(outcome.status, 2) << outcome.errors;
        return outcome.errors;
    };
    EXPECT_NE(complaint("--set cards=5").find("--set: cards is '5': expected a number from 1 to 4"),
              std::string::npos);
    EXPECT_NE(complaint("--set cards=2 --nodes 5 --set topology=switch").find("8 ports"), std::string::npos);
    vinic.write(
        "t.yaml",
        "base: myvia\ncards: 2\ntopology:\n  switches: {left: 8}\n  cables: [[node0.nic2, left:0]]\n");
    EXPECT_NE(complaint("--design t.yaml")
                  .find("t.yaml:5: there is no node0.nic2: the number of cards of a node (key `cards`) is 2"),
              std::string::npos);
    vinic.write(
        "u.yaml",
        "base: myvia\ncards: 2\ntopology:\n  switches: {left: 8}\n  cables: [[node0.nix2, left:0]]\n");
    EXPECT_NE(complaint("--design u.yaml").find("'node0.nix2': expected an end such as node0, node0.nic1 or"),
              std::string::npos);
    EXPECT_NE(complaint("--set nic1.lanai.clock_mhz=66").find("no parameter is named 'nic1.lanai.clock_mhz'"),
              std::string::npos);
}

}  // namespace
}  // namespace vinic::testbench
