// SPDX-License-Identifier: Apache-2.0
// The whole card: started through the bus, and two of them under random traffic, in both modes of the core.
#include "hw/nic/lanai_card.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>

#include "firmware/abi/card_map.h"
#include "firmware/abi/lanai_registers.h"
#include "hw/link/cable.h"
#include "hw/rtl/available.h"
#include "hw/sim/random.h"
#include "testbench/tests/bus/bus_fixture.h"
#include "testbench/tests/nic/assembler.h"
#include "testbench/tests/nic/span_log.h"
#include "testbench/tests/nic/timeline.h"

namespace vinic::nic {
namespace {

using test::assembler;
using condition = lanai::condition;
namespace reg = abi::lanai9;
namespace map = abi::card_map;

constexpr std::uint64_t card_base = 0x80000000, host_base = 0x10000000;
constexpr std::uint32_t host_size = 1 << 18;

constexpr std::int32_t offset_of(reg::register_offset r) { return static_cast<std::int32_t>(r) - 0x200; }

std::vector<std::uint8_t> big(std::initializer_list<std::uint32_t> words) {
    std::vector<std::uint8_t> bytes(words.size() * 4);
    std::size_t i = 0;
    for (const std::uint32_t w : words) store_big(bytes.data() + 4 * i++, w);
    return bytes;
}
std::vector<std::uint8_t> little(std::uint32_t word) {
    std::vector<std::uint8_t> bytes(4);
    store_little(bytes.data(), word);
    return bytes;
}

/// A host that only does what it is told: a master for its accesses to the card, and a memory.
struct node : sim::module, bus::job_client {
    explicit node(const sc_core::sc_module_name& name)
        : module(name),
          bus("bus"),
          memory("memory", bus.properties(), host_base, host_size),
          cpu("cpu", bus.properties(), {0, 0, 0}),
          card("nic", bus.properties(), {0, 4, 0}) {
        bus.attach(cpu);
        bus.map(bus.attach(memory.port, {{0, 0, 0}}), host_base, host_size);
        bus.map(card.attach(bus), card_base, map::bar_bytes);
        card.interrupt = [this](bool level) { interrupts.emplace_back(sim::now(), level); };
    }
    bus::pci_bus bus;
    bus::test::memory_target memory;
    bus::master cpu;
    lanai_card card;
    std::vector<std::pair<sim::picoseconds, bool>> interrupts;

    struct access {
        std::vector<std::uint8_t> bytes;
        bus::job job;
        sim::picoseconds done = 0;
    };
    std::deque<access> accesses;

