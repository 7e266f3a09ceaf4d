// SPDX-License-Identifier: Apache-2.0
// Link ports of cards with framer and deframer in RTL against those of the model, in whole networks: what
// every probe of cables and ports sees, what is received and when.
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hw/sim/error.h"
#include "hw/sim/random.h"
#include "testbench/tests/link/bench.h"
#include "testbench/tests/link/random_topology.h"
#include "testbench/tests/rtl/event_log.h"

namespace vinic::rtl {
namespace {

using link::picoseconds;

struct result {
    test::events events;
    std::uint64_t received = 0, damaged = 0, damaged32 = 0, stops = 0;
};

/// Packets at any time, in parts, at once or paced, with and without CRC-32; stations that take them at
/// random.
class traffic {
public:
    traffic(std::uint64_t seed, const link::topology& t, const link::bench::settings& given)
        : random_(seed, "traffic"), bench_(t, given, seed), queues_(t.nodes) {
        for (unsigned from = 0; from < t.nodes; ++from) {
            each_.emplace_back(seed, fmt::format("station {}", from));
            for (unsigned n = 0; n < packets_each; ++n) add_packet(from);
            add_station(from);
        }
    }
    result run() {
        test::event_log log;
        bench_.run();
        result found{.events = std::move(log.seen)};
        test::events& all = found.events;
        for (const auto& s : bench_.stations) {
            auto& seen = all[fmt::format("0 {}", s->nic.name())];
            for (const auto& r : s->received)
                seen.push_back(fmt::format("{} {} {:#x} {:#x} {}", r.head, r.tail, r.remainder,
                                           r.crc32_remainder, std::string(r.bytes.begin(), r.bytes.end())));
            for (const picoseconds at : s->limits) seen.push_back(fmt::format("limit {}", at));
            for (const picoseconds at : s->parts) seen.push_back(fmt::format("part {}", at));
            for (const picoseconds at : s->sent) seen.push_back(fmt::format("sent {}", at));
            found.received += s->received.size();
            for (const auto& r : s->received)
                found.damaged += r.remainder != 0, found.damaged32 += r.crc32_remainder != 0;
        }
        for (const auto& c : bench_.net.cables()) found.stops += c->ab.stops.value() + c->ba.stops.value();
        return found;
    }

private:
    static constexpr unsigned packets_each = 150;

    struct part {
        std::vector<std::uint8_t> bytes;
        bool last;
        picoseconds period;
        std::optional<std::uint64_t> crc32_from;
    };

