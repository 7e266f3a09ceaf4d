// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/instruction_trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "hw/sim/error.h"
#include "hw/sim/simulation.h"

namespace vinic::testbench {
namespace {

/// The first word and the core of each line.
std::vector<std::string> lines_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::vector<std::string> all;
    std::string at, cycle, core, rest;
    while (in >> at >> cycle >> core && std::getline(in, rest)) all.push_back(at + ' ' + core);
    return all;
}

// Where a stretch of simulation ends is the machine's affair: the same lines in the same order come out.
TEST(instruction_trace, the_end_of_a_stretch_reaches_no_line) {
    const linker::image image(VINIC_BINARY_DIR "/share/vinic/firmware/myvia.elf");
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "instruction_trace.txt";
    const lanai::instruction_record nothing{};
    {
        const sim::simulation s;
        instruction_trace trace(file, image, {"node0", "node1"}, {}, {});
        const auto flush = [&](sim::picoseconds before) {
            trace.give(trace.take());
            trace.flush(before);
        };
        trace.add(1, 10, nothing);
        flush(10);
        trace.add(0, 10, nothing);
        trace.add(0, 12, nothing);
        flush(12);
        trace.finish(12);
    }
    EXPECT_EQ(lines_of(file), (std::vector<std::string>{"10 node0", "10 node1", "12 node0"}));
    std::filesystem::remove(file);
}

struct firmware_block : sim::module {
    static constexpr const char* functions[] = {"-", "main", "receive"};
    explicit firmware_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::value_probe function{*this, "function", 16, "function", functions};
};
struct card_block : sim::module {
    explicit card_block(const sc_core::sc_module_name& name) : module(name) {}
    firmware_block lanai{"lanai"};
};

// The window opens with what a probe reports, a stretch after the instructions that it decides on.
TEST(instruction_trace, shows_what_issues_in_its_window) {
    const linker::image image(VINIC_BINARY_DIR "/share/vinic/firmware/myvia.elf");
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "itrace_window.txt";
    const lanai::instruction_record nothing{};
    {
        sim::simulation s;
        card_block card("node0");
        using traces::happening;
        instruction_trace trace(
            file, image, {"node0.lanai"}, {},
            {happening{happening::kind::function, 1, "receive", 0}, sim::picoseconds{40}});
        const auto flush = [&](sim::picoseconds before) {
            trace.give(trace.take());
            trace.flush(before);
        };
        for (const sim::picoseconds at : {10, 20, 30}) trace.add(0, at, nothing);
        flush(31);
        card.lanai.function.set(20, 2);
        for (const sim::picoseconds at : {40, 50}) trace.add(0, at, nothing);
        flush(60);
        trace.finish(60);
    }
    EXPECT_EQ(lines_of(file),
              (std::vector<std::string>{"20 node0.lanai", "30 node0.lanai", "40 node0.lanai"}));
    std::filesystem::remove(file);
}

TEST(instruction_trace, shows_cores_and_addresses_that_are_wanted) {
    const linker::image image(VINIC_BINARY_DIR "/share/vinic/firmware/myvia.elf");
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "itrace_filter.txt";
    const std::uint32_t main = image.address_of("main").value();
    {
        const sim::simulation s;
        const instruction_filter filter{.cores = {"node1"},
                                        .functions = {"main"},
                                        .addresses = {fmt::format("{:#x}-{:#x}", main, main + 4)}};
        instruction_trace trace(file, image, {"node0.nic.lanai", "node1.nic.lanai"}, filter, {});
        for (std::size_t core = 0; core < 2; ++core)
            for (std::uint32_t n = 0; n < 3; ++n) {
                lanai::instruction_record r{};
                r.pc = main + 4 * n;
                trace.add(core, 10 + n, r);
            }
        trace.give(trace.take());
        trace.finish(20);
    }
    EXPECT_EQ(lines_of(file), (std::vector<std::string>{"10 node1.nic.lanai", "11 node1.nic.lanai"}));
    std::filesystem::remove(file);
}

TEST(instruction_trace, refuses_filters_that_let_nothing_through) {
    const linker::image image(VINIC_BINARY_DIR "/share/vinic/firmware/myvia.elf");
    const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "itrace_nothing.txt";
    const sim::simulation s;
    const auto refusal = [&](const instruction_filter& filter) -> std::string {
        try {
            instruction_trace(file, image, {"node0.nic.lanai"}, filter, {});
        } catch (const sim::input_error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal({.cores = {"nodo0"}}), "--itrace-node nodo0: no core matches; did you mean 'node0'?");
    EXPECT_EQ(refusal({.functions = {"mian"}}),
              "--itrace-function mian: the firmware has no such function; did you mean 'main'?");
    EXPECT_EQ(refusal({.addresses = {"0x7ffffff0"}}),
              "--itrace-address 0x7ffffff0: no function of the firmware lies there");
    EXPECT_EQ(refusal({.addresses = {"4096"}}),
              "--itrace-address 4096: expected addresses of instructions, as in 0x1234 or 0x1234-0x1300");
    EXPECT_EQ(refusal({.addresses = {"0x20-0x10"}}), "--itrace-address 0x20-0x10: ends before it begins");
    EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace vinic::testbench