    void write(std::uint32_t offset, std::vector<std::uint8_t> bytes) {
        start(bus::job::kind::write, offset, std::move(bytes));
    }
    access& read(std::uint32_t offset, std::size_t bytes) {
        return start(bus::job::kind::read, offset, std::vector<std::uint8_t>(bytes));
    }
    access& start(bus::job::kind what, std::uint32_t offset, std::vector<std::uint8_t> bytes) {
        accesses.emplace_back();
        access& a = accesses.back();
        a.bytes = std::move(bytes);
        a.job = {.what = what, .address = card_base + offset, .bytes = a.bytes, .client = this};
        cpu.start(a.job);
        return a;
    }
    void on_done(bus::job& job, bus::job_status status) override {
        EXPECT_EQ(status, bus::job_status::done);
        for (access& a : accesses)
            if (&a.job == &job) a.done = sim::now();
    }
    /// As the driver does it: firmware through the bus, then out of reset.
    void boot(const assembler& program) {
        write(0, program.bytes());
        write(map::control, little(map::CONTROL_LANAI_RESET_REMOVE | map::CONTROL_INTERRUPT_ENABLE));
    }
};

struct bench {
    explicit bench(const test::settings& given = {}, bool turned = false)
        : simulation(test::configured(given)),
          nodes(build(turned)),
          a(*nodes[0]),
          b(*nodes[1]),
          cable("cable") {
        a.card.link.out.bind(cable.from_a);
        cable.to_b.bind(b.card.link.in);
        b.card.link.out.bind(cable.from_b);
        cable.to_a.bind(a.card.link.in);
    }
    static std::array<std::unique_ptr<node>, 2> build(bool turned) {
        std::array<std::unique_ptr<node>, 2> made;
        for (const std::size_t i : turned ? std::array{1, 0} : std::array{0, 1})
            made[i] = std::make_unique<node>(i == 0 ? "node0" : "node1");
        return made;
    }
    sim::simulation simulation;
    std::array<std::unique_ptr<node>, 2> nodes;
    node &a, &b;
    link::cable cable;
    test::timeline script;
};

/// Events without any effect, which change the order in which the kernel wakes those of the same instant.
class disturbance : public sim::module {
public:
    disturbance(std::uint64_t seed, sim::picoseconds until)
        : module("disturbance"), random_(seed, "disturbance") {
        SC_HAS_PROCESS(disturbance);
        SC_METHOD(wake);
        for (sc_core::sc_event& e : events_) {
            sensitive << e;
            again(e, until);
        }
        dont_initialize();
        until_ = until;
    }

private:
    void again(sc_core::sc_event& e, sim::picoseconds until) {
        // Multiples of 7500 ps: edges of both clocks.
        if (sim::now() < until) e.notify(sim::to_sc_time((1 + random_.below(40)) * 7500));
    }
    void wake() {
        for (sc_core::sc_event& e : events_)
            if (e.triggered()) again(e, until_);
    }
    sim::random_stream random_;
    sim::picoseconds until_ = 0;
    std::array<sc_core::sc_event, 8> events_;
};

TEST(lanai_card, boots_through_the_bus_and_interrupts_the_host) {
    bench b;
    assembler p;
    p.li(6, reg::ISR_HOST_SIG)
        .st(6, 0, offset_of(reg::EIMR))
        .st(6, 0, offset_of(reg::ISR))
        .label("end")
        .jump("end");
    b.script.at(0, [&] { b.a.boot(p); });
    b.script.at(50'000'000, [&] { b.a.write(map::special_registers + reg::ISR, big({reg::ISR_HOST_SIG})); });
    sc_core::sc_start(sim::to_sc_time(100'000'000));
    ASSERT_EQ(b.a.interrupts.size(), 2u);
    EXPECT_LT(b.a.interrupts[0].first, 5'000'000u);
    EXPECT_TRUE(b.a.interrupts[0].second);
    EXPECT_GT(b.a.interrupts[1].first, 50'000'000u);
    EXPECT_FALSE(b.a.interrupts[1].second);
}

TEST(lanai_card, message_from_host_to_host) {
    // A: when the word at 0x7000 is set, fetch 256 bytes by DMA, send them. B: receive, write them to the
    // host.
    bench b;
    test::span_log log;
    for (const auto& [name, probe] : sim::simulation::current().probes())
        if (!name.ends_with(".pc") && !name.ends_with(".instruction") && !name.ends_with(".stall"))
            probe->attach(log);
    assembler sender, receiver;
    sender.li(20, 0x7000).li(8, reg::ISR_WAKE0).li(9, 1);
    sender.label("idle").ld(6, 20, 0).nop().compare(6, 0).branch(condition::eq, "idle");
    sender.st(9, 0, offset_of(reg::PULSE));
    sender.label("dma").ld(6, 0, offset_of(reg::ISR)).test(6, 8).branch(condition::eq, "dma");
    sender.li(6, 0x4000).st(6, 0, offset_of(reg::SMP)).li(6, 0x40FC).st(6, 0, offset_of(reg::SMLT));
    sender.label("end").jump("end");
    receiver.li(8, reg::ISR_RECV).li(9, 2);
    receiver.li(6, 0x5000).st(6, 0, offset_of(reg::RMP)).li(6, 0x51FC).st(6, 0, offset_of(reg::RML));
    receiver.label("idle").ld(6, 0, offset_of(reg::ISR)).test(6, 8).branch(condition::eq, "idle");
    receiver.st(9, 0, offset_of(reg::PULSE)).label("end").jump("end");
    const auto data = test::counted(256);
    std::ranges::copy(data, b.a.memory.memory.begin() + 0x1000);
    b.script.at(0, [&] {
        b.a.write(0x3000, big({abi::dma_flag_host_to_lanai | abi::dma_flag_terminal | abi::dma_flag_wake, 0,
                               256, 0x4000, 0, static_cast<std::uint32_t>(host_base + 0x1000)}));
        b.a.write(map::pointers, little(0x3000));
        b.a.boot(sender);
        b.b.write(0x3000, big({abi::dma_flag_terminal, 0, 256, 0x5000, 0,
                               static_cast<std::uint32_t>(host_base + 0x2000)}));
        b.b.write(map::pointers + 4, little(0x3000));
        b.b.boot(receiver);
    });
    b.script.at(20'000'000, [&] { b.a.write(0x7000, big({1})); });
    sc_core::sc_start();
    EXPECT_TRUE(std::equal(data.begin(), data.end(), b.b.memory.memory.begin() + 0x2000));
    // The chain of events, in order: fetch of the block, payload, send, reception, payload to the host.
    const auto& fetch = log.spans.at("node0.nic.dma.channel0.fetch").at(0);
    const auto& in = log.spans.at("node0.nic.dma.channel0.payload").at(0);
    const auto& part = log.spans.at("node0.nic.send.part").at(0);
    const auto& reception = log.spans.at("node1.nic.receive.reception").at(0);
    const auto& out = log.spans.at("node1.nic.dma.channel1.payload").at(0);
    EXPECT_GT(fetch.begin, 20'000'000u);
    EXPECT_LE(fetch.end, in.begin);
    EXPECT_LE(in.end, part.begin);
    EXPECT_LE(part.begin, reception.begin);
    EXPECT_LE(part.end, reception.end);
    EXPECT_LE(reception.end, out.begin);
    EXPECT_EQ(out.fields.at("host_address"), host_base + 0x2000);
}

/// Polls ISR, answers each event, stores all the time: what a firmware does, without sense.
assembler busy_firmware() {
    assembler p;
    p.li(20, 0x7000).li(21, 0x6000).li(22, 0x9000).li(24, 0xFFC).li(25, 0x1FFFF).li(9, 2);
    p.li(16, 0x8000).li(17, 0x87FC);
    p.st(16, 0, offset_of(reg::RMP)).st(17, 0, offset_of(reg::RML));
    p.li(6, reg::ISR_HOST_SIG).st(6, 0, offset_of(reg::EIMR)).addi(12, 0, 1);
    p.label("loop")
        .ld(6, 0, offset_of(reg::ISR))
        .li(8, reg::ISR_RECV)
        .test(6, 8)
        .branch(condition::eq, "no_recv");
    p.li(8, reg::ISR_RECV | reg::ISR_ORUN1 | reg::ISR_ORUN2 | reg::ISR_ORUN4).st(8, 0, offset_of(reg::ISR));
    p.addi(10, 10, 1).ld(11, 0, offset_of(reg::RMP)).st(11, 22, 0).addi(22, 22, 4).and_(22, 22, 25);
    p.st(16, 0, offset_of(reg::RMP)).st(17, 0, offset_of(reg::RML)).st(9, 0, offset_of(reg::PULSE));
    p.label("no_recv").li(8, reg::ISR_SEND).test(6, 8).branch(condition::eq, "no_send");
    p.st(8, 0, offset_of(reg::ISR)).addi(12, 0, 1);
    p.label("no_send").li(8, reg::ISR_WAKE0 | reg::ISR_WAKE1).test(6, 8).branch(condition::eq, "no_wake");
    p.st(8, 0, offset_of(reg::ISR)).addi(13, 13, 1).li(8, reg::ISR_HOST_SIG).st(8, 0, offset_of(reg::ISR));
    p.label("no_wake").ld(7, 20, 0).nop().compare(7, 0).branch(condition::eq, "no_request");
    p.compare(12, 0).branch(condition::eq, "no_request");
    p.st(0, 20, 0).addi(12, 0, 0).st(20, 0, offset_of(reg::SMP)).add(7, 7, 20).st(7, 0, offset_of(reg::SMLT));
    p.label("no_request")
        .addi(14, 14, 77)
        .and_(15, 14, 24)
        .add(15, 15, 21)
        .st(14, 15, 0)
        .store_byte(10, 15, 1);
    p.ld(7, 15, 0).ld(18, 0, offset_of(reg::RTC)).st(18, 20, 16).addi(19, 19, 1).jump("loop");
    return p;
}

/// Polls one thing at a time, so that the core is idle between the events.
assembler lazy_firmware() {
    assembler p;
    p.li(20, 0x7000).li(9, 2).li(16, 0x8000).li(17, 0x87FC).addi(12, 0, 1);
    p.st(16, 0, offset_of(reg::RMP)).st(17, 0, offset_of(reg::RML));
    p.li(8, reg::ISR_RECV).li(18, reg::ISR_SEND);
    p.li(5, reg::ISR_RECV | reg::ISR_ORUN1 | reg::ISR_ORUN2 | reg::ISR_ORUN4);
    p.label("loop").ld(6, 0, offset_of(reg::ISR)).test(6, 8).branch(condition::ne, "recv");
    p.test(6, 18).branch(condition::ne, "sent");
    p.ld(7, 20, 0)
        .nop()
        .compare(7, 0)
        .branch(condition::eq, "loop")
        .compare(12, 0)
        .branch(condition::eq, "loop");
    p.st(0, 20, 0)
        .addi(12, 0, 0)
        .st(20, 0, offset_of(reg::SMP))
        .add(7, 7, 20)
        .st(7, 0, offset_of(reg::SMLT))
        .jump("loop");
    p.label("sent").st(18, 0, offset_of(reg::ISR)).addi(12, 0, 1).jump("loop");
    p.label("recv").st(5, 0, offset_of(reg::ISR)).addi(10, 10, 1).ld(19, 0, offset_of(reg::CPUC));
    p.st(16, 0, offset_of(reg::RMP))
        .st(17, 0, offset_of(reg::RML))
        .st(9, 0, offset_of(reg::PULSE))
        .jump("loop");
    return p;
}

struct outcome {
    std::vector<std::vector<std::uint8_t>> memories;
    std::vector<std::pair<std::vector<std::uint8_t>, sim::picoseconds>> reads;
    std::vector<std::array<std::uint32_t, 32>> registers;
    std::vector<std::vector<std::pair<sim::picoseconds, bool>>> interrupts;
    std::map<std::string, std::vector<std::pair<std::string, std::uint64_t>>> statistics;
    std::map<std::string, std::uint64_t> probes;
    bool operator==(const outcome&) const = default;
};

void prepare(node& n, std::uint64_t seed) {
    // Channel 0: a ring of 4 blocks to the card; channel 1: what was received, to the host.
    for (std::uint32_t i = 0; i < 4; ++i)
        n.card.memory.poke(
            0x3000 + 24 * i,
            big({(0x3000 + 24 * ((i + 1) % 4)) | abi::dma_flag_host_to_lanai | abi::dma_flag_wake |
                     (i % 2 == 1 ? abi::dma_flag_terminal : 0),
                 0, 40 + i * 333, 0xA000 + i * 0x801, 0, static_cast<std::uint32_t>(host_base + i * 0x503)}));
    n.card.memory.poke(0x3100, big({0x3100 | abi::dma_flag_terminal | abi::dma_flag_wake, 0, 700, 0x8000, 0,
                                    static_cast<std::uint32_t>(host_base + 0x8001)}));
    std::vector<std::uint8_t> free(4096, 0xFF);
    n.card.memory.poke(0x10000, free);
    n.card.memory.poke(0x7004, test::counted(0x800, static_cast<unsigned>(seed)));
    for (std::size_t i = 0; i < n.memory.memory.size(); ++i)
        n.memory.memory[i] = static_cast<std::uint8_t>(i * 3 + seed);
}

void random_traffic(bench& b, node& n, sim::random_stream random, unsigned actions, sim::picoseconds spread) {
    sim::picoseconds at = 3'000'000;
    for (unsigned i = 0; i < actions; ++i) {
        at += random.below(spread);
        const std::uint64_t kind = random.below(8), value = random.next();
        b.script.at(at, [&n, kind, value] {
            const auto offset = static_cast<std::uint32_t>(value % 0x4000 / 4 * 4);
            switch (kind) {
                case 0:
                    return n.write(0x20000 + offset,
                                   test::counted(4 + value / 0x4000 % 8 * 4, static_cast<unsigned>(value)));
                case 1:
                    n.read(0x6000 + offset % 0x4000, 4 + value / 0x4000 % 8 * 4);
                    return;
                case 2:
                    return n.write(map::doorbells + offset * 4,
                                   big({static_cast<std::uint32_t>(value >> 32)}));
                case 3:
                    return n.write(map::control, little(map::CONTROL_DMA_TRIGGER0));
                case 4:
                    n.read(map::special_registers + reg::ISR, 4);
                    return;
                case 5:
                    return n.write(map::special_registers + reg::ISR, big({reg::ISR_HOST_SIG}));
                default:
                    return n.write(0x7000, big({static_cast<std::uint32_t>(value % 0x700 / 4 * 4)}));
            }
        });
    }
}

outcome run_random(const assembler& firmware, const test::settings& given, std::uint64_t seed, bool watched,
                   std::uint64_t shuffle = 0) {
    bench b(given, shuffle % 2 == 1);
    std::unique_ptr<disturbance> noise;
    if (shuffle != 0) noise = std::make_unique<disturbance>(shuffle, 160'000'000);
    test::probe_hashes seen;
    if (watched)
        for (const auto& [name, probe] : sim::simulation::current().probes()) probe->attach(seen);
    std::uint64_t number = seed * 2;
    for (node* n : {&b.a, &b.b}) {
        prepare(*n, number);
        b.script.at(0, [n, &firmware] {
            n->write(map::pointers, little(0x3000));
            n->write(map::pointers + 4, little(0x3100));
            n->write(map::pointers + 16, little(0x10000));
            n->boot(firmware);
        });
        random_traffic(b, *n, sim::random_stream(number++, "traffic"), 150, 1'500'000);
    }
    sc_core::sc_start(sim::to_sc_time(160'000'000));
    b.simulation.commit();
    outcome o;
    for (node* n : {&b.a, &b.b}) {
        const auto sram = n->card.memory.contents();
        o.memories.emplace_back(sram.begin(), sram.end());
        o.memories.push_back(n->memory.memory);
        o.registers.push_back(n->card.lanai.core().state().registers);
        o.interrupts.push_back(n->interrupts);
        for (const node::access& a : n->accesses) o.reads.emplace_back(a.bytes, a.done);
    }
    for (const auto& [name, s] : b.simulation.statistics()) o.statistics[name] = s->values(sim::now());
    o.probes = seen.hashes;
    EXPECT_GT(b.a.card.receive.packets.value() + b.b.card.receive.packets.value(), 10u);
    EXPECT_GT(b.a.card.dma.channel0.blocks.value(), 10u);
    return o;
}

void expect_equal(const outcome& x, const outcome& y) {
    EXPECT_TRUE(x.memories == y.memories);
    EXPECT_TRUE(x.reads == y.reads);
    EXPECT_EQ(x.registers, y.registers);
    EXPECT_EQ(x.interrupts, y.interrupts);
    EXPECT_EQ(x.probes.size(), y.probes.size());
    for (const auto& [name, hash] : x.probes) EXPECT_EQ(hash, y.probes.at(name)) << name;
    for (const auto& [name, values] : x.statistics) EXPECT_EQ(values, y.statistics.at(name)) << name;
}

const test::settings lockstep{{"nic.lanai.lockstep", "true"}};

TEST(lanai_card, running_ahead_changes_nothing_under_random_traffic) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        expect_equal(run_random(busy_firmware(), {}, seed, false),
                     run_random(busy_firmware(), lockstep, seed, false));
}

TEST(lanai_card, a_core_in_rtl_changes_nothing_under_random_traffic) {
    if (!rtl::available()) GTEST_SKIP() << "built without Verilator";
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const test::settings in_rtl{{"nic.lanai.impl", "rtl"}};
        expect_equal(run_random(busy_firmware(), {}, seed, false),
                     run_random(busy_firmware(), in_rtl, seed, false));
        expect_equal(run_random(lazy_firmware(), {}, seed, false),
                     run_random(lazy_firmware(), in_rtl, seed, false, seed));
    }
}

