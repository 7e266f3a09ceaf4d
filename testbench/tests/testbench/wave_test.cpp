// SPDX-License-Identifier: Apache-2.0
// Waveforms of whole runs, read back: they agree with the model, with each other and with GTKWave's tools.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <ostream>
#include <set>

#include "hw/bus/checker.h"
#include "testbench/report/json.h"
#include "testbench/tests/testbench/program.h"
#include "traces/waveform.h"

namespace vinic::testbench {
namespace {

using traces::waveform;

/// Digits of 0, 1, z and x as two numbers.
struct lines {
    std::uint64_t bits = 0, floating = 0;
};
lines lines_of(const std::string& digits) {
    lines l;
    for (const char digit : digits) {
        l.bits = l.bits << 1 | (digit == '1' ? 1 : 0);
        l.floating = l.floating << 1 | (digit == 'z' || digit == 'x' ? 1 : 0);
    }
    return l;
}

/// The clocks of a bus in which something is asserted, from its signals in a waveform.
std::vector<bus::bus_clock> clocks_of(const waveform& wave, const std::string& bus,
                                      const sim::clock_domain& clock) {
    using setter = std::function<void(bus::bus_clock&, const lines&)>;
    std::map<std::string, setter> wires;
    for (const auto& [name, wire] :
         std::map<std::string, bool bus::bus_clock::*>{{"frame_n", &bus::bus_clock::frame},
                                                       {"irdy_n", &bus::bus_clock::irdy},
                                                       {"devsel_n", &bus::bus_clock::devsel},
                                                       {"trdy_n", &bus::bus_clock::trdy},
                                                       {"stop_n", &bus::bus_clock::stop},
                                                       {"req64_n", &bus::bus_clock::req64},
                                                       {"ack64_n", &bus::bus_clock::ack64}})
        wires[name] = [wire = wire](bus::bus_clock& w, const lines& l) { w.*wire = l.bits == 0; };
    wires["ad"] = [](bus::bus_clock& w, const lines& l) { w.ad = l.bits, w.ad_floating = l.floating; };
    wires["cbe"] = [](bus::bus_clock& w, const lines& l) {
        w.cbe = static_cast<std::uint8_t>(l.bits);
        w.cbe_floating = static_cast<std::uint8_t>(l.floating);
    };
    for (unsigned n = 0; n < 4; ++n) {
        const auto bit = [n](std::uint32_t bus::bus_clock::*all) {
            return [n, all](bus::bus_clock& w, const lines& l) {
                w.*all = (w.*all & ~(1u << n)) | (l.bits ? 0 : 1u << n);
            };
        };
        wires["req" + std::to_string(n) + "_n"] = bit(&bus::bus_clock::req);
        wires["gnt" + std::to_string(n) + "_n"] = bit(&bus::bus_clock::gnt);
    }

    struct change {
        std::uint64_t clock;
        const setter* set;
        lines value;
    };
    std::vector<change> changes;
    for (const auto& [name, set] : wires) {
        const auto signal = wave.signals().find(bus + "." + name);
        if (signal == wave.signals().end()) continue;
        for (const auto& c : signal->second) {
            EXPECT_EQ(clock.edge(clock.edge_at_or_after(c.at)), c.at) << name << " changes between two edges";
            changes.push_back({clock.edge_at_or_after(c.at), &set, lines_of(c.value)});
        }
    }
    std::ranges::stable_sort(changes, {}, &change::clock);

    std::vector<bus::bus_clock> all;
    bus::bus_clock w;
    const auto asserted = [&w] {
        return w.req || w.gnt || w.frame || w.irdy || w.devsel || w.trdy || w.stop;
    };
    for (const change& c : changes) {
        for (; w.clock < c.clock && asserted(); ++w.clock) all.push_back(w);
        w.clock = c.clock;
        (*c.set)(w, c.value);
    }
    if (asserted()) all.push_back(w);
    return all;
}

/// Bytes that cross AD: the enabled lanes of each clock with IRDY# and TRDY#.
std::uint64_t bytes_on_ad(const std::vector<bus::bus_clock>& clocks) {
    std::uint64_t bytes = 0;
    for (const bus::bus_clock& w : clocks) {
        if (!w.irdy || !w.trdy) continue;
        const unsigned lanes = w.ack64 ? 8 : 4;
        EXPECT_EQ(w.ad_floating & (lanes == 8 ? ~std::uint64_t{0} : 0xFFFF'FFFFu), 0u)
            << "data that nobody drives in clock " << w.clock;
        bytes +=
            static_cast<unsigned>(std::popcount(static_cast<unsigned>(~w.cbe & (lanes == 8 ? 0xFFu : 0xFu))));
    }
    return bytes;
}

std::uint64_t statistic(const json& rows, const std::string& name) {
    for (const json& row : rows)
        if (row["statistic"] == name) return row["whole_run"].get<std::uint64_t>();
    throw std::runtime_error("no statistic " + name);
}

class wave_of_bus : public testing::TestWithParam<const char*> {};

TEST_P(wave_of_bus, keeps_the_rules_and_counts_the_bytes_of_the_statistics) {
    const program vinic;
    const auto run = vinic.run("run stream --wave w." + std::string(GetParam()) +
                               " --json --stats -- sizes=8,100,4096 count=3 warmup=1");
    ASSERT_EQ(run.status, 0) << run.errors;
    const json statistics = json::parse(run.output)["statistics"];
    const waveform wave((vinic.folder() / ("w." + std::string(GetParam()))).string());
    const bus::bus_properties pci_64_66{.kind = bus::bus_kind::pci, .width_bytes = 8, .clock = {15'000, 1}};
    for (const std::string bus : {"node0.bus", "node1.bus"}) {
        const auto clocks = clocks_of(wave, bus, pci_64_66.clock);
        bus::protocol_checker checker(pci_64_66);
        for (const auto& w : clocks) checker.sample(w);
        EXPECT_EQ(checker.violations(), std::vector<std::string>{});
        EXPECT_GT(checker.transactions(), 100u);
        EXPECT_EQ(bytes_on_ad(clocks), statistic(statistics, bus + ".bytes"));
    }
}
INSTANTIATE_TEST_SUITE_P(run, wave_of_bus, testing::Values("vcd", "fst"));

/// A transaction as its wires show it: from the address phase through the turnaround.
struct transaction {
    unsigned command;      ///< C/BE# in the address phase
    std::uint64_t phases;  ///< of data
    std::uint64_t clocks;
    bool operator==(const transaction&) const = default;
};
void PrintTo(const transaction& t, std::ostream* to) {
    *to << std::hex << t.command << std::dec << ": " << t.phases << " phases, " << t.clocks << " clocks";
}

std::vector<transaction> transactions_of(const std::vector<bus::bus_clock>& clocks) {
    std::vector<transaction> all;
    std::uint64_t busy_until = 0;  // the first clock of which we know that it is idle
    for (const bus::bus_clock& w : clocks) {
        if (!w.frame && !w.irdy) continue;
        if (all.empty() || w.clock != busy_until) all.push_back({w.cbe & 0xFu, 0, 1});
        ++all.back().clocks;
        if (w.irdy && w.trdy) ++all.back().phases;
        busy_until = w.clock + 1;
    }
    return all;
}

// The clocks of one message of 8 bytes at its sender, from the rules that the bus tests hold
// (tenure_test.cpp, facts/lanai_pcix.md C1): with medium decode n data phases take n + 3 clocks, a retry of a
// burst 5, one of a single data phase 4.
TEST(wave, a_message_of_8_bytes_takes_the_clocks_of_its_transactions) {
    const program vinic;
    const auto run = vinic.run(
        "run pingpong --wave w.vcd --wave-scope 'node0.bus.*' --wave-from message:1 --wave-to message:1 -- "
        "sizes=8 "
        "count=1 warmup=0");
    ASSERT_EQ(run.status, 0) << run.errors;
    const waveform wave((vinic.folder() / "w.vcd").string());
    constexpr unsigned memory_read = 0x6, memory_write = 0x7, read_multiple = 0xC;
    std::vector<transaction> completed;
    unsigned retries = 0;
    for (const transaction& t : transactions_of(clocks_of(wave, "node0.bus", {15'000, 1}))) {
        if (t.phases != 0) {
            completed.push_back(t);
            continue;
        }
        ++retries;
        EXPECT_EQ(t.clocks, t.command == read_multiple ? 5u : 4u);
    }
    EXPECT_GT(retries, 2u);
    const std::vector<transaction> expected{{memory_write, 1, 4},    // the two words of a doorbell
                                            {memory_write, 1, 4},    // ...
                                            {read_multiple, 8, 11},  // the descriptor: 64 bytes
                                            {memory_read, 1, 4},     // the payload
                                            {memory_write, 1, 4}};   // the completion of the send
    EXPECT_EQ(completed, expected);
}

/// A tool of GTKWave.
int tool(const program& in, const std::string& command) {
    return std::system(("cd '" + in.folder().string() + "' && " + command + " >/dev/null 2>&1").c_str());
}
waveform wave_in(const program& in, const std::string& name) { return waveform(in.folder() / name); }

TEST(wave, vcd_fst_and_what_gtkwaves_tools_make_of_them_are_the_same) {
    const program vinic;
    for (const char* form : {"vcd", "fst"}) {
        const auto run =
            vinic.run(std::string("run pingpong --wave w.") + form +
                      " --wave-scope '*' --wave-scope '*.lanai.*' --until 1200us -- sizes=8 count=1");
        ASSERT_EQ(run.status, 0) << run.errors;
    }
    const waveform vcd = wave_in(vinic, "w.vcd"), fst = wave_in(vinic, "w.fst");
    EXPECT_GT(vcd.signals().at("node0.nic.lanai.pc").size(), 1000u);
    EXPECT_TRUE(vcd.signals() == fst.signals());
    if (tool(vinic, "which fst2vcd vcd2fst") != 0) GTEST_SKIP() << "GTKWave is not installed";
    ASSERT_EQ(tool(vinic, "fst2vcd w.fst -o back.vcd"), 0);
    ASSERT_EQ(tool(vinic, "vcd2fst w.vcd back.fst"), 0);
    EXPECT_TRUE(wave_in(vinic, "back.fst").signals() == vcd.signals());
    EXPECT_TRUE(wave_in(vinic, "back.vcd").signals() == fst.signals());
}

TEST(wave, of_either_form_is_checked_and_compared_alike) {
    const program vinic;
    const auto record = [&](const std::string& how) {
        const auto run = vinic.run("run pingpong " + how + " -- sizes=8 count=2 warmup=0");
        ASSERT_EQ(run.status, 0) << run.errors;
    };
    record("--wave w.vcd");
    record("--wave w.fst");
    record("--wave slow.fst --set node1.nic.lanai.clock_mhz=66");
    const auto checked = vinic.run("trace w.vcd w.fst --json");
    ASSERT_EQ(checked.status, 0) << checked.output << checked.errors;
    json found = json::parse(checked.output)["traces"];
    EXPECT_GT(found[0]["holds"]["changes"], 1000);
    for (json& one : found) one.erase("file");
    EXPECT_EQ(found[0], found[1]);

    for (const char* pair : {"w.vcd w.fst", "w.fst w.vcd"}) {
        const auto same = vinic.run(std::string("compare ") + pair);
        EXPECT_EQ(same.status, 0) << same.output << same.errors;
        EXPECT_EQ(same.output, "the same waveform\n");
    }
    const auto differs = vinic.run("compare w.vcd slow.fst --json");
    EXPECT_EQ(differs.status, 1);
    const json difference = json::parse(differs.output);
    const std::string before = difference["before"]["event"], after = difference["after"]["event"];
    EXPECT_EQ(before.substr(0, 5), "node1") << before;
    EXPECT_EQ(before.substr(0, before.find(' ')), after.substr(0, after.find(' ')));
    const waveform a = wave_in(vinic, "w.vcd"), b = wave_in(vinic, "slow.fst");
    const std::string name = before.substr(0, before.find(' '));
    const std::uint64_t at = std::min(difference["before"]["at_ps"].get<std::uint64_t>(),
                                      difference["after"]["at_ps"].get<std::uint64_t>());
    EXPECT_NE(a.at(name, at), b.at(name, at));
    for (const auto& [other, changes] : a.signals())
        EXPECT_EQ(a.at(other, at - 1), b.at(other, at - 1)) << other;
}

TEST(wave, an_fst_that_is_cut_off_is_told) {
    const program vinic;
    ASSERT_EQ(vinic.run("run pingpong --wave w.fst -- sizes=8 count=1").status, 0);
    const std::string whole = vinic.read("w.fst");
    vinic.write("cut.fst", whole.substr(0, 400));
    for (const char* verb : {"trace cut.fst", "compare w.fst cut.fst"}) {
        const auto outcome = vinic.run(verb);
        EXPECT_EQ(outcome.status, 2) << outcome.output;
        EXPECT_NE(outcome.errors.find("cut.fst: "), std::string::npos) << outcome.errors;
    }
}

TEST(wave, lockstep_gives_the_same_bytes) {
    const program vinic;
    for (const char* way : {"--wave ahead.vcd", "--lockstep --wave lockstep.vcd"}) {
        const auto run =
            vinic.run(std::string("run pingpong ") + way +
                      " --wave-scope '*' --wave-scope '*.lanai.*' --wave-from message:3 --wave-to message:4 "
                      "-- sizes=8 count=2 warmup=1");
        ASSERT_EQ(run.status, 0) << run.errors;
    }
    EXPECT_GT(vinic.read("ahead.vcd").size(), 10'000u);
    EXPECT_TRUE(vinic.read("ahead.vcd") == vinic.read("lockstep.vcd"));
}

TEST(wave, a_window_holds_what_the_whole_wave_does) {
    const program vinic;
    const std::string workload = " -- sizes=8 count=2 warmup=1";
    ASSERT_EQ(vinic.run("run pingpong --wave all.vcd" + workload).status, 0);
    ASSERT_EQ(
        vinic.run("run pingpong --wave part.vcd --wave-from message:3 --wave-to message:3" + workload).status,
        0);
    const waveform all = wave_in(vinic, "all.vcd"), part = wave_in(vinic, "part.vcd");
    const auto first = part.signals().at("node0.bus.clock").front().at;
    EXPECT_LT(part.end() - first, 20'000'000u);
    EXPECT_EQ(part.at("node0.vipl.call", first).substr(0, 11), "VipPostSend");
    for (const auto& [name, changes] : all.signals()) {
        if (name.ends_with(".packet") || name.ends_with(".log")) continue;  // events have no value
        for (const std::uint64_t at : {first, (first + part.end()) / 2, part.end()})
            EXPECT_EQ(all.at(name, at), part.at(name, at)) << name << " at " << at;
    }
}

TEST(wave, a_killed_run_leaves_an_fst_that_opens) {
    const program vinic;
    const auto run = vinic.run("run stream --wave w.fst -- sizes=4096 count=10000000", "timeout -s KILL 6");
    ASSERT_NE(run.status, 0);
    const waveform wave = wave_in(vinic, "w.fst");
    EXPECT_GT(wave.signals().at("node0.bus.frame_n").size(), 100u);
}

TEST(wave, of_a_run_that_breaks_off_is_closed) {
    const program vinic;
    vinic.write("wait.lua", "local b = barrier(2)\nprocess(0, function() b() end)\n");
    EXPECT_EQ(vinic.run("run wait.lua --wave deadlock.fst", "timeout 60").status, 3);
    vinic.write("spin.lua", "process(0, function() while true do sleep(1000000) end end)\n");
    EXPECT_EQ(vinic.run("run spin.lua --wave interrupted.fst", "timeout --preserve-status -s INT 2").status,
              130);
    for (const std::string name : {"deadlock.fst", "interrupted.fst"}) {
        EXPECT_FALSE(vinic.has(name + ".hier")) << "not closed";
        const auto checked = vinic.run("trace " + name);
        EXPECT_EQ(checked.status, 0) << checked.output << checked.errors;
    }
}

TEST(wave, what_is_wrong_is_said_before_the_run) {
    const program vinic;
    const auto complaint = [&](const std::string& options) {
        const auto run = vinic.run("run pingpong " + options + " -- sizes=8 count=1");
        EXPECT_EQ(run.status, 2) << options;
        EXPECT_FALSE(vinic.has("w.vcd")) << options;
        return run.errors;
    };
    const auto says = [&](const std::string& options, const std::string& what) {
        const std::string text = complaint(options);
        EXPECT_NE(text.find(what), std::string::npos) << text;
    };
    says("--wave w.txt", "ends in .fst or .vcd");
    says("--wave-scope 'node0.*'", "--wave");
    says("--wave w.vcd --wave-scope 'nod0.*'", "did you mean 'node0.*'?");
    says("--wave w.vcd --wave-from 10xs", "'10xs' is no time");
    says("--wave w.vcd --wave-from node0.buss.clock@12", "did you mean 'node0.bus.clock'?");
    says("--wave w.vcd --wave-from node0.bus.clock@x", "'x' is no number");
    says("--wave w.vcd --wave-to dorbell:3", "did you mean doorbell?");
    says("--wave w.vcd --wave-to message:0", "'0' is no number from 1 on");
    says("--wave w.vcd --wave-to function:mian", "did you mean 'main'?");
    says("--wave w.vcd --wave-to address:0x1235", "expected the address of an instruction");
    says("--wave w.vcd --wave-to soon", "expected a time");
}

TEST(wave, a_window_that_never_opens_is_told) {
    const program vinic;
    const auto run = vinic.run("run pingpong --wave w.vcd --wave-from message:1000 -- sizes=8 count=1");
    EXPECT_EQ(run.status, 0);
    EXPECT_NE(run.errors.find("was not reached"), std::string::npos) << run.errors;
}

TEST(wave, a_save_file_names_signals_of_the_wave_and_filters_instructions) {
    const program vinic;
    const auto run = vinic.run(
        "run pingpong --wave w.fst --gtkw w.gtkw --wave-scope '*' --wave-scope '*.instruction' -- sizes=8 "
        "count=2");
    ASSERT_EQ(run.status, 0) << run.errors;
    const waveform wave = wave_in(vinic, "w.fst");
    const std::string text = vinic.read("w.gtkw");
    std::size_t signals = 0;
    std::set<std::string> titles;  // of the group
    for (std::size_t from = 0, end; (end = text.find('\n', from)) != std::string::npos; from = end + 1) {
        const std::string line = text.substr(from, end - from);
        if (line.starts_with("[color]") || line.starts_with("@")) continue;
        if (line.starts_with("-node")) titles.clear();
        if (!line.starts_with("+{")) continue;
        const std::size_t behind_title = line.find("} ");
        const std::string title = line.substr(2, behind_title - 2), name = line.substr(behind_title + 2);
        EXPECT_TRUE(wave.signals().contains(name.substr(0, name.find('[')))) << line;
        EXPECT_EQ(title.find('.'), std::string::npos) << line;
        EXPECT_TRUE(titles.insert(title).second) << "two rows of a group: " << line;
        ++signals;
    }
    EXPECT_GT(signals, 80u);
    EXPECT_NE(text.find("/vinic disassemble\n"), std::string::npos);
    // Of VIs and completion queues those that the program made.
    EXPECT_NE(text.find("+{vi0 state} node0.agent.vi0.state\n"), std::string::npos);
    EXPECT_EQ(text.find("agent.vi1."), std::string::npos);
    EXPECT_NE(text.find("[timestart] "), std::string::npos);
}

}  // namespace
}  // namespace vinic::testbench
