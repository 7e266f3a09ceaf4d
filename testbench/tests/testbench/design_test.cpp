// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/design.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "hw/sim/error.h"

namespace vinic::testbench {
namespace {

namespace fs = std::filesystem;

/// A folder for the design files of one test.
class design_test : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / fmt::format("vinic_design_{}", ::getpid());
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& text) {
        const fs::path file = folder_ / name;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
        return file.string();
    }
    /// The message of the input_error that loading gives, with the folder cut away.
    std::string error_of(const std::string& name, const std::string& text) {
        const std::string file = write(name, text);
        try {
            load_design(file).node_count();
        } catch (const sim::input_error& error) {
            std::string message = error.what();
            for (std::size_t at; (at = message.find(folder_.string() + "/")) != std::string::npos;)
                message.erase(at, folder_.string().size() + 1);
            return message;
        }
        return "no error";
    }

    fs::path folder_;
};

TEST_F(design_test, nested_and_dotted_names_are_the_same_parameter) {
    const design d = load_design(write("a.yaml",
                                       "description: two ways\n"
                                       "host:\n"
                                       "  cpu:\n"
                                       "    clock_mhz: {value: 550, source: a page}\n"
                                       "bus.width_bits: 64\n"));
    EXPECT_EQ(d.name, "a");
    EXPECT_EQ(d.description, "two ways");
    EXPECT_EQ(d.settings.at("host.cpu.clock_mhz").text, "550");
    EXPECT_EQ(d.settings.at("host.cpu.clock_mhz").source, "a page");
    EXPECT_EQ(d.settings.at("host.cpu.clock_mhz").origin, (folder_ / "a.yaml").string() + ":4");
    EXPECT_EQ(d.settings.at("bus.width_bits").origin, (folder_ / "a.yaml").string() + ":5");
}

TEST_F(design_test, own_values_replace_those_of_includes_and_those_of_the_base) {
    write("classes/bus.yaml", "bus: {width_bits: 32, clock_mhz: 33}\n");
    write("base.yaml", "bus: {width_bits: 16, clock_mhz: 16, free: true}\nnodes: 4\nname: old\n");
    const design d = load_design(
        write("own.yaml", "base: base\ninclude: [classes/bus]\nbus.clock_mhz: 66\nfirmware: ./fw\n"));
    EXPECT_EQ(d.name, "own");
    EXPECT_EQ(d.settings.at("bus.width_bits").text, "32");
    EXPECT_EQ(d.settings.at("bus.clock_mhz").text, "66");
    EXPECT_EQ(d.settings.at("bus.free").text, "true");
    EXPECT_EQ(d.node_count(), 4u);
    EXPECT_EQ(d.firmware->text, (folder_ / "./fw").string());
    ASSERT_EQ(d.files.size(), 3u);
    EXPECT_EQ(d.files.back(), folder_ / "own.yaml");
}

TEST_F(design_test, nodes_that_are_not_alike) {
    const design d =
        load_design(write("a.yaml", "host.cpu.clock_mhz: 500\nnode1: {host.cpu.clock_mhz: 100}\n"));
    EXPECT_EQ(d.settings.at("host.cpu.clock_mhz").text, "500");
    EXPECT_EQ(d.settings.at("node1.host.cpu.clock_mhz").text, "100");
}

TEST_F(design_test, topologies) {
    EXPECT_EQ(load_design(write("a.yaml", "topology: clos\n")).topology.shape.text, "clos");
    EXPECT_EQ(
        load_design(write("b.yaml", "topology: {shape: switch, switch_ports: 16}\n")).topology.switch_ports,
        16u);
    const topology_description list = load_design(write("c.yaml",
                                                        "topology:\n"
                                                        "  switches: {left: 4, right: 8}\n"
                                                        "  cables:\n"
                                                        "    - [node0, left:0]\n"
                                                        "    - [left:3, right:7]\n"))
                                          .topology;
    EXPECT_EQ(list.shape.text, "list");
    ASSERT_EQ(list.switches.size(), 2u);
    EXPECT_EQ(list.switches[1].name, "right");
    EXPECT_EQ(list.switches[1].ports, 8u);
    ASSERT_EQ(list.cables.size(), 2u);
    EXPECT_EQ(list.cables[1].from, "left:3");
    EXPECT_EQ(list.cables[1].to, "right:7");
}

TEST_F(design_test, command_line_settings_stand_above_those_of_files) {
    design d = load_design(write("a.yaml", "bus.width_bits: 64\n"));
    apply_setting(d, "bus.width_bits", "32");
    apply_setting(d, "nodes", "8");
    apply_setting(d, "topology", "switch");
    EXPECT_EQ(d.configuration().settings().at("bus.width_bits").text, "32");
    EXPECT_EQ(d.node_count(), 8u);
    EXPECT_EQ(d.topology.shape.text, "switch");
}

TEST_F(design_test, mistakes_are_one_line_with_file_and_line) {
    EXPECT_EQ(error_of("a.yaml", "nodes: 2\nfrimware: x\n"),
              "a.yaml:2: no key is named 'frimware'; did you mean 'firmware'?");
    EXPECT_EQ(error_of("b.yaml", "bus:\n  width_bits: {value: 64, sauce: x}\n"),
              "b.yaml:2: no key is named 'sauce'; did you mean 'source'?");
    EXPECT_EQ(error_of("c.yaml", "nodes: 0\n"), "c.yaml:1: nodes is '0': expected a number from 1 to 128");
    EXPECT_EQ(error_of("d.yaml", "nodes: two\n"),
              "d.yaml:1: nodes is 'two': expected a number from 1 to 128");
    EXPECT_EQ(error_of("e.yaml", "bus: {a: 1, b: 2}\nbus.a: 3\n"),
              "e.yaml:2: bus.a was given at e.yaml:1 already");
    EXPECT_EQ(error_of("f.yaml", "nodes: 2\nnodes: 3\n"), "f.yaml:2: nodes stands there twice");
    EXPECT_EQ(error_of("g.yaml", "base: g\n"), "g.yaml: builds on itself");
    EXPECT_EQ(
        error_of("h.yaml", "bus: [1, 2]\nnodes: 2\n"),
        "h.yaml:1: no key is named 'bus'; expected one of name, description, base, include, card, firmware, "
        "nodes, cards, topology, transport");
    EXPECT_EQ(error_of("i.yaml", "topology: {shape: switch, ports: 8}\n"),
              "i.yaml:1: no key is named 'ports'; expected one of shape, switch_ports, switches, cables");
    EXPECT_EQ(error_of("j.yaml", "topology: {cables: [[node0]]}\n"),
              "j.yaml:1: cables: expected two ends, as in [node0, switch0:1]");
    EXPECT_EQ(error_of("k.yaml", "- 1\n"), "k.yaml:1: expected keys and values, as in `nodes: 2`");
    EXPECT_EQ(error_of("l.yaml", "bus:\n  width_bits: [64]\n"),
              "l.yaml:2: bus.width_bits: expected a value or {value, source}");
    EXPECT_EQ(error_of("m.yaml", "nodes: 2\ninclude: nowhere\n").substr(0, 9), "m.yaml:2:");
    EXPECT_EQ(error_of("n.yaml", "nodes: {\n").substr(0, 7), "n.yaml:");
}

TEST_F(design_test, an_unknown_design_names_the_nearest) {
    try {
        load_design("myvai");
        FAIL();
    } catch (const sim::input_error& error) {
        EXPECT_STREQ(error.what(), "no design is named 'myvai'; did you mean 'myvia'?");
    }
}

}  // namespace
}  // namespace vinic::testbench
