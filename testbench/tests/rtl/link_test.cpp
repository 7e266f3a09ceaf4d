// SPDX-License-Identifier: Apache-2.0
// Framer, cable and deframer in RTL against the closed-form schedules of hw/link: every character, every
// STOP and GO, and every character that is taken, clock by clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "hw/link/checker.h"
#include "hw/link/crc.h"
#include "hw/rtl/link/deframer_block.h"
#include "hw/rtl/link/framer_block.h"
#include "hw/sim/error.h"
#include "hw/sim/random.h"
#include "testbench/tests/link/bench.h"
#include "testbench/tests/link/tap.h"

namespace vinic::rtl {
namespace {

using link::picoseconds;
using clock_number = std::uint64_t;

constexpr picoseconds byte_ps = 4000;

/// What happens on the link, in clocks of a byte.
struct stimulus {
    struct part {
        std::uint64_t packet;
        clock_number at;
        std::uint64_t first, bytes;
        std::uint64_t period;  ///< 0: all bytes at once
        bool last;
    };
    struct content {
        std::vector<std::uint8_t> bytes;
        bool crc32 = false;
        std::uint64_t crc32_from = 0;
        std::uint64_t limit = 0;  ///< so much is taken at the head
        std::uint64_t damaged = 0;
        std::uint8_t damage = 0;
    };
    unsigned stop_above, go_below, delay;
    std::vector<content> packets;
    std::vector<part> parts;
    sim::random_stream takes;
    std::map<clock_number, std::uint64_t> raises;  ///< the packet at hand may be taken so much further

    stimulus(std::uint64_t seed, unsigned count, bool damage) : takes(seed, "takes") {
        sim::random_stream random(seed, "stimulus");
        const unsigned deepest = seed % 3 == 0 ? deframer_block::slack_bytes - 100 : 90;
        stop_above = 4 + static_cast<unsigned>(random.below(deepest));
        go_below = 1 + static_cast<unsigned>(random.below(stop_above + 1));
        delay = 1 + static_cast<unsigned>(random.below((deepest + 30 - stop_above) / 2));
        clock_number at = 10;
        for (unsigned n = 0; n < count; ++n) at = add_packet(random, n, at, damage);
        draw_raises(at * 3);
    }
    clock_number add_packet(sim::random_stream& random, std::uint64_t number, clock_number at, bool damage) {
        content c;
        const std::uint64_t size = 1 + random.below(random.chance(0.05) ? 300 : 40);
        for (std::uint64_t i = 0; i < size; ++i) c.bytes.push_back(static_cast<std::uint8_t>(random.next()));
        c.crc32 = random.chance(0.4);
        c.crc32_from = c.crc32 ? random.below(size) : 0;
        c.limit = random.chance(0.6) ? 1000 : random.below(30);
        if (damage && random.chance(0.3)) {
            c.damaged = random.below(size);
            c.damage = static_cast<std::uint8_t>(1 + random.below(255));
        }
        for (std::uint64_t first = 0; first < size;) {
            const std::uint64_t n = random.chance(0.6) ? size - first : 1 + random.below(size - first);
            const std::uint64_t period = c.crc32 ? random.below(2) : random.below(4);
            parts.push_back({number, at, first, n, period, first + n == size});
            first += n;
            at += random.below(random.chance(0.2) ? 80 : 20);
        }
        packets.push_back(std::move(c));
        return at;
    }
    /// Now often, now hardly ever.
    void draw_raises(clock_number until) {
        for (clock_number k = 0; k < until; ++k)
            if (takes.chance(k / 2000 % 3 == 0 ? 0.01 : 0.2)) raises[k] = 1 + takes.below(40);
        for (clock_number k = until; k < until + 100'000; k += 10) raises[k] = 1000;
    }
    /// The bytes of a packet as the card gives them to the model's port.
    std::vector<std::uint8_t> with_crc32(const content& c) const {
        std::vector<std::uint8_t> bytes = c.bytes;
        if (!c.crc32) return bytes;
        const std::uint32_t crc = link::crc32(std::span(c.bytes).subspan(c.crc32_from));
        for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<std::uint8_t>(crc >> shift));
        return bytes;
    }
};

/// What was seen at the receiver.
struct sight {
    struct character {
        clock_number at;
        bool gap;
        std::uint8_t byte;
        bool operator==(const character&) const = default;
    };
    struct flow {
        clock_number at;
        bool stop;
        bool operator==(const flow&) const = default;
    };
    struct tail {
        clock_number at;
        std::uint8_t remainder;
        std::uint32_t crc32_remainder;
        bool misrouted;
        std::vector<std::uint8_t> bytes;  ///< CRCs included
    };
    std::vector<character> arrived;
    std::vector<flow> flows;  ///< symbols that are through
    std::vector<clock_number> taken;
    std::vector<tail> tails;
    std::uint64_t framer_edges = 0, deframer_edges = 0;
    clock_number end = 0;
};

std::ostream& operator<<(std::ostream& to, const sight::character& c) {
    return to << "clock " << c.at << (c.gap ? " GAP" : " byte ") << unsigned{c.byte};
}
std::ostream& operator<<(std::ostream& to, const sight::flow& f) {
    return to << "clock " << f.at << (f.stop ? " STOP" : " GO");
}

/// Two ports of hw/link and a cable.
struct model_link {
    explicit model_link(const stimulus& given)
        : s(given),
          simulation(
              link::bench::configured({{"link.byte_ps", std::to_string(byte_ps)},
                                       {"link.length_mm", "1"},
                                       {"link.delay_fs_per_mm", "4000"},
                                       {"link.fixed_delay_ps", std::to_string(given.delay * byte_ps - 4)},
                                       {"port.slack_bytes", std::to_string(deframer_block::slack_bytes)},
                                       {"port.stop_above", std::to_string(given.stop_above)},
                                       {"port.go_below", std::to_string(given.go_below)}})) {
        a.nic.out.bind(cable.from_a);
        cable.to_a.bind(a.nic.in);
        b.nic.out.bind(tap.from_card);
        tap.to_net.bind(cable.from_b);
        cable.to_b.bind(tap.from_net);
        tap.to_card.bind(b.nic.in);
    }
    const stimulus& s;
    sim::simulation simulation;
    link::station a{"a"}, b{"b"};
    link::cable cable{"cable"};
    link::tap tap{"tap"};
    link::actor script;
    sight seen;
    bool open = false;
    clock_number head = 0;
    std::uint64_t limit = 0;

