// SPDX-License-Identifier: Apache-2.0
#include "hw/link/fabric.h"

#include <gtest/gtest.h>

#include <deque>

#include "hw/sim/fingerprint.h"
#include "testbench/tests/link/bench.h"
#include "testbench/tests/link/random_topology.h"
#include "testbench/tests/link/tap.h"

namespace vinic::link {
namespace {

/// A network in which every node has a tap, sends a queue of packets in its own manner, and takes what comes
/// with random pauses.
class traffic {
public:
    struct manner {
        unsigned packets = 30;        ///< for each node
        std::uint64_t longest = 700;  ///< bytes
        bool in_parts = true;
        bool hesitant = true;  ///< receivers pause
        bool to_self = true;
    };

    traffic(std::uint64_t seed, const topology& t, const manner& m, const bench::settings& given = {})
        : simulation_(bench::configured(given), seed),
          net("fabric", t),
          manner_(m),
          random_(seed, "traffic") {
        for (unsigned i = 0; i < t.nodes; ++i) {
            stations.push_back(std::make_unique<station>(("node" + std::to_string(i)).c_str()));
            taps.push_back(std::make_unique<tap>(("tap" + std::to_string(i)).c_str()));
            stations[i]->nic.out.bind(taps[i]->from_card);
            taps[i]->to_card.bind(stations[i]->nic.in);
            net.attach(i, taps[i]->to_net, taps[i]->from_net);
        }
        sequence_.assign(t.nodes, std::vector<unsigned>(t.nodes, 0));
        queues_.resize(t.nodes);
        for (unsigned i = 0; i < t.nodes; ++i) {
            fill(i);
            station& s = *stations[i];
            s.when_sent = s.when_part = [this, i] { send_next(i); };
            if (!m.hesitant) continue;
            s.when_head =
                s.when_limit = [this, i] { script.at(sim::now() + pause(), [this, i] { take_some(i); }); };
        }
    }
    void run() {
        for (unsigned i = 0; i < stations.size(); ++i)
            script.at(random_.below(5'000'000), [this, i] { send_next(i); });
        sc_core::sc_start();
    }

    /// Every packet once, in order for each pair, bytes intact.
    void expect_all_arrived() {
        std::uint64_t arrived = 0;
        for (unsigned to = 0; to < stations.size(); ++to) {
            std::map<unsigned, unsigned> next;
            for (const auto& r : stations[to]->received) {
                ++arrived;
                ASSERT_EQ(r.remainder, 0);
                ASSERT_GE(r.bytes.size(), 4u);
                const unsigned from = r.bytes[1];
                ASSERT_EQ(r.bytes[2], to);
                ASSERT_EQ(r.bytes[3], next[from]++) << from << " to " << to;
                ASSERT_EQ(r.bytes, payload(from, to, r.bytes[3]));
            }
        }
        EXPECT_EQ(arrived, sent_);
        EXPECT_TRUE(net.waiting().empty());
    }
    /// The rules of the link at the ends of all cables to nodes, and no slack overrun.
    void expect_protocol(bool crc8 = true) {
        for (const auto& t : taps) {
            const auto first =
                net.layout().switch_ports.empty() ? checker::leads_to::node : checker::leads_to::a_switch;
            for (const checker& c :
                 {t->check(tap::outward, crc8 ? first : checker::leads_to::unknown, 0, crc8),
                  t->check(tap::inward, crc8 ? checker::leads_to::node : checker::leads_to::unknown,
                           t->cable_delay(), crc8)})
                for (const auto& v : c.violations())
                    ADD_FAILURE() << t->name() << " " << v.at << ": " << v.text;
        }
        for (const auto& s : net.switches())
            for (unsigned p = 0; p < s->ports(); ++p) EXPECT_LE(s->highest_slack(p), s->slack_size(p));
        for (const auto& s : stations) EXPECT_LE(s->nic.highest_slack(), s->nic.slack_size());
    }
    std::uint64_t sent() const { return sent_; }
    std::uint64_t stops() const {
        std::uint64_t n = 0;
        for (const auto& c : net.cables()) n += c->ab.stops.value() + c->ba.stops.value();
        return n;
    }

private:
    struct part {
        std::vector<std::uint8_t> bytes;
        bool last;
        picoseconds period;
    };

