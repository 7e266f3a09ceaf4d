// SPDX-License-Identifier: Apache-2.0

// What descriptors say and what arrives, at every level (facts vipl.md 3, 7).
#include <optional>

#include "hw/nic/ethernet/ethernet_card.h"
#include "hw/nic/vi_engine/vi_engine_card.h"
#include "testbench/platform/node.h"
#include "testbench/tests/vipl/conformance/pair.h"

namespace vinic::vipl::test {
namespace {

constexpr VIP_UINT32 sent_well = VIP_STATUS_DONE | VIP_STATUS_OP_SEND;
constexpr VIP_UINT32 received_well = VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE;

std::byte value_at(std::uint64_t i) { return std::byte((i * 131 + (i >> 8) * 17 + 1) & 0xFF); }

void fill(void* at, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i != bytes; ++i) static_cast<std::byte*>(at)[i] = value_at(i);
}

void expect_filled(const void* at, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i != bytes; ++i)
        ASSERT_EQ(static_cast<const std::byte*>(at)[i], value_at(i)) << "byte " << i << " of " << bytes;
}

/// Registered memory of its own, for what does not fit into `setup`'s buffers.
struct memory {
    memory(side& of, std::uint64_t bytes) : at(static_cast<std::byte*>(of.in.memory.allocate(bytes, 4096))) {
        VIP_MEM_ATTRIBUTES a{.Ptag = of.s.tag, .EnableRdmaWrite = VIP_TRUE, .EnableRdmaRead = VIP_FALSE};
        EXPECT_EQ(VipRegisterMem(of.s.nic, at, bytes, &a, &handle), VIP_SUCCESS);
    }
    std::byte* at;
    VIP_MEM_HANDLE handle = 0;
};

VIP_DESCRIPTOR* in_memory(side& of, unsigned n, const memory& m, std::uint64_t offset, VIP_UINT32 length) {
    VIP_DESCRIPTOR* d = of.with(n, m.at + offset, length);
    d->DS[0].Local.Handle = m.handle;
    return d;
}

class early_adopter_message : public testing::TestWithParam<VIP_RELIABILITY_LEVEL> {};
const auto by_level = [](const auto& of) { return level_name(of.param); };
INSTANTIATE_TEST_SUITE_P(at, early_adopter_message, testing::ValuesIn(all_levels), by_level);