TEST(lanai_card, skipping_idle_loops_changes_nothing_under_random_traffic) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        expect_equal(run_random(lazy_firmware(), {}, seed, false),
                     run_random(lazy_firmware(), lockstep, seed, false));
}

TEST(lanai_card, probes_see_the_same_in_both_modes_and_change_nothing) {
    outcome ahead = run_random(lazy_firmware(), {}, 5, true);
    expect_equal(ahead, run_random(lazy_firmware(), lockstep, 5, true));
    ahead.probes.clear();
    expect_equal(ahead, run_random(lazy_firmware(), {}, 5, false));
}

TEST(lanai_card, order_of_the_kernel_changes_nothing) {
    const test::settings two_engines{{"nic.dma.engines", "2"}};
    const outcome usual = run_random(busy_firmware(), two_engines, 11, true);
    for (std::uint64_t shuffle = 1; shuffle <= 4; ++shuffle)
        expect_equal(usual, run_random(busy_firmware(), two_engines, 11, true, shuffle));
}

TEST(lanai_card, order_of_the_kernel_changes_nothing_when_an_owner_may_keep_the_bus) {
    const test::settings fixed{
        {"nic.dma.engines", "2"}, {"bus.arbitration", "fixed"}, {"bus.latency_timer_clocks", "4"}};
    const outcome usual = run_random(busy_firmware(), fixed, 12, true);
    for (std::uint64_t shuffle = 1; shuffle <= 4; ++shuffle)
        expect_equal(usual, run_random(busy_firmware(), fixed, 12, true, shuffle));
}

TEST(lanai_card, length_of_slices_changes_nothing) {
    const outcome usual = run_random(busy_firmware(), {}, 9, true);
    for (const char* cycles : {"1", "7", "4096"})
        expect_equal(usual, run_random(busy_firmware(),
                                       {{"nic.lanai.slice_min_cycles", cycles},
                                        {"nic.lanai.slice_max_cycles", cycles}},
                                       9, true));
}

TEST(lanai_card, other_chips_and_clocks_run_the_same_traffic) {
    const test::settings lanai7{{"nic.chip", "lanai7"}, {"nic.dma.engines", "2"}};
    const test::settings odd{
        {"nic.lanai.clock_mhz", "97"}, {"nic.dma.engines", "4"}, {"bus.clock_mhz", "33"}};
    for (const test::settings& given : {lanai7, odd}) {
        test::settings step = given;
        step.push_back(lockstep[0]);
        expect_equal(run_random(busy_firmware(), given, 4, true), run_random(busy_firmware(), step, 4, true));
    }
}

}  // namespace
}  // namespace vinic::nic
