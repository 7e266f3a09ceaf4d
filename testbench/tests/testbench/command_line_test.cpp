// SPDX-License-Identifier: Apache-2.0
// The program as users meet it: help, reference verbs, and every bad input: one clear line, status 2, nothing
// written.
#include <gtest/gtest.h>

#include <algorithm>

#include "testbench/report/json.h"
#include "testbench/report/sha256.h"
#include "testbench/tests/testbench/program.h"

namespace vinic::testbench {
namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Runs vinic and expects a refusal; returns what it said.
std::string refusal(const program& vinic, const std::string& arguments, bool one_line = true) {
    std::vector<fs::path> before(fs::directory_iterator(vinic.folder()), {});
    const auto outcome = vinic.run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments << "\n" << outcome.errors;
    EXPECT_EQ(outcome.output, "") << arguments;
    EXPECT_TRUE(outcome.errors.starts_with("vinic: ")) << outcome.errors;
    const auto lines = std::count(outcome.errors.begin(), outcome.errors.end(), '\n');
    if (one_line) {
        EXPECT_EQ(lines, 1) << outcome.errors;
    }
    std::vector<fs::path> after(fs::directory_iterator(vinic.folder()), {});
    EXPECT_EQ(before.size(), after.size()) << arguments << ": something was written";
    return outcome.errors;
}

TEST(command_line, version) {
    const auto outcome = program().run("--version");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_TRUE(outcome.output.starts_with("vinic 0.")) << outcome.output;
}

TEST(command_line, help_of_every_verb_shows_examples) {
    const program vinic;
    for (const char* verb :
         {"", "run ", "exec ", "designs ", "params ", "stats ", "firmware ", "firmware build ", "compare ",
          "study ", "study check ", "study run ", "study status ", "study show ", "study report ",
          "study export ", "study point ", "study diff "}) {
        const auto outcome = vinic.run(std::string(verb) + "--help");
        EXPECT_EQ(outcome.status, 0) << verb;
        EXPECT_TRUE(contains(outcome.output, "Examples:\n  vinic ")) << verb << outcome.output;
    }
}

TEST(command_line, shuffle_is_hidden) {
    EXPECT_FALSE(contains(program().run("run --help").output, "shuffle"));
}

// The registers of chips differ: what was made for one is not let onto another.
TEST(command_line, firmware_on_a_chip_that_it_does_not_run_on) {
    const program vinic;
    for (const std::string chip : {"lanai4", "lanai7"})
        EXPECT_EQ(refusal(vinic, "run pingpong --set nic.chip=" + chip),
                  "vinic: firmware myvia runs on lanai9, node0.nic has chip " + chip + "\n");
    EXPECT_EQ(vinic.run("run pingpong --set nic.chip=lanai9 -- sizes=8 count=1").status, 0);
}

TEST(command_line, designs_are_listed_with_a_line_each) {
    const auto outcome = program().run("designs");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_TRUE(contains(outcome.output, "myvia ")) << outcome.output;
    const json listed = json::parse(program().run("designs --json").output);
    EXPECT_TRUE(std::ranges::any_of(listed["designs"], [](const json& d) { return d["design"] == "myvia"; }));
}

TEST(command_line, parameters_show_value_and_where_it_came_from) {
    const program vinic;
    const json p = json::parse(vinic.run("params node0.nic.lanai.clock_mhz --json").output)["parameters"][0];
    EXPECT_EQ(p["value"], "133");
    EXPECT_EQ(p["unit"], "MHz");
    EXPECT_TRUE(contains(p["origin"].get<std::string>(), "lanai9_133.yaml:")) << p;
    const json set = json::parse(
        vinic.run("params node0.nic.lanai.clock_mhz --set nic.lanai.clock_mhz=200 --json").output);
    EXPECT_EQ(set["parameters"][0]["value"], "200");
    EXPECT_EQ(set["parameters"][0]["origin"], "--set");
    // Once for all nodes where they agree; each with its own name where they do not.
    const auto both = vinic.run("params nic.lanai.clock_mhz");
    EXPECT_TRUE(both.output.starts_with("nic.lanai.clock_mhz = 133 MHz\n    ")) << both.output;
    EXPECT_EQ(std::count(both.output.begin(), both.output.end(), '\n'), 3) << both.output;
    const auto unlike = vinic.run("params nic.lanai.clock_mhz --set node1.nic.lanai.clock_mhz=66");
    EXPECT_TRUE(contains(unlike.output, "node0.nic.lanai.clock_mhz = 133 MHz\n")) << unlike.output;
    EXPECT_TRUE(contains(unlike.output, "node1.nic.lanai.clock_mhz = 66 MHz\n")) << unlike.output;
}

TEST(command_line, statistics_are_listed) {
    const auto outcome = program().run("stats node0.nic");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_TRUE(contains(outcome.output, "node0.nic.")) << outcome.output;
    EXPECT_FALSE(contains(outcome.output, "node1.")) << outcome.output;
}

TEST(command_line, firmware_is_shown_with_source_lines) {
    const auto outcome = program().run("firmware myvia");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_TRUE(contains(outcome.output, ".text")) << outcome.output.substr(0, 500);
    EXPECT_TRUE(contains(outcome.output, "firmware/runtime/crt0.s:")) << outcome.output.substr(0, 500);
    EXPECT_TRUE(contains(outcome.output, "firmware/myvia/")) << outcome.output.substr(0, 500);
}

TEST(command_line, firmware_of_some_functions) {
    const program vinic;
    const json all = json::parse(vinic.run("firmware myvia --json").output)["functions"];
    const auto some = vinic.run("firmware myvia --function main --json");
    const json functions = json::parse(some.output)["functions"];
    ASSERT_EQ(functions.size(), 1u) << some.output;
    EXPECT_EQ(functions[0]["function"], "main");
    EXPECT_GT(all.size(), 5u);
    const auto text = vinic.run("firmware myvia --function 'mai?'");
    EXPECT_TRUE(contains(text.output, "\nmain:\n")) << text.output;
    EXPECT_FALSE(contains(text.output, "crt0.s:")) << text.output;
    EXPECT_TRUE(contains(refusal(vinic, "firmware myvia --function nothing"), "--function nothing"));
}

TEST(command_line, arguments_of_a_workload_are_listed) {
    for (const char* how : {"run pingpong --help-workload", "run pingpong -- help", "run echo -- help"}) {
        const auto outcome = program().run(how);
        EXPECT_EQ(outcome.status, 0) << outcome.errors;
        EXPECT_TRUE(contains(outcome.output, "count")) << outcome.output;
        EXPECT_TRUE(contains(outcome.output, "100")) << outcome.output;
    }
}

TEST(command_line, compare_goes_by_the_tolerance) {
    const program vinic;
    vinic.write("a.json", R"({"format":"vinic result 1","results":[{"size_bytes":8,"latency_us":8.0}]})");
    vinic.write("b.json", R"({"format":"vinic result 1","results":[{"size_bytes":8,"latency_us":8.4}]})");
    EXPECT_EQ(vinic.run("compare a.json b.json").status, 0);
    EXPECT_EQ(vinic.run("compare a.json b.json --tolerance 6").status, 0);  // 8.4 / 8 = 1.05
    EXPECT_EQ(vinic.run("compare a.json b.json --tolerance 4").status, 1);
    EXPECT_EQ(vinic.run("compare a.json a.json --tolerance 0").status, 0);
    EXPECT_EQ(json::parse(vinic.run("compare a.json b.json --json").output)["results"][0]["ratio"],
              8.4 / 8.0);
    EXPECT_TRUE(contains(vinic.run("compare a.json b.json").output, "1.0500"));
}

TEST(bad_input, verbs_and_options) {
    const program vinic;
    EXPECT_TRUE(contains(refusal(vinic, ""), "expected a verb"));
    EXPECT_TRUE(contains(refusal(vinic, "rum pingpong"), "no verb is named 'rum'; did you mean 'run'?"));
    EXPECT_TRUE(
        contains(refusal(vinic, "run pingpong --sead 3"), "run has no option --sead; did you mean --seed?"));
    refusal(vinic, "run");
    refusal(vinic, "run pingpong --seed x");
    for (const char* seed : {"-1", "0x10", "18446744073709551616", "1.5"})
        EXPECT_TRUE(contains(refusal(vinic, std::string("run pingpong --seed=") + seed), "whole number"));
    refusal(vinic, "run pingpong --fingerprint=-");
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --until 9300000s"), "is no time"));  // 9.3e18 ps
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --until 10"), "'10' is no time"));
    EXPECT_TRUE(contains(refusal(vinic, "--json"), "vinic itself has no option --json"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong more"), "run: did not expect more"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --stats s.xml"),
                         "--stats s.xml: expected a name that ends in .csv or .json or .txt"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --timeline-limit 3"), "requires --timeline"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --itrace-from 1us"), "requires --itrace"));
    for (const char* number : {"0", "-1", "x", "1.5", "18446744073709551616", "' '"})
        EXPECT_TRUE(contains(refusal(vinic, std::string("run pingpong --account-message ") + number),
                             "is no number from 1 on"));
    for (const char* option : {"--until", "--stats --stats-every", "--itrace i.txt --itrace-to"})
        EXPECT_TRUE(
            contains(refusal(vinic, std::string("run pingpong ") + option + " 10"),
                     std::string(option).substr(std::string(option).rfind("--")) + ": '10' is no time"));
    // A variable of the shell that was not set.
    for (const char* option : {"--wave", "--log", "--pcap", "--timeline", "--itrace", "--svg",
                               "--wave w.vcd --wave-from", "--log l --log-to", "--wave w.vcd --gtkw"})
        EXPECT_TRUE(contains(refusal(vinic, std::string("run pingpong ") + option + " ''"), ", not nothing"));
    EXPECT_TRUE(
        contains(refusal(vinic, "run pingpong --svg s.svg --until 1us"), "--svg: no message arrived"));
}

