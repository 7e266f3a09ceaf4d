// SPDX-License-Identifier: Apache-2.0
#include "traces/relay.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>
#include <stdexcept>

#include "testbench/tests/traces/watched_block.h"

namespace vinic::traces {
namespace {

/// Writes down all that it is told.
class witness : public sim::listener {
public:
    witness() {
        for (sim::probe* p : probes_matching({"*"})) p->attach(*this);
    }
    std::vector<std::string> heard;

    void on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                  std::uint64_t floating) override {
        heard.push_back(fmt::format("{} {} {:x} {:x}", p.name(), at, bits, floating));
    }
    void on_span(const sim::span_probe& p, sim::picoseconds begin, sim::picoseconds end,
                 std::string_view what, std::span<const sim::field> fields) override {
        heard.push_back(fmt::format("{} {} {} {}", p.name(), begin, end, what));
        add(fields);
    }
    void on_packet(const sim::packet_probe& p, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                   std::string_view note, std::span<const sim::field> fields) override {
        heard.push_back(fmt::format("{} {} {} {}", p.name(), at, note, fmt::join(bytes, " ")));
        add(fields);
    }

private:
    void add(std::span<const sim::field> fields) {
        for (const sim::field& f : fields) heard.back() += fmt::format(" {}={}", f.name, f.value);
    }
};

/// Reports of every kind, with texts and packets of any length; more than a relay holds back.
void drive(watched_block& b) {
    std::mt19937_64 random(1);
    std::vector<std::uint8_t> packet(300'000);
    for (auto& byte : packet) byte = static_cast<std::uint8_t>(random());
    b.wire.report(1, packet, "longer than any stretch", {{"port", 3}});
    const std::string text = "a text of some length";
    for (std::uint64_t n = 0; n < 40'000; ++n) {
        b.bus.set(n, random() & 15, random() & 15);
        b.block.report(n, n + random() % 100, std::string_view(text).substr(0, random() % text.size()),
                       {{"address", random()}, {"bytes", n}});
        b.block.report(n, n, "");
        if (n % 16 == 0) b.wire.report(n, std::span(packet).first(random() % 64), text.substr(n % 10));
    }
}

TEST(relay, tells_everybody_the_same_in_the_same_order) {
    std::vector<std::string> expected;
    {
        sim::simulation s;
        watched_block b("node0");
        witness direct;
        drive(b);
        expected = std::move(direct.heard);
    }
    sim::simulation s;
    watched_block b("node0");
    witness first, second;
    {
        relay between;
        drive(b);
        between.wait();
        EXPECT_TRUE(first.heard == expected);
        b.frame.set(7, 1);
    }
    expected.emplace_back("node0.frame_n 7 1 0");
    EXPECT_TRUE(first.heard == expected);
    EXPECT_TRUE(second.heard == expected);
    EXPECT_FALSE(b.frame.watched());
}

TEST(relay, does_what_it_is_asked_between_the_reports_before_and_after) {
    sim::simulation s;
    watched_block b("node0");
    witness w;
    relay between;
    std::vector<std::size_t> heard;
    constexpr std::size_t actions = 20'000;  // so that stretches end before a report and before an action
    for (std::uint64_t n = 0; n < actions; ++n) {
        between.then([&] { heard.push_back(w.heard.size()); });
        b.frame.set(n, n & 1);
    }
    between.wait();
    ASSERT_EQ(heard.size(), actions);
    for (std::size_t n = 0; n < heard.size(); ++n) EXPECT_EQ(heard[n], n);
    EXPECT_EQ(w.heard.size(), actions);
}

TEST(relay, what_a_listener_throws_arrives_once_where_the_simulation_is_told_to_flush) {
    struct broken : witness {
        void on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                      std::uint64_t floating) override {
            if (at == 3) throw std::runtime_error("no space left");
            witness::on_value(p, at, bits, floating);
        }
    };
    sim::simulation s;
    watched_block b("node0");
    broken w;
    relay between;
    for (std::uint64_t n = 0; n < 10; ++n) b.frame.set(n, n & 1);
    EXPECT_THROW(between.wait(), std::runtime_error);
    drive(b);
    between.then([] { FAIL() << "after an error nobody is told anything"; });
    EXPECT_NO_THROW(between.wait());
    EXPECT_EQ(w.heard.size(), 3u);
}

}  // namespace
}  // namespace vinic::traces
