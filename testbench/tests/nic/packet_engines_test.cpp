// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/packet_engines.h"

#include <gtest/gtest.h>

#include "firmware/abi/lanai_registers.h"
#include "hw/link/cable.h"
#include "hw/link/crc.h"
#include "hw/sim/error.h"
#include "testbench/tests/nic/span_log.h"
#include "testbench/tests/nic/timeline.h"

namespace vinic::nic {
namespace {

using test::counted;
namespace reg = abi::lanai9;

constexpr sim::picoseconds cycle_ps = 7500, byte_ps = 4000;

/// One end of the cable: SRAM, registers and the two engines of a LANai 9.
struct end {
    end(const std::string& n, const card_clock& c)
        : memory((n + "_sram").c_str(), c, traits_of("lanai9")),
          registers((n + "_registers").c_str(), c, traits_of("lanai9"), memory),
          send((n + "_send").c_str(), c, memory, registers),
          receive((n + "_receive").c_str(), c, traits_of("lanai9"), memory, registers),
          packets(send, receive, registers),
          port((n + "_port").c_str(), packets),
          clock(c) {
        send.bind(port);
        receive.bind(port);
    }
    sram memory;
    special_registers registers;
    send_dma send;
    receive_dma receive;
    packet_interface packets;
    link::port port;
    const card_clock& clock;

    void store(std::uint32_t offset, std::uint32_t value, cycle at) {
        registers.store(reg::register_base + offset, 4, value, at);
    }
    std::uint32_t load(std::uint32_t offset, cycle at) {
        return registers.load(reg::register_base + offset, 4, at);
    }
};

struct bench {
    explicit bench(const test::settings& given = {})
        : simulation(test::configured(given)), a("a", clock), b("b", clock), cable("cable") {
        a.port.out.bind(cable.from_a);
        cable.to_b.bind(b.port.in);
        b.port.out.bind(cable.from_b);
        cable.to_a.bind(a.port.in);
        for (const auto& [name, probe] : sim::simulation::current().probes()) probe->attach(log);
    }
    sim::simulation simulation;
    card_clock clock = test::clock_133();
    end a, b;
    link::cable cable;
    test::timeline script;
    test::span_log log;