    void add_packet(unsigned from) {
        unsigned to = from;
        // A switch leads back to the sender too.
        do to = static_cast<unsigned>(random_.below(queues_.size()));
        while (to == from && bench_.net.switches().empty());
        std::vector<std::uint8_t> bytes = bench_.net.route(from, to);
        const std::size_t route = bytes.size();
        bytes.push_back(static_cast<std::uint8_t>(random_.below(128)));
        for (std::uint64_t n = random_.below(random_.chance(0.2) ? 600 : 60); n > 0; --n)
            bytes.push_back(static_cast<std::uint8_t>(random_.next()));
        std::optional<std::uint64_t> crc32_from;
        if (random_.chance(0.4)) crc32_from = route + random_.below(bytes.size() - route);
        for (std::size_t first = 0; first < bytes.size();) {
            const std::size_t rest = bytes.size() - first;
            const std::size_t n = random_.chance(0.5) ? rest : 1 + random_.below(rest);
            part p{{bytes.begin() + static_cast<std::ptrdiff_t>(first),
                    bytes.begin() + static_cast<std::ptrdiff_t>(first + n)},
                   n == rest,
                   random_.chance(0.3) ? random_.below(20'000) : 0,
                   {}};
            if (crc32_from && *crc32_from >= first && *crc32_from < first + n)
                p.crc32_from = *crc32_from - first;
            queues_[from].push_back(std::move(p));
            first += n;
        }
    }
    void add_station(unsigned at) {
        link::station& s = bench_[at];
        s.when_head = [this, at] { later(at, [this, at] { take(at); }); };
        s.when_limit = [this, at] { later(at, [this, at] { take(at); }); };
        s.when_part = s.when_sent = [this, at] { later(at, [this, at] { send(at); }); };
        bench_.script.at(random_.below(2'000'000), [this, at] { send(at); });
    }
    void later(unsigned station, std::function<void()> what) {
        sim::random_stream& random = each_[station];
        bench_.script.at(sim::now() + (random.chance(0.3) ? random.below(2'000'000) : 1 + random.below(2)),
                         std::move(what));
    }
    void send(unsigned from) {
        if (queues_[from].empty()) return;
        const part p = std::move(queues_[from].front());
        queues_[from].pop_front();
        bench_[from].nic.send(p.bytes, p.last, p.period, p.crc32_from);
    }
    void take(unsigned at) {
        sim::random_stream& random = each_[at];
        link::port& nic = bench_[at].nic;
        const std::uint64_t here = nic.taken(sim::now());
        std::optional<std::uint64_t> crc32_from;
        if (random.chance(0.2)) crc32_from = here;
        nic.take(random.chance(0.5) ? sim::never : here + 1 + random.below(200), random.below(4) * 2'500,
                 crc32_from);
    }

    sim::random_stream random_;  ///< of the packets
    /// Of what each station does, in whatever order the kernel wakes them.
    std::deque<sim::random_stream> each_;
    link::bench bench_;
    std::vector<std::deque<part>> queues_;
};

result run(std::uint64_t seed, const link::topology& t, const link::bench::settings& given) {
    return traffic(seed, t, given).run();
}

class link_port_rtl : public testing::TestWithParam<std::uint64_t> {};

TEST_P(link_port_rtl, does_what_the_model_does_at_the_same_picosecond) {
    const std::uint64_t seed = GetParam();
    sim::random_stream random(seed, "network");
    const link::topology t = seed % 4 == 0 ? link::topology::back_to_back() : link::random_topology(random);
    link::bench::settings given{{"link.byte_ps", seed % 2 != 0 ? "6250" : "4000"},
                                {"link.length_mm", std::to_string(1 + random.below(30'000))},
                                {"switch.routing_ps", std::to_string(random.below(300'000))}};
    if (seed % 3 == 0) given.emplace_back("link.bit_error_rate", "0.0001");
    const result models = run(seed, t, given);
    given.emplace_back("port.impl", "rtl");
    test::expect_same(models.events, run(seed, t, given).events);
    EXPECT_GT(models.received, 100u);
    EXPECT_GT(models.stops, 5u);
    EXPECT_EQ(models.damaged != 0, seed % 3 == 0);
    EXPECT_GT(models.damaged32, 0u);  // stations look for a CRC-32 where none is
    RecordProperty("packets", std::to_string(models.received));
}

INSTANTIATE_TEST_SUITE_P(seeds, link_port_rtl, testing::Range<std::uint64_t>(1, 13));

TEST(link_port_rtl_block, a_link_that_is_not_myrinet_is_refused) {
    for (const auto& [name, value] : link::bench::settings{
             {"link.crc8", "false"}, {"link.gap_bytes", "12"}, {"link.flow_control", "false"}}) {
        const auto run = [&] {
            link::bench b(link::topology::back_to_back(), {{"port.impl", "rtl"}, {name, value}});
            b.run();
        };
        EXPECT_THROW(run(), sim::input_error) << name;
    }
}

TEST(link_port_rtl_block, a_slack_buffer_larger_than_that_of_the_rtl_is_refused) {
    link::bench b(link::topology::back_to_back(), {{"port.impl", "rtl"}, {"port.slack_bytes", "1025"}});
    EXPECT_THROW(b.run(), sim::input_error);
}

}  // namespace
}  // namespace vinic::rtl