    std::vector<std::uint8_t> payload(unsigned from, unsigned to, unsigned number) const {
        sim::random_stream r(from * 1000003 + to * 1009 + number, "payload");
        std::vector<std::uint8_t> bytes(4 + r.below(manner_.longest));
        for (auto& b : bytes) b = static_cast<std::uint8_t>(r.next());
        bytes[0] &= 0x7F;
        bytes[1] = static_cast<std::uint8_t>(from);
        bytes[2] = static_cast<std::uint8_t>(to);
        bytes[3] = static_cast<std::uint8_t>(number);
        return bytes;
    }
    void fill(unsigned from) {
        for (unsigned n = 0; n < manner_.packets; ++n) {
            const auto to = static_cast<unsigned>(random_.below(stations.size() ? net.layout().nodes : 1));
            if (to == from && (!manner_.to_self || net.layout().switch_ports.empty())) continue;
            auto bytes = net.route(from, to);
            const auto data = payload(from, to, sequence_[from][to]++);
            bytes.insert(bytes.end(), data.begin(), data.end());
            ++sent_;
            const picoseconds period = random_.chance(0.3) ? random_.below(20'000) : 0;
            std::size_t cut = bytes.size();
            if (manner_.in_parts && random_.chance(0.3)) {
                cut = 1 + random_.below(bytes.size() - 1);
                queues_[from].push_back(
                    {{bytes.begin(), bytes.begin() + static_cast<long>(cut)}, false, period});
                queues_[from].push_back(
                    {{bytes.begin() + static_cast<long>(cut), bytes.end()}, true, period});
            } else {
                queues_[from].push_back({std::move(bytes), true, period});
            }
        }
    }
    void send_next(unsigned from) {
        auto& queue = queues_[from];
        if (queue.empty()) return;
        const part p = std::move(queue.front());
        queue.pop_front();
        stations[from]->nic.send(p.bytes, p.last, p.period);
    }
    picoseconds pause() { return random_.chance(0.3) ? random_.below(3'000'000) : 1; }
    void take_some(unsigned at) {
        station& s = *stations[at];
        const auto now = s.nic.taken(sim::now());
        s.nic.take(random_.chance(0.5) ? never : now + 1 + random_.below(200), random_.below(3) * 3'000);
    }

    sim::simulation simulation_;

public:
    fabric net;
    actor script;
    std::vector<std::unique_ptr<station>> stations;
    std::vector<std::unique_ptr<tap>> taps;

private:
    manner manner_;
    sim::random_stream random_;
    std::vector<std::vector<unsigned>> sequence_;
    std::vector<std::deque<part>> queues_;
    std::uint64_t sent_ = 0;
};

TEST(fabric, random_traffic_over_random_networks) {
    std::uint64_t stops = 0;
    std::uint64_t packets = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        sim::random_stream random(seed, "fabric_test");
        const topology t = random_topology(random);
        const bench::settings given{{"link.byte_ps", seed % 2 ? "6250" : "4000"},
                                    {"link.length_mm", std::to_string(1 + random.below(30'000))},
                                    {"switch.routing_ps", std::to_string(random.below(600'000))}};
        traffic run(seed, t, {}, given);
        run.run();
        SCOPED_TRACE(seed);
        run.expect_all_arrived();
        run.expect_protocol();
        stops += run.stops();
        packets += run.sent();
        if (HasFatalFailure()) return;
    }
    // It was a test of flow control.
    EXPECT_GT(stops, packets / 2);
}

TEST(fabric, cables_of_different_rates) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        sim::random_stream random(seed, "rates");
        const topology t = random_topology(random);
        bench::settings given;
        for (unsigned c = 0; c < t.cables.size(); ++c)
            given.emplace_back("fabric.cable" + std::to_string(c) + ".byte_ps",
                               random.chance(0.5) ? "6250" : "4000");
        traffic run(seed, t, {}, given);
        run.run();
        SCOPED_TRACE(seed);
        run.expect_all_arrived();
        run.expect_protocol();
        if (HasFatalFailure()) return;
    }
}

TEST(fabric, clos_of_64_nodes) {
    traffic run(1, topology::clos(64, 16), {.packets = 10});
    run.run();
    run.expect_all_arrived();
    run.expect_protocol();
}

TEST(fabric, bit_errors_are_all_seen) {
    std::uint64_t damaged = 0;
    std::uint64_t arrived = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        // Up to 3 + 11 bytes and CRC-8: no more than 127 bits, in which up to three errors are always found.
        const bench::settings given{{"link.bit_error_rate", "0.0005"}};
        traffic run(seed, topology::one_switch(6, 8), {.packets = 200, .longest = 8, .in_parts = false},
                    given);
        run.run();
        std::uint64_t flips = 0;
        for (const auto& c : run.net.cables()) flips += c->ab.bit_errors.value() + c->ba.bit_errors.value();
        EXPECT_GT(flips, 20u);
        const auto& s = *run.net.switches()[0];
        std::uint64_t here = 0;
        for (const auto& at : run.stations) {
            here += at->received.size();
            for (const auto& r : at->received) damaged += r.remainder != 0;
            EXPECT_EQ(at->nic.crc_errors.value(), static_cast<std::uint64_t>(std::ranges::count_if(
                                                      at->received, [](auto& r) { return r.remainder; })));
        }
        EXPECT_EQ(here + s.illegal_routes.value() + s.dead_ports.value(), run.sent());
        arrived += here;
        run.expect_protocol(false);
    }
    // 9.5 bytes on the average over the first cable and 8.5 over the second: 1 - exp(-144 * 0.0005) = 7 %,
    // less the packets whose route byte was hit and that were dropped.
    EXPECT_GT(damaged, arrived * 5 / 100);
    EXPECT_LT(damaged, arrived * 8 / 100);
}

TEST(fabric, a_damaged_packet_never_passes_for_a_whole_one) {
    bench b(topology::one_switch(2, 4), {{"link.bit_error_rate", "0.001"}}, 5);
    std::vector<std::vector<std::uint8_t>> sent;
    for (unsigned i = 0; i < 3000; ++i) sent.push_back(b.make(0, 1, 12, i));
    unsigned next = 0;
    b[0].when_sent = [&] {
        if (next < sent.size()) b[0].nic.send(sent[next++], true);
    };
    b.script.at(0, [&] { b[0].nic.send(sent[next++], true); });
    b.run();
    std::uint64_t wrong = 0;
    for (const auto& r : b[1].received) {
        const bool whole =
            std::ranges::any_of(sent, [&](const auto& s) { return bench::without_route(s, 1) == r.bytes; });
        if (!whole) {
            ++wrong;
            EXPECT_NE(r.remainder, 0);
        }
    }
    EXPECT_GT(wrong, 100u);
}

TEST(fabric, cables_lose_packets_at_the_rate_that_they_are_told) {
    bench b(topology::back_to_back(), {{"link.drop_rate", "0.25"}});
    unsigned left = 2000;
    b[0].when_sent = [&] {
        if (--left) b[0].nic.send(b.make(0, 1, 20), true);
    };
    b.script.at(0, [&] { b[0].nic.send(b.make(0, 1, 20), true); });
    b.run();
    const auto& cable = *b.net.cables()[0];
    EXPECT_EQ(cable.ab.packets.value(), 2000u);
    EXPECT_EQ(b[1].received.size() + cable.ab.dropped.value(), 2000u);
    // Binomial: 500 +- 5 standard deviations of sqrt(2000 * 0.25 * 0.75) = 19.4.
    EXPECT_NEAR(static_cast<double>(cable.ab.dropped.value()), 500, 97);
}

TEST(fabric, events_for_a_packet_do_not_depend_on_its_length) {
    for (const std::size_t length : {8u, 4096u}) {
        bench b(topology::clos(17, 16), {});
        constexpr unsigned packets = 200;
        unsigned left = packets;
        b[0].when_sent = [&] {
            if (--left) b[0].nic.send(b.make(0, 16, length), true);
        };
        b.script.at(0, [&] { b[0].nic.send(b.make(0, 16, length), true); });
        b.run();
        ASSERT_EQ(b[16].received.size(), packets);
        // Sender: start, tail. Each of three switches: head, route, tail. Receiver: head, tail.
        std::uint64_t in_switches = 0;
        for (const auto& s : b.net.switches()) in_switches += s->activations();
        EXPECT_LE(b[0].nic.activations(), 2 * packets + 1) << length;
        EXPECT_LE(in_switches, 3 * 3 * packets) << length;
        EXPECT_LE(b[16].nic.activations(), 2 * packets) << length;
    }
}

TEST(fabric, an_idle_network_has_no_events) {
    bench b(topology::clos(32, 16));
    b.run();
    EXPECT_EQ(sim::now(), 0u);
    EXPECT_FALSE(sc_core::sc_pending_activity());
}

sim::fingerprint::ingredients fingerprint_of(std::uint64_t seed, bool disturbed) {
    const topology t = topology::clos(12, 8);
    bench b(t, {{"link.byte_ps", "6250"}});
    sim::fingerprint print;
    sim::random_stream random(seed, "fingerprint");
    std::vector<std::function<void()>> sends;
    for (unsigned from = 0; from < t.nodes; ++from)
        for (int i = 0; i < 4; ++i) {
            const auto to = static_cast<unsigned>(random.below(t.nodes));
            const std::size_t length = 1 + random.below(300);
            sends.push_back([&b, from, to, length] { b[from].nic.send(b.make(from, to, length), true); });
        }
    // All at one instant; disturbed: the nodes in another order, over several deltas, with unrelated events.
    actor others;
    if (disturbed) {
        for (picoseconds at = 0; at < 5'000'000; at += 3125) others.at(at, [] {});
        std::vector<std::function<void()>> reordered;
        for (unsigned from = t.nodes; from-- > 0;)
            for (unsigned i = 0; i < 4; ++i) reordered.push_back(sends[from * 4 + i]);
        sends = reordered;
    }
    b.script.at(100'000, [&] {
        for (const auto& s : sends) s();
    });
    b.run();
    return print.get();
}

TEST(fabric, the_order_of_wake_ups_does_not_matter) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
        EXPECT_EQ(fingerprint_of(seed, false), fingerprint_of(seed, true));
    EXPECT_NE(fingerprint_of(1, false), fingerprint_of(2, false));
}

}  // namespace
}  // namespace vinic::link