    void take() {
        if (limit > 0) b.nic.take(limit, byte_ps);
    }
    void send(const stimulus::part& p) {
        std::vector<std::uint8_t> bytes = s.with_crc32(s.packets[p.packet]);
        const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(p.first);
        const auto end = p.last ? bytes.end() : first + static_cast<std::ptrdiff_t>(p.bytes);
        a.nic.send({first, end}, p.last, p.period * byte_ps);
    }
    sight run() {
        for (const stimulus::part& p : s.parts) script.at(p.at * byte_ps, [this, p] { send(p); });
        for (const auto& [at, more] : s.raises)
            script.at(at * byte_ps, [this, at, more] {
                if (!open || head == at) return;
                limit += more;
                take();
            });
        b.when_head = [this] {
            open = true;
            head = sim::now() / byte_ps;
            limit = s.packets[b.received.size()].limit;
            take();
        };
        b.when_tail = [this] { open = false; };
        std::uint64_t taken = 0;
        for (clock_number k = 0; b.received.size() < s.packets.size(); ++k) {
            sc_core::sc_start(sim::to_sc_time(k * byte_ps + byte_ps / 2 - sim::now()));
            for (const std::uint64_t now = b.nic.taking().passed(sim::now()); taken < now; ++taken)
                seen.taken.push_back(k);
        }
        for (const link::symbol& c : tap.symbols(link::tap::inward)) {
            EXPECT_EQ(c.at % byte_ps, 0u);
            if (c.what == link::symbol::kind::data || c.what == link::symbol::kind::gap)
                seen.arrived.push_back({c.at / byte_ps, c.what == link::symbol::kind::gap, c.byte});
            else
                seen.flows.push_back({c.at / byte_ps, c.what == link::symbol::kind::stop});
        }
        return std::move(seen);
    }
};

/// Framer, delay and deframer in RTL. Gated: a block whose `quiet` stands has no edge.
class rtl_link {
public:
    rtl_link(const stimulus& given, bool gated) : s_(given), gated_(gated) {
        deframer_.set_thresholds(given.stop_above, given.go_below);
    }

    sight run() {
        clock_number k = 0;
        for (; seen_.tails.size() < s_.packets.size(); ++k) {
            offer(k);
            send(k);
            receive(k);
        }
        seen_.end = k;
        return std::move(seen_);
    }

private:
    struct offered {
        clock_number from;
        std::uint8_t byte;
        bool last, crc32;
    };

