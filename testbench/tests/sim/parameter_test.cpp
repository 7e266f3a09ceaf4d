// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/parameter.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw/sim/card_name.h"
#include "hw/sim/error.h"
#include "hw/sim/parameter_check.h"
#include "hw/sim/simulation.h"

namespace vinic::sim {
namespace {

struct block : module {
    explicit block(const sc_core::sc_module_name& name) : module(name, "kind") {}
    parameter<std::uint64_t> width_bits{
        *this, {.name = "width_bits", .unit = "bit", .value = 32, .choices = {32, 64}, .help = "data path"}};
    parameter<std::uint64_t> depth{*this,
                                   {.name = "depth", .value = 4, .min = 1, .max = 16, .help = "entries"}};
    parameter<double> loss{*this, {.name = "loss", .value = 0, .min = 0, .max = 1}};
    parameter<bool> free{*this, {.name = "free"}};
};

struct node : module {
    explicit node(const sc_core::sc_module_name& name) : module(name) {}
    block b{"block"};
};

configuration with(std::initializer_list<std::pair<std::string, std::string>> settings) {
    configuration config;
    for (const auto& [name, text] : settings)
        config.set(name, {.text = text, .origin = "--set", .source = ""});
    return config;
}

TEST(parameter, default_then_every_node_then_one_node) {
    simulation s(with({{"kind.depth", "3"}, {"block.width_bits", "64"}, {"node1.block.depth", "9"}}));
    node a("node0");
    node b("node1");
    EXPECT_EQ(a.b.width_bits, 64u);
    EXPECT_EQ(a.b.depth, 3u);
    EXPECT_EQ(b.b.depth, 9u);
    EXPECT_EQ(a.b.loss, 0.0);
    s.config().check_all_consumed();
}

/// A node with three cards.
struct machine : module {
    explicit machine(const sc_core::sc_module_name& name) : module(name) {}
    block first{"nic"}, second{"nic1"}, third{"nic2"}, driver{"driver1"}, agent{"agent1"}, other{"block1"};
};

TEST(parameter, of_one_card_then_of_that_card_of_every_node_then_of_every_card) {
    simulation s(with({{"nic.depth", "3"},
                       {"nic1.depth", "5"},
                       {"node1.nic1.depth", "7"},
                       {"node1.nic.depth", "9"},
                       {"driver.depth", "11"},
                       {"agent.depth", "13"}}));
    machine a("node0");
    machine b("node1");
    EXPECT_EQ(a.first.depth, 3u);
    EXPECT_EQ(a.second.depth, 5u);
    EXPECT_EQ(a.third.depth, 3u);
    EXPECT_EQ(b.first.depth, 9u);
    EXPECT_EQ(b.second.depth, 7u);
    EXPECT_EQ(b.third.depth, 3u) << "node1.nic is its first card, and no other";
    EXPECT_EQ(a.driver.depth, 11u);
    EXPECT_EQ(a.agent.depth, 13u);
    EXPECT_EQ(a.other.depth, 4u);
    s.config().check_all_consumed();
}

TEST(parameter, a_name_for_every_card_alone_does_for_numbers_too) {
    EXPECT_EQ(without_card("node3.nic1.lanai.clock_mhz"), "nic.lanai.clock_mhz");
    EXPECT_EQ(without_card("node3.nic.lanai"), "nic.lanai");
    EXPECT_EQ(without_card("driver12"), "driver");
    EXPECT_EQ(without_card("agent1.vi0.state"), "agent.vi0.state");
    EXPECT_EQ(without_card("nice1.lanai"), "nice1.lanai");
    EXPECT_EQ(without_card("node0.host.cpu"), "host.cpu");
}

std::string error_of(std::initializer_list<std::pair<std::string, std::string>> settings) {
    simulation s(with(settings));
    try {
        node a("node0");
        s.config().check_all_consumed();
    } catch (const input_error& error) {
        return error.what();
    }
    return "";
}

TEST(parameter, its_declaration_refuses_what_it_refuses_itself) {
    const std::vector<std::string> texts{"",   "x",  "-1", "0",    "1",    "1.0", "1.5",  "16",
                                         "17", "32", "64", "0x40", "true", "off", "1e-3", "1 "};
    for (const char* name : {"width_bits", "depth", "loss", "free"})
        for (const auto& text : texts) {
            const std::string own = error_of({{std::string("block.") + name, text}});
            simulation s;
            node a("node0");
            const auto& all = s.config().parameters();
            const auto declared =
                std::ranges::find(all, std::string("node0.block.") + name, &parameter_info::name);
            ASSERT_NE(declared, all.end());
            const std::string refused = refusal_of(*declared, text);
            EXPECT_EQ(own, refused.empty() ? "" : "--set: " + refused);
        }
}

TEST(parameter, wrong_values_name_the_place_and_what_was_expected) {
    EXPECT_EQ(error_of({{"block.depth", "x"}}), "--set: node0.block.depth = 'x': expected integer 1 to 16");
    EXPECT_EQ(error_of({{"block.depth", "17"}}),
              "--set: node0.block.depth = 17 is out of range: expected 1 to 16");
    EXPECT_EQ(error_of({{"block.depth", "-1"}}), "--set: node0.block.depth = '-1': expected integer 1 to 16");
    EXPECT_EQ(error_of({{"block.width_bits", "16"}}),
              "--set: node0.block.width_bits = 16 is out of range: expected 32, 64 in bit");
    EXPECT_EQ(error_of({{"block.free", "maybe"}}),
              "--set: node0.block.free = 'maybe': expected bool true, false");
    EXPECT_EQ(error_of({{"block.loss", "nan"}}),
              "--set: node0.block.loss = nan is out of range: expected 0 to 1");
}

TEST(parameter, a_name_that_nobody_consumed_is_an_error_with_the_nearest) {
    EXPECT_EQ(error_of({{"block.dept", "4"}}),
              "--set: no parameter is named 'block.dept'; did you mean 'block.depth'?");
    EXPECT_EQ(error_of({{"node7.block.depth", "4"}}),
              "--set: no parameter is named 'node7.block.depth'; did you mean 'node0.block.depth'?");
}

}  // namespace
}  // namespace vinic::sim
