// SPDX-License-Identifier: Apache-2.0
// The class files of hw/designs/hosts against what was measured on such machines.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "hw/host/host.h"
#include "testbench/tests/bus/bus_fixture.h"
#include "testbench/tests/host/node.h"

namespace vinic::host {
namespace {

const std::filesystem::path designs = std::filesystem::path(VINIC_SOURCE_DIR) / "hw/designs";

using settings_map = std::map<std::string, sim::setting>;

void flatten(const YAML::Node& node, const std::string& name, settings_map& into) {
    for (const auto& entry : node) {
        const auto key = (name.empty() ? "" : name + ".") + entry.first.as<std::string>();
        if (key == "include") continue;
        if (entry.second.IsMap() && !entry.second["value"])
            flatten(entry.second, key, into);
        else
            into[key] = {entry.second["value"].as<std::string>(), "test",
                         entry.second["source"].as<std::string>()};
    }
}

void read(const std::string& file, settings_map& into) {
    const YAML::Node root = YAML::LoadFile(designs / (file + ".yaml"));
    if (root["include"])
        for (const auto& other : root["include"]) read(other.as<std::string>(), into);
    flatten(root, "", into);
}

/// A host of that class on that bus, and a card that does nothing but DMA.
struct machine {
    machine(const std::string& host_file, const std::string& bus_file, const test::settings& more)
        : simulation(configured(host_file, bus_file, more)) {
        pci.attach(card);
        pci.attach(card_target.port, {{0, 1, 0}});
    }

    static sim::configuration configured(const std::string& host_file, const std::string& bus_file,
                                         const test::settings& more) {
        settings_map values;
        read("hosts/" + host_file, values);
        read("buses/" + bus_file, values);
        sim::configuration config;
        for (const auto& [name, value] : values) config.set(name, value);
        for (const auto& [name, value] : more) config.set(name, {value, "test", ""});
        return config;
    }

    /// MB/s of 32 blocks, one job after another, as gm_debug measures.
    double rate(bus::job::kind what, std::uint64_t block_bytes) {
        std::vector<std::vector<std::uint8_t>> blocks(32, std::vector<std::uint8_t>(block_bytes));
        std::vector<bus::job> jobs(32);
        sim::picoseconds begin = 0;
        test::hardware([&] {
            sc_core::wait(sim::to_sc_time(1'000'000));
            begin = sim::now();
            for (std::size_t i = 0; i < jobs.size(); ++i) {
                jobs[i].what = what;
                jobs[i].address = 0x10000 + i * 4096;
                jobs[i].bytes = blocks[i];
                jobs[i].client = &client;
                card.start(jobs[i]);
            }
        });
        sc_core::sc_start(sim::to_sc_time(10'000'000'000));
        EXPECT_EQ(client.done_at.size(), jobs.size());
        const double ps = static_cast<double>(client.done_at.back() - begin);
        return 32.0 * static_cast<double>(block_bytes) / ps * 1e6;
    }

    sim::simulation simulation;
    bus::pci_bus pci{"bus"};
    vinic::host::host host{"host", pci};
    bus::master card{"card", pci.properties(), {0, 1, 0}};
    bus::test::memory_target card_target{"card_target", pci.properties(), 0, 0, &card};
    bus::test::recorder_client client;
};

TEST(presets, each_names_parameters_that_exist_with_a_source) {
    for (const auto& file : std::filesystem::directory_iterator(designs / "hosts")) {
        const std::string name = file.path().stem();
        const bool pcix = name.starts_with("pcix");
        const bool wide = name.find("64_66") != std::string::npos;
        machine m(name, pcix ? "pcix_64_133" : wide ? "pci_64_66" : "pci_32_33", {});
        EXPECT_NO_THROW(m.simulation.config().check_all_consumed()) << name;
        for (const auto& p : m.simulation.config().parameters())
            EXPECT_TRUE(p.origin == "default" || !p.source.empty()) << name << ' ' << p.name;
    }
}

TEST(presets, dma_rates_of_pcix_hosts_are_those_measured) {
    // facts/lanai_pcix.md C2: read and write MB/s by gm_debug, 32 chained blocks of 4 KB.
    const std::tuple<const char*, double, double> measured[] = {
        {"pcix_amd8131", 936, 1032}, {"pcix_serverworks_gc", 856, 1044}, {"pcix_rx2000", 784, 1044}};
    for (const auto& [name, read_rate, write_rate] : measured) {
        const test::settings card{{"card.max_read_bytes", "4096"}};
        machine r(name, "pcix_64_133", card);
        EXPECT_NEAR(r.rate(bus::job::kind::read, 4096), read_rate, read_rate / 100) << name;
    }
    for (const auto& [name, read_rate, write_rate] : measured) {
        machine w(name, "pcix_64_133", {});
        EXPECT_NEAR(w.rate(bus::job::kind::write, 4096), write_rate, write_rate / 100) << name;
    }
}

TEST(presets, dma_rate_of_a_64_66_host_is_the_one_measured) {
    // facts/lanai_pcix.md C1: bursts of 256 bytes give 147 MB/s.
    for (const char* name : {"server_64_66", "xeon_2000_64_66"}) {
        machine m(name, "pci_64_66", {{"card.max_burst_bytes", "256"}});
        EXPECT_NEAR(m.rate(bus::job::kind::read, 4096), 147, 1.5) << name;
    }
}

TEST(presets, dma_rates_of_32_33_hosts_lie_where_the_overheads_put_them) {
    // facts/lanai_pcix.md C4: 20-40 clocks a read burst, 8-16 a write burst, of 30 ns: 1024 bytes take 256
    // clocks.
    const auto at = [](double overhead) { return 1024 / ((256 + overhead) * 0.03); };
    for (const char* name : {"pentium2_440bx", "pentium3"}) {
        machine r(name, "pci_32_33", {{"card.max_burst_bytes", "1024"}});
        const double read_rate = r.rate(bus::job::kind::read, 4096);
        EXPECT_GT(read_rate, at(40)) << name;
        EXPECT_LT(read_rate, at(20)) << name;
    }
    for (const char* name : {"pentium2_440bx", "pentium3"}) {
        machine w(name, "pci_32_33", {{"card.max_burst_bytes", "1024"}});
        const double write_rate = w.rate(bus::job::kind::write, 4096);
        EXPECT_GT(write_rate, at(16)) << name;
        EXPECT_LT(write_rate, at(8)) << name;
    }
}

}  // namespace
}  // namespace vinic::host