    void offer(clock_number k) {
        for (; next_part_ < s_.parts.size() && s_.parts[next_part_].at == k; ++next_part_) {
            const stimulus::part& p = s_.parts[next_part_];
            const stimulus::content& c = s_.packets[p.packet];
            for (std::uint64_t i = 0; i < p.bytes; ++i) {
                const std::uint64_t n = p.first + i;
                source_.push_back(
                    {k + i * p.period, c.bytes[n], p.last && i + 1 == p.bytes, c.crc32 && n == c.crc32_from});
            }
        }
    }
    void send(clock_number k) {
        framer_block::inputs in;
        if (!source_.empty() && source_.front().from <= k) {
            const offered& o = source_.front();
            in = {.valid = true, .byte = o.byte, .last = o.last, .crc32 = o.crc32};
        }
        if (!backward_.empty() && backward_.front().at == k) {
            (backward_.front().stop ? in.stop : in.go) = true;
            backward_.pop_front();
        }
        const framer_block::outputs out = framer_.drive(in);
        if (in.valid && out.ready) source_.pop_front();
        if (out.valid) put_on_the_cable({k + 1 + s_.delay, out.gap, out.byte});
        if (gated_ && out.quiet) return;
        framer_.clock();
        ++seen_.framer_edges;
    }
    void put_on_the_cable(sight::character c) {
        seen_.arrived.push_back(c);
        const stimulus::content& packet = s_.packets[sent_packets_];
        if (sent_bytes_ == packet.damaged) c.byte ^= packet.damage;
        forward_.push_back(c);
        ++sent_bytes_;
        if (c.gap) ++sent_packets_, sent_bytes_ = 0;
    }
    void begin_packet(clock_number k) {
        open_ = true;
        head_ = k;
        limit_ = s_.packets[seen_.tails.size()].limit;
        bytes_.clear();
    }
    void receive(clock_number k) {
        deframer_block::inputs in;
        if (!forward_.empty() && forward_.front().at == k) {
            in = {.valid = true, .gap = forward_.front().gap, .byte = forward_.front().byte};
            forward_.pop_front();
        }
        if (!open_ && in.valid) begin_packet(k);
        if (const auto more = s_.raises.find(k); more != s_.raises.end() && open_ && head_ != k)
            limit_ += more->second;
        const stimulus::content& packet = s_.packets[seen_.tails.size()];
        in.ready = true;
        in.take = open_ && bytes_.size() < limit_;
        in.take_crc32 = packet.crc32 && bytes_.size() == packet.crc32_from;
        const deframer_block::outputs out = deframer_.drive(in);
        in_buffer_ += in.valid;
        if (out.valid) taken(k, out);
        if (out.send_stop || out.send_go) {
            backward_.push_back({k + 1 + s_.delay, out.send_stop});
            seen_.flows.push_back({k + 1, out.send_stop});
        }
        if (gated_ && out.quiet) return;
        deframer_.clock();
        ++seen_.deframer_edges;
    }
    void taken(clock_number k, const deframer_block::outputs& out) {
        --in_buffer_;
        seen_.taken.push_back(k);
        if (!out.gap) return bytes_.push_back(out.byte);
        seen_.tails.push_back({k, out.remainder, out.crc32_remainder, out.misrouted, bytes_});
        open_ = false;
        if (in_buffer_ > 0) begin_packet(k);
    }