TEST(bad_input, names) {
    const program vinic;
    EXPECT_TRUE(contains(refusal(vinic, "run pingpang"),
                         "no workload is named 'pingpang'; did you mean 'pingpong'?"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --design myvai"),
                         "no design is named 'myvai'; did you mean 'myvia'?"));
    EXPECT_TRUE(contains(refusal(vinic, "run ./nothing.lua"), "./nothing.lua"));
    EXPECT_TRUE(
        contains(refusal(vinic, "run pingpong --set nic.lanai.clock_mzh=3"),
                 "--set: no parameter is named 'nic.lanai.clock_mzh'; did you mean 'nic.lanai.clock_mhz'?"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong -- cuont=3"),
                         "has no argument 'cuont'; did you mean 'count'?"));
    EXPECT_TRUE(contains(refusal(vinic, "params nothing.like.this"), "no parameter matches"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --set topology=ring"), "ring"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --itrace i.txt --itrace-node node7"),
                         "--itrace-node node7: no core matches"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --wave w.vcd --itrace i.txt --itrace-function mian"),
                         "--itrace-function mian: the firmware has no such function; did you mean 'main'?"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --design clan --wave w.vcd --itrace i.txt"),
                         "run no firmware"));
}

TEST(bad_input, values) {
    const program vinic;
    EXPECT_TRUE(
        contains(refusal(vinic, "run pingpong --set nic.lanai.clock_mhz=fast"), "nic.lanai.clock_mhz"));
    EXPECT_TRUE(
        contains(refusal(vinic, "run pingpong --set nic.lanai.clock_mhz=99999"), "nic.lanai.clock_mhz"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --set nic.lanai.clock_mhz=-1"), "nic.lanai.clock_mhz"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --set nic.lanai.clock_mhz"), "expected name=value"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --nodes 0"), "expected a number from 1 to 128"));
    refusal(vinic, "run pingpong --nodes -1");
    for (const char* workload : {"pingpong", "stream", "rate", "bidirectional", "all_to_all"})
        EXPECT_TRUE(contains(refusal(vinic, std::string("run --nodes 1 ") + workload),
                             "the workload needs 2 nodes or more, the platform has 1 (--nodes)"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong -- count=none"),
                         "argument count=none: expected a whole number"));
    for (const char* workload : {"pingpong", "stream", "rate", "bidirectional", "all_to_all"}) {
        const std::string run = std::string("run ") + workload + " --json out.json -- ";
        EXPECT_TRUE(contains(refusal(vinic, run + "reliability=foo"),
                             "reliability=foo: expected one of unreliable, delivery, reception"));
        EXPECT_TRUE(contains(refusal(vinic, run + "sizes=-1"), "expected 0 to 65536"));
        EXPECT_TRUE(contains(refusal(vinic, run + "sizes=8,65537"), "expected 0 to 65536"));
        EXPECT_TRUE(contains(refusal(vinic, run + "sizes="), "at least one whole number"));
    }
    refusal(vinic, "run pingpong --nodes 3 --set topology=back_to_back");
}

TEST(bad_input, design_files) {
    const program vinic;
    vinic.write("d.yaml", "base: myvia\nnic:\n  lanai.clock_mhz: 66\n  lanai.clock_mzh: 66\n");
    EXPECT_TRUE(contains(
        refusal(vinic, "run pingpong --design d.yaml"),
        "d.yaml:4: no parameter is named 'nic.lanai.clock_mzh'; did you mean 'nic.lanai.clock_mhz'?"));
    vinic.write("e.yaml", "base: myvia\nnode7: {nic.lanai.clock_mhz: 66}\n");
    EXPECT_TRUE(
        contains(refusal(vinic, "run pingpong --design e.yaml"), "e.yaml:2: no parameter is named 'node7."));
    vinic.write("f.yaml", "base: myvia\ntopology: {cables: [[node0, left:0]]}\n");
    EXPECT_TRUE(
        contains(refusal(vinic, "run pingpong --design f.yaml"), "f.yaml:2: no switch is named 'left'"));
    vinic.write("two.yaml", "base: myvia\n---\nnodes: 3\n");
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --design two.yaml"), "two.yaml: holds 2 documents"));
    vinic.write("circle.yaml", "base: myvia\nnic: &again {lanai: *again}\n");
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --design circle.yaml"), "does an alias hold itself?"));
    vinic.write("ports.yaml", "base: myvia\ntopology: {switches: {s: 65}, cables: [[node0, s:0]]}\n");
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --design ports.yaml"), "ports, 1 to 64"));
    vinic.write("more.yaml", "base: myvia\ntopology: {shape: switch, switch_ports: 4294967296}\n");
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --design more.yaml"), "from 2 to 64"));
}

TEST(bad_input, scripts) {
    const program vinic;
    vinic.write("load.lua", "local x = 1\nerror('at load')\n");
    const std::string load = refusal(vinic, "run load.lua --json out.json", false);
    EXPECT_TRUE(contains(load, "load.lua:2: at load\nstack traceback:")) << load;
    vinic.write("syntax.lua", "x = = 1\n");
    EXPECT_TRUE(contains(refusal(vinic, "run syntax.lua", false), "syntax.lua:1:"));
    vinic.write(
        "late.lua",
        "process(0, function()\n  local function f()\n    error('at run time')\n  end\n  f()\nend)\n");
    const std::string late = refusal(vinic, "run late.lua --json out.json", false);
    EXPECT_TRUE(contains(late, "late.lua:3: at run time\nstack traceback:")) << late;
    EXPECT_TRUE(contains(late, "late.lua:5: in function")) << late;
}

// An error may be any value: its own text is shown, never an address.
TEST(bad_input, scripts_whose_error_is_no_text) {
    const program vinic;
    const std::pair<const char*, const char*> errors[] = {
        {"{code = 1}", "error object is a table value"},
        {"nil", "error object is a nil value"},
        {"setmetatable({}, {__tostring = function() return 'out of cells' end})", "out of cells"},
        {"setmetatable({}, {__tostring = function() error('again') end})", "error object is a table value"},
        {"setmetatable({}, {__tostring = 7})", "error object is a table value"}};
    for (const auto& [error, says] : errors)
        for (const auto& [begin, end] : {std::pair("", ""), std::pair("process(0, function() ", " end)")}) {
            vinic.write("odd.lua", begin + std::string("error(") + error + ")" + end + "\n");
            const std::string said = refusal(vinic, "run odd.lua", false);
            EXPECT_TRUE(contains(said, says)) << error << ": " << said;
            EXPECT_FALSE(contains(said, "0x")) << error << ": " << said;
        }
}

TEST(bad_input, scripts_that_collect_without_end) {
    const program vinic;
    const std::string collect =
        "local all = {}\nwhile true do all[#all + 1] = string.rep('x', 1 << 20) .. #all end\n";
    vinic.write("load.lua", collect);
    EXPECT_TRUE(contains(refusal(vinic, "run load.lua"), "load.lua: the script uses more than 1024 MiB"));
    vinic.write("late.lua", "process(0, function()\n" + collect + "end)\n");
    EXPECT_TRUE(contains(refusal(vinic, "run late.lua"), "the script uses more than 1024 MiB of memory"));
}

TEST(bad_input, numbers_out_of_bounds) {
    const program vinic;
    vinic.write("load.lua",
                "argument { name = 'load', default = 0.5, min = 0.25, max = 1, help = 'Share of the link' }\n"
                "argument { name = 'gap', default = 1.5, min = 0, help = 'Pause' }\n"
                "process(0, function() end)\n");
    EXPECT_EQ(vinic.run("run load.lua -- load=0.25 gap=1e300").status, 0);
    for (const char* value : {"load=0.2", "load=1.5", "load=nan", "load=-inf"})
        EXPECT_TRUE(
            contains(refusal(vinic, std::string("run load.lua -- ") + value), "expected 0.25 to 1 ("));
    EXPECT_TRUE(contains(refusal(vinic, "run load.lua -- gap=-0.5"), "expected 0 or more ("));
}

TEST(command_line, names_that_are_no_utf8_still_give_json) {
    const program vinic;
    vinic.write("caf\xe9.yaml", "base: myvia\n");
    const auto outcome = vinic.run("params bus.kind --design caf\xe9.yaml --json");
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(json::parse(outcome.output)["design"], "caf\xef\xbf\xbd");
}

TEST(bad_input, topology_speaks_of_the_users_switches) {
    const program vinic;
    const auto complaint = [&](const std::string& cables) {
        vinic.write("t.yaml",
                    "base: myvia\ntopology:\n  switches: {left: 8, right: 8}\n  cables: [" + cables + "]\n");
        return refusal(vinic, "run pingpong --design t.yaml");
    };
    EXPECT_TRUE(contains(complaint("[node0, left:0], [node1, left:1]"),
                         "switch right cannot be reached from "
                         "switch left"));
    EXPECT_TRUE(contains(complaint("[node0, left:0], [node1, right:9], [left:7, right:7]"),
                         "there is no switch right port 9"));
    EXPECT_TRUE(contains(complaint("[node0, right:0], [node1, right:0], [left:7, right:7]"),
                         "switch right port 0 has more than one cable"));
}

TEST(bad_input, firmware) {
    const program vinic;
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --set firmware=./missing.elf"), "missing.elf"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --set firmware=myvai"), "did you mean 'myvia'?"));
    vinic.write("text.elf", "no ELF at all");
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --set firmware=./text.elf"), "text.elf"));
    vinic.write("foreign.elf", read_file("/proc/self/exe"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --set firmware=./foreign.elf"), "foreign.elf"));
    // MyVIA's interface, and more variables than the smallest SRAM that a card can have.
    vinic.write("fw/main.cpp",
                "volatile char room[300000];\n"
                "extern \"C\" volatile int card_interface[64];\n"
                "extern \"C\" int main() { for (;;) room[card_interface[0]] = room[1]; }\n"
                "volatile int card_interface[64] = {1};\n");
    ASSERT_EQ(vinic.run("firmware build fw -o large.elf").status, 0);
    EXPECT_TRUE(
        contains(refusal(vinic, "run pingpong --set firmware=./large.elf --set nic.sram.bytes=262144"),
                 "bytes of SRAM, node0.nic has 262144"));
    vinic.write("cpp/main.cpp", "int main() { for (;;) {} }\n");
    EXPECT_TRUE(
        contains(refusal(vinic, "firmware build cpp -o cpp.elf"), "starts at `extern \"C\" int main()`"));
    // Its own headers come before vinic's, wherever they are included from.
    vinic.write("own/main.cpp",
                "#include \"firmware/abi/lanai9.h\"\nextern \"C\" int main() { return own; }\n");
    vinic.write("own/firmware/abi/lanai9.h", "#include \"firmware/myvia/own.h\"\n");
    vinic.write("own/firmware/myvia/own.h", "inline constexpr int own = 1;\n");
    EXPECT_EQ(vinic.run("firmware build own -o own.elf").status, 0);
    EXPECT_TRUE(contains(refusal(vinic, "firmware nothing"), "no design is named 'nothing'"));
    EXPECT_TRUE(contains(refusal(vinic, "firmware build missing_folder -o x.elf"), "missing_folder"));
}

TEST(bad_input, outputs) {
    const program vinic;
    for (const char* option : {"--json no/such/folder.json", "--wave no/such/folder.vcd",
                               "--log no/such/folder.log", "--profile no/such/folder.txt"})
        EXPECT_TRUE(
            contains(refusal(vinic, std::string("run pingpong ") + option), "cannot write no/such/folder"));
    const std::pair<const char*, const char*> files[] = {{"--wave", ".vcd"},    {"--log", ".log"},
                                                         {"--pcap", ".pcapng"}, {"--timeline", ".json"},
                                                         {"--itrace", ".txt"},  {"--svg", ".svg"}};
    for (const auto& [option, suffix] : files) {
        const std::string loop = std::string("loop") + suffix;
        fs::create_symlink(loop, vinic.folder() / loop);
        for (const std::string& place : {loop, std::string(300, 'a') + suffix})
            EXPECT_TRUE(contains(refusal(vinic, std::string("run pingpong ") + option + " " + place),
                                 "cannot write " + place));
    }
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --pcap a.pcap"), "the name ends in .pcapng"));
    EXPECT_FALSE(vinic.has("a.pcap"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --wave a.vcd --itrace i --itrace-from mesage:1"),
                         "--itrace-from mesage:1: "));
    EXPECT_FALSE(vinic.has("a.vcd") || vinic.has("i"));
    EXPECT_TRUE(contains(refusal(vinic, "run pingpong --wave a.vcd --log ./a.vcd"),
                         "--wave and --log would both write ./a.vcd"));
}

// What is there and no file stays what it is; a symbolic link still points where it did.
TEST(command_line, results_go_through_links_and_into_devices) {
    const program vinic;
    fs::create_symlink("/dev/full", vinic.folder() / "full.json");
    fs::create_symlink("/dev/null", vinic.folder() / "null.json");
    vinic.write("there/file.json", "old");
    fs::create_symlink("there/file.json", vinic.folder() / "link.json");
    EXPECT_TRUE(contains(refusal(vinic, "designs --json full.json"), "cannot write full.json"));
    EXPECT_EQ(vinic.run("designs --json null.json").status, 0);
    EXPECT_EQ(vinic.run("designs --json link.json").status, 0);
    for (const char* link : {"full.json", "null.json", "link.json"})
        EXPECT_TRUE(fs::is_symlink(vinic.folder() / link)) << link;
    EXPECT_FALSE(json::parse(vinic.read("there/file.json"))["designs"].empty());
}

TEST(bad_input, results_to_compare) {
    const program vinic;
    vinic.write("a.json", R"({"format":"vinic result 1","results":[]})");
    vinic.write("b.json", "{}");
    EXPECT_TRUE(contains(refusal(vinic, "compare a.json b.json"), "b.json: no result of vinic"));
    EXPECT_TRUE(contains(refusal(vinic, "compare a.json c.json"), "cannot read c.json"));
}

}  // namespace
}  // namespace vinic::testbench