    void in(cycle at, std::function<void(cycle)> what) {
        script.at(clock.time_of(at, phase::issue), [=] { what(at); });
    }
    /// Firmware of A sends these bytes of its SRAM as one packet.
    void send_in(cycle at, std::uint32_t address, std::uint32_t bytes) {
        in(at, [=, this](cycle c) {
            a.store(reg::SMP, address, c);
            a.store(reg::SMLT, address + bytes - 4, c);
        });
    }
    void arm_in(cycle at, std::uint32_t address, std::uint32_t bytes) {
        in(at, [=, this](cycle c) {
            b.store(reg::RMP, address, c);
            b.store(reg::RML, address + bytes - 4, c);
        });
    }
    void run() {
        sc_core::sc_start();
        sc_core::sc_start(sim::to_sc_time(clock.time_of(10)));  // what ended last is seen
        simulation.commit();
    }
    cycle cycle_of(sim::picoseconds t) const { return clock.domain().edge_after(t); }
    static cycle first_seen(const std::vector<std::pair<sim::picoseconds, std::uint64_t>>& isr,
                            std::uint32_t bit) {
        for (const auto& [at, bits] : isr)
            if ((bits & bit) != 0) return at / cycle_ps;
        return 0;
    }
};

TEST(packet_engines, send_in_clocks) {
    bench b;
    b.a.memory.poke(0x1000, counted(64));
    b.send_in(10, 0x1000, 64);
    b.arm_in(5, 0x2000, 128);
    b.run();
    // Start 2 clocks: first byte at edge 12; byte i follows 4000 ps later each. The CRC-8 is byte 64, the GAP
    // begins at byte time 65.
    const sim::picoseconds first = 12 * cycle_ps;
    const auto& part = b.log.spans.at("a_send.part").at(0);
    EXPECT_EQ(part.end, first + 65 * byte_ps);
    EXPECT_EQ(part.fields.at("bytes"), 64u);
    EXPECT_EQ(b.first_seen(b.log.values.at("a_registers.isr"), reg::ISR_SEND), b.cycle_of(part.end));
    EXPECT_EQ(b.a.memory.send.slots.value(), 8u);
}

TEST(packet_engines, receive_in_clocks) {
    bench b;
    const auto data = counted(64);
    b.a.memory.poke(0x1000, data);
    b.arm_in(5, 0x2000, 128);
    b.send_in(10, 0x1000, 64);
    b.run();
    // 64 bytes, CRC-8 and GAP after the first byte's departure at edge 12, each complete one byte time after
    // it began; the cable's delay. The word of the CRC-8 has the slot of the next edge, and RECV is seen two
    // edges later.
    const sim::picoseconds gone = 12 * cycle_ps + 66 * byte_ps + b.cable.delay_ps();
    const cycle slot = b.cycle_of(gone);
    const auto& reception = b.log.spans.at("b_receive.reception").at(0);
    EXPECT_LE(reception.end, (slot + 1) * cycle_ps);
    EXPECT_GE(reception.end, (slot + 1) * cycle_ps - byte_ps - cycle_ps);
    const cycle seen = b.first_seen(b.log.values.at("b_registers.isr"), reg::ISR_RECV);
    EXPECT_EQ(seen * cycle_ps, reception.end + cycle_ps);
    std::vector<std::uint8_t> got(65);
    b.b.memory.peek(0x2000, got);
    EXPECT_EQ(got.back(), 0);  // remainder
    got.pop_back();
    EXPECT_EQ(got, data);
    // 65 bytes in 9 words: the pointer stands at 0x2048, 7 bytes too far.
    EXPECT_EQ(b.b.load(reg::RMP, seen), 0x2048u);
    EXPECT_EQ(b.b.registers.isr_at(seen), reg::ISR_RECV | reg::ISR_ORUN1 | reg::ISR_ORUN2 | reg::ISR_ORUN4);
    EXPECT_EQ(b.b.memory.receive.slots.value(), 9u);
}

TEST(packet_engines, parts_with_skipped_bytes) {
    bench b;
    const auto data = counted(32), header = counted(8, 99);
    b.a.memory.poke(0x1000, data);
    b.a.memory.poke(0x3000, header);
    b.arm_in(5, 0x2000, 128);
    b.in(10, [&](cycle c) {
        b.a.store(reg::SA, 3, c);
        b.a.store(reg::SMP, 0x3000, c);
        b.a.store(reg::SML, 0x3004, c);  // 8 bytes without the first 3
    });
    b.in(100, [&](cycle c) {
        EXPECT_EQ(b.a.registers.isr_at(c), std::uint32_t{reg::ISR_SEND});
        b.a.store(reg::ISR, reg::ISR_SEND, c);
        b.a.store(reg::SMP, 0x1000, c);
        b.a.store(reg::SMLT, 0x101C, c);
    });
    b.run();
    std::vector<std::uint8_t> expected(5 + 32 + 1);  // the remainder last
    std::copy(header.begin() + 3, header.end(), expected.begin());
    std::copy(data.begin(), data.end(), expected.begin() + 5);
    std::vector<std::uint8_t> got(expected.size());
    b.b.memory.peek(0x2000, got);
    EXPECT_EQ(got, expected);
    EXPECT_EQ(b.a.send.packets.value(), 1u);
    // The first part: byte 4 begins at edge 12 + 4 byte times; "left" is when it is on the wire.
    const auto& parts = b.log.spans.at("a_send.part");
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_GE(parts[0].end, 12 * cycle_ps + 4 * byte_ps);
    EXPECT_LE(parts[0].end, 12 * cycle_ps + 5 * byte_ps);
}

TEST(packet_engines, head_waits_until_a_buffer_is_armed) {
    bench b;
    const auto data = counted(200);
    b.a.memory.poke(0x1000, data);
    b.send_in(10, 0x1000, 200);
    b.arm_in(2000, 0x2000, 256);
    b.run();
    EXPECT_EQ(b.b.receive.heads_waited.value(), 1u);
    const cycle head = b.first_seen(b.log.values.at("b_registers.isr"), reg::ISR_HEAD);
    EXPECT_LT(head, 100u);
    EXPECT_GT(b.first_seen(b.log.values.at("b_registers.isr"), reg::ISR_RECV), 2000u);
    std::vector<std::uint8_t> got(200);
    b.b.memory.peek(0x2000, got);
    EXPECT_EQ(got, data);
    // The sender was held: its last byte left after the buffer was armed.
    EXPECT_GT(b.log.spans.at("a_send.part").at(0).end, 2000 * cycle_ps);
}

TEST(packet_engines, limit_before_the_tail_is_buff_and_the_rest_follows) {
    bench b;
    const auto data = counted(100);
    b.a.memory.poke(0x1000, data);
    b.arm_in(5, 0x2000, 32);
    b.send_in(10, 0x1000, 100);
    b.in(500, [&](cycle c) {
        EXPECT_EQ(b.b.registers.isr_at(c), std::uint32_t{reg::ISR_BUFF});
        EXPECT_EQ(b.b.load(reg::RMP, c), 0x2020u);
    });
    b.arm_in(501, 0x4000, 128);
    b.run();
    std::vector<std::uint8_t> first(32), rest(69);
    b.b.memory.peek(0x2000, first);
    b.b.memory.peek(0x4000, rest);
    EXPECT_TRUE(std::equal(first.begin(), first.end(), data.begin()));
    EXPECT_TRUE(std::equal(data.begin() + 32, data.end(), rest.begin()));
    EXPECT_EQ(rest.back(), 0);
    EXPECT_EQ(b.b.receive.limits_hit.value(), 1u);
    EXPECT_EQ(b.b.receive.packets.value(), 1u);
}

TEST(packet_engines, crc_needs_its_byte_in_the_buffer) {
    for (const std::uint32_t room : {64u, 68u}) {
        bench b;
        b.a.memory.poke(0x1000, counted(64));
        b.arm_in(5, 0x2000, room);
        b.send_in(10, 0x1000, 64);
        b.run();
        EXPECT_EQ(b.b.receive.limits_hit.value(), room == 64 ? 1u : 0u);
        EXPECT_EQ(b.b.receive.packets.value(), room == 64 ? 0u : 1u);
    }
}

TEST(packet_engines, damaged_packet_leaves_a_remainder) {
    bench b(test::settings{{"link.bit_error_rate", "0.01"}});
    const auto data = counted(256);
    b.a.memory.poke(0x1000, data);
    b.arm_in(5, 0x2000, 512);
    b.send_in(10, 0x1000, 256);
    b.run();
    std::vector<std::uint8_t> got(257);
    b.b.memory.peek(0x2000, got);
    EXPECT_NE(got.back(), 0);
    EXPECT_EQ(b.b.receive.bad_crc.value(), 1u);
    // The remainder is that of the bytes as they came, over what the sender's CRC-8 was.
    const std::uint8_t sent = link::crc8(data);
    EXPECT_EQ(link::crc8(std::span(got).first(256)) == sent, false);
}

// --- CRC-32 (B4: MYRINET CRC32_ENABLE, SMC, RMC)

constexpr std::uint32_t crc32_of_check_string = 0xCBF43926;  // of "123456789": CRC-32 of IEEE 802.3

std::vector<std::uint8_t> check_string() { return {'1', '2', '3', '4', '5', '6', '7', '8', '9'}; }

/// 3 bytes of another header, then the check string, from 0x1000 on.
struct crc32_bench : bench {
    explicit crc32_bench(const test::settings& given = {}) : bench(given) {
        auto bytes = check_string();
        bytes.insert(bytes.begin(), {0x11, 0x22, 0x33});
        a.memory.poke(0x1000, bytes);
    }
    void enable_in(cycle at, bool sender, bool receiver) {
        in(at, [=, this](cycle c) {
            a.store(reg::MYRINET, sender ? reg::MYRINET_CRC32_ENABLE : 0u, c);
            b.store(reg::MYRINET, receiver ? reg::MYRINET_CRC32_ENABLE : 0u, c);
        });
    }
    void send_covered_in(cycle at, std::uint32_t from, std::uint32_t bytes = 12) {
        in(at, [=, this](cycle c) { a.store(reg::SMC, from, c); });
        send_in(at, 0x1000, bytes);
    }
    void arm_checked_in(cycle at, std::uint32_t address, std::uint32_t bytes) {
        in(at, [=, this](cycle c) {
            b.store(reg::RMC, address, c);
            b.store(reg::RML, address + bytes - 4, c);
        });
    }
    std::vector<std::uint8_t> received(std::uint32_t address, std::size_t bytes) {
        std::vector<std::uint8_t> got(bytes);
        b.memory.peek(address, got);
        return got;
    }
};

TEST(packet_engines, crc32_of_the_bytes_from_smc_on_follows_them) {
    crc32_bench b;
    b.enable_in(4, true, true);
    b.arm_in(5, 0x2000, 64);  // RMP: the receiver looks at nothing
    b.send_covered_in(10, 0x1003);
    b.run();
    std::vector<std::uint8_t> expected = {0x11, 0x22, 0x33, '1',  '2',  '3',  '4',  '5', '6',
                                          '7',  '8',  '9',  0xCB, 0xF4, 0x39, 0x26, 0};
    EXPECT_EQ(b.received(0x2000, 17), expected);
    // 12 bytes and 4 of the CRC-32, then CRC-8 and GAP; slots for the 12 bytes only.
    EXPECT_EQ(b.log.spans.at("a_send.part").at(0).end, 12 * cycle_ps + 17 * byte_ps);
    EXPECT_EQ(b.a.memory.send.slots.value(), 2u);
    EXPECT_EQ(b.a.send.bytes.value(), 12u);
    EXPECT_EQ(b.b.receive.bytes.value(), 16u);
}

TEST(packet_engines, crc32_needs_the_enable_bit_and_smc) {
    for (const auto& [enabled, written] : {std::pair{false, true}, std::pair{true, false}}) {
        crc32_bench b;
        b.enable_in(4, enabled, false);
        b.arm_in(5, 0x2000, 64);
        if (written)
            b.send_covered_in(10, 0x1000);
        else
            b.send_in(10, 0x1000, 12);
        b.run();
        EXPECT_EQ(b.b.receive.bytes.value(), 12u);
        EXPECT_EQ(b.log.spans.at("a_send.part").at(0).end, 12 * cycle_ps + 13 * byte_ps);
    }
}

TEST(packet_engines, smc_holds_for_one_packet) {
    crc32_bench b;
    b.enable_in(4, true, true);
    b.arm_in(5, 0x2000, 64);
    b.send_covered_in(10, 0x1003);
    b.in(200, [&](cycle c) { b.a.store(reg::ISR, reg::ISR_SEND, c); });
    b.arm_in(200, 0x3000, 64);
    b.send_in(201, 0x1000, 12);
    b.run();
    EXPECT_EQ(b.b.receive.bytes.value(), 16u + 12u);
}

TEST(packet_engines, crc32_goes_on_over_parts) {
    crc32_bench b;
    b.enable_in(4, true, false);
    b.arm_in(5, 0x2000, 64);
    b.in(10, [&](cycle c) {
        b.a.store(reg::SMC, 0x1003, c);
        b.a.store(reg::SMP, 0x1000, c);
        b.a.store(reg::SML, 0x1004, c);  // up to '5'
    });
    b.in(100, [&](cycle c) { b.a.store(reg::SMP, 0x1008, c), b.a.store(reg::SMLT, 0x1008, c); });
    b.run();
    const auto got = b.received(0x2000, 17);
    EXPECT_EQ(std::vector<std::uint8_t>(got.begin() + 12, got.end()),
              (std::vector<std::uint8_t>{0xCB, 0xF4, 0x39, 0x26, 0}));
}

// Nothing is later than it is for 16 bytes without CRC-32: 17 bytes in 3 words.
TEST(packet_engines, rmc_leaves_the_remainder_in_place_of_the_crc32) {
    sim::picoseconds plain_end;
    {
        bench plain;
        plain.a.memory.poke(0x1000, counted(16));
        plain.arm_in(5, 0x2000, 64);
        plain.send_in(10, 0x1000, 16);
        plain.run();
        plain_end = plain.log.spans.at("b_receive.reception").at(0).end;
    }
    crc32_bench b;
    b.enable_in(4, true, true);
    b.arm_checked_in(5, 0x2000, 64);
    b.send_covered_in(10, 0x1000);
    b.run();
    auto expected = check_string();
    expected.insert(expected.begin(), {0x11, 0x22, 0x33});
    expected.resize(12 + 4 + 1);
    EXPECT_EQ(b.received(0x2000, 17), expected);
    EXPECT_EQ(b.b.receive.bad_crc32.value(), 0u);
    EXPECT_EQ(b.b.receive.bytes.value(), 12u);
    EXPECT_EQ(b.log.spans.at("b_receive.reception").at(0).end, plain_end);
    const cycle seen = b.first_seen(b.log.values.at("b_registers.isr"), reg::ISR_RECV);
    EXPECT_EQ(b.b.load(reg::RMP, seen), 0x2018u);
    EXPECT_EQ(b.b.memory.receive.slots.value(), 3u);
}

// What does not end with its CRC-32 leaves the difference: the sender covers 9 bytes, the receiver looks
// at 12.
TEST(packet_engines, another_crc32_leaves_a_remainder) {
    crc32_bench b;
    b.enable_in(4, true, true);
    b.arm_checked_in(5, 0x2000, 64);
    b.send_covered_in(10, 0x1003);
    b.run();
    auto bytes = check_string();
    bytes.insert(bytes.begin(), {0x11, 0x22, 0x33});
    const std::uint32_t remainder = link::crc32(bytes) ^ crc32_of_check_string;
    const auto got = b.received(0x2000, 17);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(got[12 + i], static_cast<std::uint8_t>(remainder >> (24 - 8 * i)));
    EXPECT_EQ(got[16], 0);  // the CRC-8 is right
    EXPECT_EQ(b.b.receive.bad_crc32.value(), 1u);
    EXPECT_EQ(b.b.receive.bad_crc.value(), 0u);
}

TEST(packet_engines, rmc_without_the_enable_bit_is_rmp) {
    crc32_bench b;
    b.enable_in(4, true, false);
    b.arm_checked_in(5, 0x2000, 64);
    b.send_covered_in(10, 0x1003);
    b.run();
    EXPECT_EQ(b.received(0x2000, 17)[12], 0xCB);
    EXPECT_EQ(b.b.receive.bad_crc32.value(), 0u);
}

TEST(packet_engines, a_packet_too_short_for_a_crc32_is_bad) {
    crc32_bench b;
    b.enable_in(4, false, true);
    b.in(5, [&](cycle c) { b.b.store(reg::RMC, 0x2000, c), b.b.store(reg::RML, 0x203C, c); });
    b.in(10, [&](cycle c) {
        b.a.store(reg::SMP, 0x1000, c);
        b.a.store(reg::SA, 1, c);
        b.a.store(reg::SMLT, 0x1000, c);  // 3 bytes
    });
    b.run();
    EXPECT_EQ(b.b.receive.bad_crc32.value(), 1u);
}

/// Every boundary between two buffers, those within the CRC-32 too: what stands where is as in one buffer.
TEST(packet_engines, crc32_over_two_buffers) {
    for (std::uint32_t first = 4; first <= 16; first += 4) {
        crc32_bench b;
        b.enable_in(4, true, true);
        b.arm_checked_in(5, 0x2000, first);
        b.send_covered_in(10, 0x1000);
        b.arm_in(501, 0x3000, 64);
        b.run();
        EXPECT_EQ(b.b.receive.limits_hit.value(), 1u) << first;
        EXPECT_EQ(b.b.receive.bad_crc32.value(), 0u) << first;
        const auto rest = b.received(0x3000, 17 - first);
        EXPECT_TRUE(std::all_of(rest.end() - std::min<std::size_t>(5, rest.size()), rest.end(),
                                [](auto byte) { return byte == 0; }))
            << first;
    }
}

// Bit errors at such a rate that the CRC-8 alone lets some of many packets pass: one of 256 of the bad ones.
TEST(packet_engines, crc32_finds_what_crc8_does_not) {
    crc32_bench b(test::settings{{"link.bit_error_rate", "0.001"}});
    const auto data = counted(512);
    b.a.memory.poke(0x1000, data);
    b.enable_in(4, true, true);
    unsigned deceived = 0, wrong = 0, packets = 0;
    std::function<void(cycle)> again = [&](cycle c) {
        if (packets != 0) {
            const auto got = b.received(0x2000, 512 + 5);
            const bool whole8 = got[516] == 0;
            const bool whole32 =
                std::all_of(got.begin() + 512, got.begin() + 516, [](auto x) { return x == 0; });
            const bool same = std::equal(data.begin(), data.end(), got.begin());
            deceived += whole8 && !same;
            wrong += whole32 && !same;
        }
        if (packets++ == 2000) return;
        b.a.store(reg::ISR, reg::ISR_SEND, c);
        b.b.store(reg::RMC, 0x2000, c), b.b.store(reg::RML, 0x2000 + 1020, c);
        b.a.store(reg::SMC, 0x1000, c);
        b.a.store(reg::SMP, 0x1000, c), b.a.store(reg::SMLT, 0x1000 + 508, c);
        b.in(c + 600, again);
    };
    b.in(10, again);
    b.run();
    EXPECT_EQ(b.b.receive.packets.value(), 2000u);
    EXPECT_GT(deceived, 0u);
    EXPECT_EQ(wrong, 0u);
}

TEST(packet_engines, packets_back_to_back) {
    bench b;
    for (unsigned i = 0; i < 3; ++i) b.a.memory.poke(0x1000 + i * 0x100, counted(64, i));
    cycle ready = 0;
    unsigned sent = 0, received = 0;
    std::function<void(cycle)> poll = [&](cycle c) {
        if (sent < 3 && (sent == 0 || (b.a.registers.isr_at(c) & reg::ISR_SEND) != 0)) {
            b.a.store(reg::ISR, reg::ISR_SEND, c);
            b.a.store(reg::SMP, 0x1000 + sent * 0x100, c);
            b.a.store(reg::SMLT, 0x1000 + sent * 0x100 + 60, c);
            ++sent;
        }
        if (received < 3 && (c == 10 || (b.b.registers.isr_at(c) & reg::ISR_RECV) != 0)) {
            if (c != 10) ++received;
            b.b.store(reg::ISR, ~0u & ~std::uint32_t{reg::ISR_HOST_SIG}, c);
            if (received < 3) {
                b.b.store(reg::RMP, 0x2000 + received * 0x100, c);
                b.b.store(reg::RML, 0x2000 + received * 0x100 + 0x7C, c);
            }
        }
        if (c < 500) b.in(c + 1, poll);
        ready = c;
    };
    b.in(10, poll);
    b.run();
    EXPECT_EQ(b.b.receive.packets.value(), 3u);
    for (unsigned i = 0; i < 3; ++i) {
        std::vector<std::uint8_t> got(64);
        b.b.memory.peek(0x2000 + i * 0x100, got);
        EXPECT_EQ(got, counted(64, i));
    }
}

TEST(packet_engines, writing_smlt_before_send_is_an_error_of_the_firmware) {
    bench b;
    b.a.memory.poke(0x1000, counted(64));
    b.send_in(10, 0x1000, 64);
    b.send_in(20, 0x1000, 64);
    EXPECT_THROW(sc_core::sc_start(), std::exception);
}

TEST(packet_engines, limits_are_checked) {
    bench b;
    EXPECT_THROW(
        {
            b.a.store(reg::SMP, 0x1000, 1);
            b.a.store(reg::SMLT, 0xFF0, 1);
        },
        sim::model_error);
    EXPECT_THROW(
        {
            b.b.store(reg::RMP, 0x1000, 1);
            b.b.store(reg::RML, 0x0FFC, 1);
        },
        sim::model_error);
    EXPECT_THROW(b.b.store(reg::RML, 0x7FFFFFFC, 1), sim::model_error);
}

}  // namespace
}  // namespace vinic::nic