    const stimulus& s_;
    bool gated_;
    sim::simulation simulation_;
    framer_block framer_{"framer"};
    deframer_block deframer_{"deframer"};
    std::deque<offered> source_;
    std::deque<sight::character> forward_;  ///< by the clock in which they are through
    std::deque<sight::flow> backward_;
    sight seen_;
    std::size_t next_part_ = 0;
    std::uint64_t sent_packets_ = 0, sent_bytes_ = 0;
    std::uint64_t in_buffer_ = 0;
    bool open_ = false;
    clock_number head_ = 0;
    std::uint64_t limit_ = 0;
    std::vector<std::uint8_t> bytes_;
};

template <typename T>
void expect_same(const std::vector<T>& model, const std::vector<T>& rtl, const char* what) {
    for (std::size_t i = 0; i < std::min(model.size(), rtl.size()); ++i)
        ASSERT_EQ(model[i], rtl[i]) << what << " " << i;
    EXPECT_EQ(model.size(), rtl.size()) << what;
}

class link_rtl : public testing::TestWithParam<std::uint64_t> {};

TEST_P(link_rtl, does_what_the_schedules_say_in_the_same_clock) {
    const stimulus s(GetParam(), 10'000, false);
    const sight model = model_link(s).run();
    const sight rtl = rtl_link(s, true).run();
    EXPECT_GT(model.flows.size(), 100u);
    expect_same(model.arrived, rtl.arrived, "character");
    expect_same(model.flows, rtl.flows, "flow control");
    expect_same(model.taken, rtl.taken, "taken");
    for (const sight::tail& t : rtl.tails) {
        ASSERT_EQ(t.remainder, 0u);
        ASSERT_EQ(t.crc32_remainder, 0u);
    }
}

TEST_P(link_rtl, does_the_same_with_clocks_that_stand_when_quiet) {
    const stimulus s(GetParam(), 10'000, true);
    const sight gated = rtl_link(s, true).run();
    const sight free = rtl_link(s, false).run();
    expect_same(free.arrived, gated.arrived, "character");
    expect_same(free.flows, gated.flows, "flow control");
    expect_same(free.taken, gated.taken, "taken");
    EXPECT_EQ(free.framer_edges, free.end);
    EXPECT_EQ(free.deframer_edges, free.end);
    EXPECT_LT(gated.framer_edges, free.framer_edges);
    EXPECT_LT(gated.deframer_edges, free.deframer_edges);
    RecordProperty("clocks", std::to_string(free.end));
    RecordProperty("framer_edges", std::to_string(gated.framer_edges));
    RecordProperty("deframer_edges", std::to_string(gated.deframer_edges));
}

TEST_P(link_rtl, finds_damage_as_the_checksums_of_the_model_do) {
    const stimulus s(GetParam(), 10'000, true);
    const sight rtl = rtl_link(s, true).run();
    unsigned damaged = 0;
    for (std::size_t i = 0; i < rtl.tails.size(); ++i) {
        const sight::tail& t = rtl.tails[i];
        const stimulus::content& c = s.packets[i];
        ASSERT_EQ(t.remainder, link::crc8(t.bytes)) << "packet " << i;
        ASSERT_EQ(t.misrouted, (t.bytes[0] & 0x80) != 0) << "packet " << i;
        const auto content = std::span(t.bytes).first(t.bytes.size() - 1);
        std::uint32_t crc32 = 0;
        if (c.crc32) {
            crc32 = link::crc32(content.subspan(c.crc32_from, content.size() - 4 - c.crc32_from));
            for (std::size_t n = 0; n < 4; ++n)
                crc32 ^= std::uint32_t{content[content.size() - 4 + n]} << (24 - 8 * n);
        }
        ASSERT_EQ(t.crc32_remainder, crc32) << "packet " << i;
        EXPECT_EQ(t.remainder != 0, c.damage != 0) << "packet " << i;  // a single byte: always found
        damaged += c.damage != 0;
    }
    EXPECT_GT(damaged, 1000u);
}

TEST_P(link_rtl, keeps_the_rules_of_the_link) {
    const stimulus s(GetParam(), 10'000, false);
    const sight rtl = rtl_link(s, true).run();
    std::vector<link::symbol> symbols;
    for (const sight::flow& f : rtl.flows)
        symbols.push_back({f.at * byte_ps, f.stop ? link::symbol::kind::stop : link::symbol::kind::go, 0});
    for (const sight::character& c : rtl.arrived)
        symbols.push_back(
            {c.at * byte_ps, c.gap ? link::symbol::kind::gap : link::symbol::kind::data, c.byte});
    std::ranges::stable_sort(symbols, {}, &link::symbol::at);  // STOP and GO of an instant come first
    link::checker rules({.byte_ps = byte_ps, .delay_ps = s.delay * byte_ps});
    for (const link::symbol& one : symbols) rules.see(one);
    EXPECT_EQ(rules.packets(), s.packets.size());
    for (const link::checker::violation& v : rules.violations()) ADD_FAILURE() << v.at << " ps: " << v.text;
}

INSTANTIATE_TEST_SUITE_P(seeds, link_rtl, testing::Values(1, 2, 3, 4, 5, 6));

TEST(link_rtl, a_packet_too_short_for_a_crc32_has_none) {
    sim::simulation simulation;
    deframer_block deframer("deframer");
    deframer.set_thresholds(56, 40);
    for (const std::uint8_t byte : {1, 2, 3, 4}) {
        deframer.drive({.valid = true, .byte = byte, .ready = true, .take = true, .take_crc32 = byte == 1});
        deframer.clock();
    }
    const deframer_block::outputs tail = deframer.drive({.valid = true, .gap = true, .ready = true});
    EXPECT_TRUE(tail.valid);
    EXPECT_EQ(tail.crc32_remainder, ~0u);
}

TEST(link_rtl, a_full_slack_buffer_breaks_an_assertion) {
    sim::simulation simulation;
    deframer_block deframer("deframer");
    EXPECT_THROW(
        {
            for (unsigned i = 0; i <= deframer_block::slack_bytes; ++i) {
                deframer.drive({.valid = true});
                deframer.clock();
            }
        },
        sim::model_error);
}

}  // namespace
}  // namespace vinic::rtl