// Each length goes to an unaligned place, and nothing is written behind it.
TEST_P(early_adopter_message, of_any_length) {
    static constexpr VIP_UINT32 lengths[] = {0,    1,    2,    3,    4,    63,   64,    65,
                                             4095, 4096, 4097, 8191, 8192, 8193, 32'768};
    scene sc;
    sc.level = GetParam();
    unsigned ready = 0;
    unsigned asked = 0;
    sc.target = [&](side& t) {
        const memory m(t, 40'000);
        for (const VIP_UINT32 length : lengths) {
            std::memset(m.at, 0x5A, 40'000);
            t.post_receive(in_memory(t, 0, m, 4090 + length % 5, 33'000));
            ++ready;
            EXPECT_EQ(t.received(), received_well) << length;
            EXPECT_EQ(t.last->CS.Length, length);
            expect_filled(m.at + 4090 + length % 5, length);
            EXPECT_EQ(m.at[4089 + length % 5], std::byte{0x5A});
            EXPECT_EQ(m.at[4090 + length % 5 + length], std::byte{0x5A});
        }
    };
    sc.source = [&](side& s) {
        const memory m(s, 40'000);
        for (const VIP_UINT32 length : lengths) {
            s.in.until([&] { return ready > asked; });
            ++asked;
            fill(m.at + 1 + length % 3, length);
            s.post_send(in_memory(s, 0, m, 1 + length % 3, length));
            EXPECT_EQ(s.sent(), sent_well) << length;
            EXPECT_EQ(s.last->CS.Length, length);
        }
    };
    sc.play();
}

/// A descriptor of `count` segments of `bytes` each, one behind the other at `at`.
VIP_DESCRIPTOR* scattered(const memory& m, std::uint64_t descriptor, std::uint64_t data, unsigned count,
                          VIP_UINT32 bytes) {
    auto* const d = reinterpret_cast<VIP_DESCRIPTOR*>(m.at + descriptor);
    std::memset(static_cast<void*>(d), 0, 32 + count * 16);
    d->CS.SegCount = static_cast<VIP_UINT16>(count);
    d->CS.Length = count * bytes;
    auto* const segments = reinterpret_cast<VIP_DATA_SEGMENT*>(m.at + descriptor + 32);
    for (unsigned i = 0; i != count; ++i) {
        segments[i].Data.Address = m.at + data + std::uint64_t{i} * bytes;
        segments[i].Handle = m.handle;
        segments[i].Length = bytes;
    }
    return d;
}

// Scatter and gather up to MaxSegmentsPerDesc; the numbers of segments of both sides differ.
TEST_P(early_adopter_message, of_any_number_of_segments) {
    static constexpr unsigned counts[][2] = {{1, 2},  {2, 1},    {2, 3},   {3, 3},
                                             {9, 10}, {64, 252}, {252, 1}, {252, 252}};
    scene sc;
    sc.level = GetParam();
    unsigned ready = 0;
    unsigned asked = 0;
    sc.target = [&](side& t) {
        const memory m(t, 64 << 10);
        for (const auto& [sends, receives] : counts) {
            const VIP_UINT32 bytes = (sends * 60 + receives - 1) / receives;
            EXPECT_EQ(VipPostRecv(t.vi, scattered(m, 1024, 8192, receives, bytes), m.handle), VIP_SUCCESS);
            ++ready;
            EXPECT_EQ(t.received(), received_well) << sends << " to " << receives;
            EXPECT_EQ(t.last->CS.Length, sends * 60);
            expect_filled(m.at + 8192, sends * 60);
        }
    };
    sc.source = [&](side& s) {
        const memory m(s, 64 << 10);
        for (const auto& [sends, receives] : counts) {
            s.in.until([&] { return ready > asked; });
            ++asked;
            fill(m.at + 8192, sends * 60);
            EXPECT_EQ(VipPostSend(s.vi, scattered(m, 64, 8192, sends, 60), m.handle), VIP_SUCCESS);
            EXPECT_EQ(s.sent(), sent_well) << sends << " to " << receives;
        }
    };
    sc.play();
}

TEST_P(early_adopter_message, of_too_many_segments_has_a_format_error) {
    scene sc;
    sc.level = GetParam();
    sc.source = [](side& s) {
        const memory m(s, 64 << 10);
        EXPECT_EQ(VipPostSend(s.vi, scattered(m, 64, 8192, 253, 4), m.handle), VIP_SUCCESS);
        EXPECT_EQ(s.sent() & VIP_STATUS_ERROR_MASK, VIP_UINT32{VIP_STATUS_FORMAT_ERROR});
    };
    sc.play();
}

// A segment of no bytes is nothing, wherever it points.
TEST_P(early_adopter_message, with_empty_segments_between) {
    scene sc;
    sc.level = GetParam();
    const auto make = [](const memory& m) {
        VIP_DESCRIPTOR* d = scattered(m, 64, 8192, 5, 0);
        auto* const segments = reinterpret_cast<VIP_DATA_SEGMENT*>(m.at + 64 + 32);
        segments[1].Length = 10;
        segments[3].Length = 20;
        segments[3].Data.Address = m.at + 8192 + 10;
        segments[2].Data.Address = nullptr;
        segments[2].Handle = 0;
        d->CS.Length = 30;
        return d;
    };
    sc.target_before = [&](side& t) {
        const memory m(t, 16 << 10);
        EXPECT_EQ(VipPostRecv(t.vi, make(m), m.handle), VIP_SUCCESS);
    };
    sc.target = [](side& t) {
        EXPECT_EQ(t.received(), received_well);
        EXPECT_EQ(t.last->CS.Length, 30u);
        expect_filled(reinterpret_cast<std::byte*>(t.last) - 64 + 8192, 30);
    };
    sc.source = [&](side& s) {
        const memory m(s, 16 << 10);
        fill(m.at + 8192, 30);
        EXPECT_EQ(VipPostSend(s.vi, make(m), m.handle), VIP_SUCCESS);
        EXPECT_EQ(s.sent(), sent_well);
    };
    sc.play();
}

// Facts 3.3: both are acknowledgements of programs, and each takes a receive descriptor.
TEST_P(early_adopter_message, without_payload_takes_a_descriptor) {
    scene sc;
    sc.level = GetParam();
    sc.target_before = [](side& t) {
        for (unsigned i = 0; i != 4; ++i) t.post_receive(t.with(i, t.s.buffer(0), 64));
        t.s.buffer(0)[0] = std::byte{0x77};
    };
    sc.target = [](side& t) {
        for (unsigned i = 0; i != 4; ++i) {
            const bool immediate = i >= 2;
            EXPECT_EQ(t.received(), received_well | (immediate ? VIP_STATUS_IMMEDIATE : 0)) << i;
            EXPECT_EQ(t.last, t.s.descriptor(i));
            EXPECT_EQ(t.last->CS.Length, 0u);
            if (immediate) {
                EXPECT_EQ(t.last->CS.ImmediateData, 0xABCD0000u + i);
            }
        }
        EXPECT_EQ(t.s.buffer(0)[0], std::byte{0x77});
    };
    sc.source = [](side& s) {
        for (unsigned i = 0; i != 4; ++i) {
            VIP_DESCRIPTOR* d = s.with(i, s.s.buffer(0), 0);
            if (i % 2 == 0) d->CS.SegCount = 0;
            if (i >= 2) d->CS.Control = VIP_CONTROL_IMMEDIATE;
            d->CS.ImmediateData = 0xABCD0000 + i;
            s.post_send(d);
            EXPECT_EQ(s.sent(), sent_well);
        }
    };
    sc.play();
}

// Immediate data come with payload and without; a receive with the bit set is no format error
// (facts 3.6, 3.9).
TEST_P(early_adopter_message, with_immediate_data) {
    scene sc;
    sc.level = GetParam();
    sc.target_before = [](side& t) {
        VIP_DESCRIPTOR* d = t.with(0, t.s.buffer(0), 4096);
        d->CS.Control = VIP_CONTROL_IMMEDIATE;
        t.post_receive(d);
        t.post_receive(t.with(1, t.s.buffer(0), 4096));
    };
    sc.target = [](side& t) {
        EXPECT_EQ(t.received(), received_well | VIP_STATUS_IMMEDIATE);
        EXPECT_EQ(t.last->CS.ImmediateData, 0xFFFFFFFFu);
        EXPECT_EQ(t.last->CS.Length, 100u);
        expect_filled(t.s.buffer(0), 100);
        EXPECT_EQ(t.received(), received_well);
    };
    sc.source = [](side& s) {
        fill(s.s.buffer(0), 100);
        VIP_DESCRIPTOR* d = s.with(0, s.s.buffer(0), 100);
        d->CS.Control = VIP_CONTROL_IMMEDIATE;
        d->CS.ImmediateData = 0xFFFFFFFF;
        s.post_send(d);
        EXPECT_EQ(s.sent(), sent_well);
        s.post_send(s.with(0, s.s.buffer(0), 100));
        EXPECT_EQ(s.sent(), sent_well);
    };
    sc.play();
}

// Facts 3.7 to 3.9, 3.15: posted again as it completed, without clearing Status.
TEST_P(early_adopter_message, is_sent_by_a_descriptor_as_it_completed) {
    scene sc;
    sc.level = GetParam();
    unsigned taken = 0;
    sc.target_before = [](side& t) { t.post_receive(t.with(0, t.s.buffer(0), 64)); };
    sc.target = [&](side& t) {
        for (unsigned i = 0; i != 10; ++i) {
            EXPECT_EQ(t.received(), received_well);
            EXPECT_EQ(t.last->CS.Length, 32u);
            t.last->CS.Length = 64;
            t.post_receive(t.last);
            EXPECT_EQ(t.s.descriptor(0)->CS.Status, 0u);
            ++taken;
        }
    };
    sc.source = [&](side& s) {
        s.with(0, s.s.buffer(0), 32)->CS.Status = 0xFFFFFFFF;
        for (unsigned i = 0; i != 10; ++i) {
            s.post_send(s.s.descriptor(0));
            EXPECT_EQ(s.sent(), sent_well);
            s.in.until([&] { return taken == i + 1; });
        }
    };
    sc.play();
}

// Both queues are first in, first out, over more messages than the card has places of any kind (facts 7).
TEST_P(early_adopter_message, completes_in_posting_order) {
    static constexpr unsigned count = 200;
    scene sc;
    sc.level = GetParam();
    const auto descriptors = [](const memory& m) {
        for (std::uint64_t i = 0; i != count; ++i) {
            scattered(m, i * 64, 16'384 + i * 64, 1, static_cast<VIP_UINT32>(1 + i % 64));
            m.at[16'384 + i * 64] = std::byte(i);
        }
    };
    const auto at = [](const memory& m, unsigned i) { return reinterpret_cast<VIP_DESCRIPTOR*>(m.at) + i; };
    std::optional<memory> theirs;
    sc.target_before = [&](side& t) {
        theirs.emplace(t, 32'768);
        descriptors(*theirs);
        for (unsigned i = 0; i != count; ++i) {
            at(*theirs, i)->DS[0].Local.Length = at(*theirs, i)->CS.Length = 64;
            *(theirs->at + 16'384 + i * 64) = std::byte{0};
            EXPECT_EQ(VipPostRecv(t.vi, at(*theirs, i), theirs->handle), VIP_SUCCESS);
        }
    };
    sc.target = [&](side& t) {
        for (unsigned i = 0; i != count; ++i) {
            ASSERT_EQ(t.received(), received_well) << i;
            ASSERT_EQ(t.last, at(*theirs, i));
            ASSERT_EQ(t.last->CS.Length, 1 + i % 64);
            ASSERT_EQ(*(theirs->at + 16'384 + i * 64), std::byte(i));
        }
    };
    sc.source = [&](side& s) {
        const memory m(s, 32'768);
        descriptors(m);
        for (unsigned i = 0; i != count; ++i) EXPECT_EQ(VipPostSend(s.vi, at(m, i), m.handle), VIP_SUCCESS);
        for (unsigned i = 0; i != count; ++i) {
            ASSERT_EQ(s.sent(), sent_well) << i;
            ASSERT_EQ(s.last, at(m, i));
        }
    };
    sc.play();
}

// --- RDMA write (facts 3.10, 3.14, 7)
// -----------------------------------------------------------------------

TEST_P(early_adopter_message, by_rdma_write) {
    static constexpr VIP_UINT32 lengths[] = {0, 1, 5, 64, 4095, 4096, 4097, 20'000};
    scene sc;
    sc.level = GetParam();
    std::optional<memory> to;
    unsigned taken = 0;
    sc.target_before = [&](side& t) {
        to.emplace(t, 32'768);
        std::memset(to->at, 0x11, 32'768);
        for (unsigned i = 0; i != std::size(lengths); ++i) t.post_receive(t.with(i, t.s.buffer(0), 64));
        t.s.buffer(0)[0] = std::byte{0x33};
    };
    sc.target = [&](side& t) {
        // Only those with immediate data are seen: their descriptors tell how many bytes were written.
        for (unsigned i = 0; i != std::size(lengths); ++i) {
            EXPECT_EQ(t.received(), VIP_STATUS_DONE | VIP_STATUS_OP_REMOTE_RDMA_WRITE | VIP_STATUS_IMMEDIATE);
            EXPECT_EQ(t.last, t.s.descriptor(i));
            EXPECT_EQ(t.last->CS.ImmediateData, i);
            EXPECT_EQ(t.last->CS.Length, lengths[i]);
            expect_filled(to->at + 7, lengths[i]);
            EXPECT_EQ(to->at[6], std::byte{0x11});
            EXPECT_EQ(to->at[7 + lengths[i]], std::byte{0x11});
            std::memset(to->at, 0x11, 32'768);
            ++taken;
        }
        EXPECT_EQ(t.s.buffer(0)[0], std::byte{0x33});
        EXPECT_TRUE(t.errors.empty());
    };
    sc.source = [&](side& s) {
        const memory from(s, 32'768);
        fill(from.at + 3, 20'000);
        for (unsigned i = 0; i != std::size(lengths); ++i) {
            for (const bool immediate : {false, true}) {
                VIP_DESCRIPTOR* d = s.rdma_write(i, from.at + 3, lengths[i], to->at + 7, to->handle);
                d->DS[1].Local.Handle = from.handle;
                d->CS.ImmediateData = i;
                if (immediate) d->CS.Control |= VIP_CONTROL_IMMEDIATE;
                s.post_send(d);
                EXPECT_EQ(s.sent(), VIP_STATUS_DONE | VIP_STATUS_OP_RDMA_WRITE) << lengths[i];
            }
            s.in.until([&] { return taken == i + 1; });
        }
    };
    sc.play();
}

// Data of a write are visible before a later send's receive completes; on one VI all comes in posting order.
TEST_P(early_adopter_message, after_a_write_finds_what_was_written) {
    static constexpr unsigned rounds = 20;
    scene sc;
    sc.level = GetParam();
    std::optional<memory> to;
    unsigned taken = 0;
    sc.target_before = [&](side& t) {
        to.emplace(t, 16'384);
        t.post_receive(t.with(0, t.s.buffer(0), 64));
    };
    sc.target = [&](side& t) {
        for (unsigned i = 1; i <= rounds; ++i) {
            EXPECT_EQ(t.received(), received_well);
            for (unsigned j = 0; j != 9000; j += 100) ASSERT_EQ(to->at[j], std::byte(i)) << j;
            ASSERT_EQ(to->at[8999], std::byte(i));
            t.post_receive(t.with(0, t.s.buffer(0), 64));
            taken = i;
        }
    };
    sc.source = [&](side& s) {
        const memory from(s, 16'384);
        for (unsigned i = 1; i <= rounds; ++i) {
            std::memset(from.at, static_cast<int>(i), 9000);
            VIP_DESCRIPTOR* d = s.rdma_write(0, from.at, 9000, to->at, to->handle);
            d->DS[1].Local.Handle = from.handle;
            s.post_send(d);
            s.post_send(s.with(1, s.s.buffer(0), 8));
            EXPECT_EQ(s.sent(), VIP_STATUS_DONE | VIP_STATUS_OP_RDMA_WRITE);
            EXPECT_EQ(s.sent(), sent_well);
            s.in.until([&] { return taken == i; });
        }
    };
    sc.play();
}

// A fence waits for RDMA reads only; without any it changes nothing (facts 3.12).
TEST_P(early_adopter_message, with_a_queue_fence) {
    scene sc;
    sc.level = GetParam();
    sc.target_before = [](side& t) {
        for (unsigned i = 0; i != 2; ++i) t.post_receive(t.with(i, t.s.buffer(0), 64));
    };
    sc.target = [](side& t) {
        for (unsigned i = 0; i != 2; ++i) EXPECT_EQ(t.received(), received_well);
    };
    sc.source = [](side& s) {
        for (unsigned i = 0; i != 2; ++i) {
            VIP_DESCRIPTOR* d = s.with(i, s.s.buffer(0), 16);
            d->CS.Control = VIP_CONTROL_QFENCE;
            s.post_send(d);
            EXPECT_EQ(s.sent(), sent_well);
        }
    };
    sc.play();
}

// Facts 6.1: at Reliable Reception the data are in the remote memory when the send completes.
TEST(early_adopter_reliable_reception, completes_when_the_data_are_placed) {
    scene sc;
    sc.level = VIP_SERVICE_RELIABLE_RECEPTION;
    std::optional<memory> to;
    sim::picoseconds placed = 0;
    sim::picoseconds completed = 0;
    sc.target_before = [&](side& t) { to.emplace(t, 65'536); };
    sc.target = [&](side& t) {
        // In ascending order, so the last byte is the last one (facts 3.14).
        while (to->at[32'767] != std::byte{0x42}) t.in.self.compute(50);
        placed = sim::now();
        for (unsigned i = 0; i != 32'768; ++i) ASSERT_EQ(to->at[i], std::byte{0x42}) << i;
    };
    sc.source = [&](side& s) {
        const memory from(s, 32'768);
        std::memset(from.at, 0x42, 32'768);
        VIP_DESCRIPTOR* d = s.rdma_write(0, from.at, 32'768, to->at, to->handle);
        d->DS[1].Local.Handle = from.handle;
        s.post_send(d);
        EXPECT_EQ(s.sent(), VIP_STATUS_DONE | VIP_STATUS_OP_RDMA_WRITE);
        completed = sim::now();
    };
    sc.play();
    EXPECT_GT(placed, 0u);
    EXPECT_LT(placed, completed);
}

// --- Links that lose and damage (facts 6.1, 6.2)
// ------------------------------------------------------------

class functional_bad_link : public testing::TestWithParam<VIP_RELIABILITY_LEVEL> {};
INSTANTIATE_TEST_SUITE_P(at, functional_bad_link, testing::ValuesIn(all_levels), by_level);

// Unreliable: what arrives is whole and in order, and something may be missing. Reliable: all of it.
TEST_P(functional_bad_link, damages_no_message) {
    static constexpr unsigned count = 30;
    scene sc;
    sc.level = GetParam();
    // Soon enough for who waits (M-VIA's kernel takes 20 ms).
    sc.values = {{"link.bit_error_rate", "2e-6"}, {"driver.retransmit_us", "1000"}};
    const bool reliable = GetParam() != VIP_SERVICE_UNRELIABLE;
    bool all_sent = false;
    sc.target_before = [](side& t) {
        for (unsigned i = 0; i != count; ++i) t.post_receive(t.with(i, t.s.buffer(0), 4096));
    };
    sc.target = [&](side& t) {
        unsigned last = 0;
        unsigned got = 0;
        while (const VIP_UINT32 status = t.received()) {
            if (status & VIP_STATUS_DESC_FLUSHED_ERROR) break;
            EXPECT_TRUE(status == (received_well | VIP_STATUS_IMMEDIATE) ||
                        (!reliable && (status & VIP_STATUS_PARTIAL_ERROR)));
            EXPECT_GT(t.last->CS.ImmediateData, last);
            last = t.last->CS.ImmediateData;
            expect_filled(t.s.buffer(0), 4000);
            ++got;
            if (got == count) break;
        }
        if (reliable) {
            EXPECT_EQ(got, count);
        }
        EXPECT_GT(got, 0u);
        all_sent = true;
    };
    sc.source = [&](side& s) {
        fill(s.s.buffer(0), 4000);
        for (unsigned i = 1; i <= count; ++i) {
            VIP_DESCRIPTOR* d = s.with(0, s.s.buffer(0), 4000);
            d->CS.Control = VIP_CONTROL_IMMEDIATE;
            d->CS.ImmediateData = i;
            s.post_send(d);
            EXPECT_EQ(s.sent(), sent_well);
        }
        s.in.until([&] { return all_sent; });
    };
    sc.play();
}

// The other node is dead: its card stands still.
TEST_P(functional_bad_link, to_a_dead_node_ends_a_reliable_connection) {
    scene sc;
    sc.level = GetParam();
    sc.values = {{"driver.retransmit_tries", "4"}, {"driver.retransmit_us", "1000"}};
    const bool reliable = GetParam() != VIP_SERVICE_UNRELIABLE;
    sc.abandoned = true;  // no command of the target's is answered any more
    bool dead = false;
    sc.target = [&](side& t) {
        if (auto* engine = dynamic_cast<nic::vi_engine_card*>(t.in.machine.cards.front().nic.get()))
            engine->halt();
        else if (auto* plain = dynamic_cast<nic::ethernet_card*>(t.in.machine.cards.front().nic.get()))
            plain->mac.enable_receive(false);
        else
            t.in.machine.cards.front().programmable()->lanai.assert_reset();
        dead = true;
    };
    sc.source = [&](side& s) {
        s.in.until([&] { return dead; });
        for (unsigned i = 0; i != 3; ++i) s.post_send(s.with(i, s.s.buffer(0), 8));
        if (reliable) {
            EXPECT_EQ(s.sent(), sent_well | VIP_STATUS_TRANSPORT_ERROR);
            EXPECT_EQ(s.sent(), sent_well | VIP_STATUS_DESC_FLUSHED_ERROR);
            EXPECT_EQ(s.sent(), sent_well | VIP_STATUS_DESC_FLUSHED_ERROR);
            EXPECT_EQ(s.settles_in(VIP_STATE_ERROR), VIP_STATE_ERROR);
            s.pause();
            EXPECT_EQ(s.codes(), std::vector{VIP_ERROR_CONN_LOST});
        } else {
            for (unsigned i = 0; i != 3; ++i) EXPECT_EQ(s.sent(), sent_well);
            s.pause(20 * ms);
            EXPECT_EQ(s.state(), VIP_STATE_CONNECTED);
            EXPECT_TRUE(s.errors.empty());
        }
    };
    sc.play();
}

}  // namespace
}  // namespace vinic::vipl::test
