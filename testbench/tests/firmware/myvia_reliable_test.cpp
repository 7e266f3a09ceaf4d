// SPDX-License-Identifier: Apache-2.0

// Reliable connections over a link that loses, doubles and damages packets.
#include <gtest/gtest.h>

#include <algorithm>

#include "testbench/tests/firmware/fake_card.h"

namespace vinic::testbench {
namespace {

using namespace abi;
using namespace abi::myvia;

struct reliable_pair {
    library_vi from, to;
    memory_region memory;
    reliable_pair(fake_card& card, vi_reliability reliability)
        : from(card.create_vi(1, reliability, 16)),
          to(card.create_vi(2, reliability, 16)),
          memory(card.register_memory(0x40000F00, 0x60000, 7, 1)) {
        card.connect(1, 2);
    }
};

struct lossy {
    unsigned seed, loss, duplicates, corrupt;
    vi_reliability reliability;
};
class myvia_lossy_link : public testing::TestWithParam<lossy> {};

// Each message carries its number as immediate data: nothing is lost, doubled, out of order or wrong.
TEST_P(myvia_lossy_link, delivers_all_in_order) {
    const lossy& with = GetParam();
    fake_card card({.seed = with.seed,
                    .loss_percent = with.loss,
                    .duplicate_percent = with.duplicates,
                    .corrupt_percent = with.corrupt});
    reliable_pair pair(card, with.reliability);
    constexpr uint32_t count = 60, room = 0x5000;
    std::deque<bytes> data;
    uint32_t received = 0;
    while (received != count || pair.from.send.seen != count) {
        const uint32_t number = pair.from.send.posted;
        if (number != count && number - pair.from.send.seen < 8 && number - received < 8) {
            const uint32_t length = card.random() % 3 == 0 ? card.random() % 0x4F00 : card.random() % 64;
            data.push_back(random_bytes(card.random, length));
            const uint64_t source = pair.memory.address + number % 8 * room, target = source + 8 * room;
            card.write(pair.memory, source, data.back());
            card.post_receive(pair.to, encode(message({{target, pair.memory.handle, length}})));
            card.post_send(pair.from, encode(message({{source, pair.memory.handle, length}},
                                                     vi_control_immediate, number)));
        }
        card.step();
        if (card.completed(pair.from, pair.from.send)) {
            ASSERT_EQ(card.take(pair.from, pair.from.send).status, done_send);
            // What is acknowledged is in the peer's memory already.
            EXPECT_TRUE(pair.from.send.seen <= received || card.completed(pair.to, pair.to.receive) ||
                        with.reliability != vi_reliable_reception);
        }
        while (card.completed(pair.to, pair.to.receive)) {
            const completion got = card.take(pair.to, pair.to.receive);
            ASSERT_EQ(got, (completion{done_receive | vi_status_immediate,
                                       static_cast<uint32_t>(data.front().size()), received}));
            const uint64_t target = pair.memory.address + (received % 8 + 8) * room;
            ASSERT_TRUE(card.read(pair.memory, target, data.front().size()) == data.front()) << received;
            data.pop_front();
            ++received;
        }
        ASSERT_TRUE(card.violations.empty()) << card.violations.front();
    }
    EXPECT_TRUE(card.take_events().empty());
}

INSTANTIATE_TEST_SUITE_P(
    all, myvia_lossy_link,
    testing::Values(lossy{1, 0, 0, 0, vi_reliable_delivery}, lossy{2, 10, 0, 0, vi_reliable_delivery},
                    lossy{3, 0, 20, 0, vi_reliable_delivery}, lossy{4, 0, 0, 10, vi_reliable_delivery},
                    lossy{5, 15, 10, 5, vi_reliable_delivery}, lossy{6, 0, 0, 0, vi_reliable_reception},
                    lossy{7, 10, 0, 0, vi_reliable_reception}, lossy{8, 15, 10, 5, vi_reliable_reception},
                    lossy{9, 25, 25, 10, vi_reliable_reception}));

// An unreliable VI over a link that loses and damages: what arrives is right, in order, at most once.
TEST(myvia_unreliable, loss_leaves_whole_messages) {
    fake_card card({.seed = 5, .loss_percent = 10, .corrupt_percent = 5});
    library_vi from = card.create_vi(1, vi_unreliable, 64), to = card.create_vi(2, vi_unreliable, 64);
    const memory_region memory = card.register_memory(0x40000000, 0x200000, 7);
    card.connect(1, 2);
    constexpr uint32_t count = 60, length = 9000;  // three packets each
    std::vector<bytes> data;
    for (uint32_t i = 0; i != count; ++i) {
        data.push_back(random_bytes(card.random, length));
        card.write(memory, memory.address + i * 0x4000, data.back());
        card.post_receive(to,
                          encode(message({{memory.address + 0x100000 + i * 0x4000, memory.handle, length}})));
        card.post_send(from, encode(message({{memory.address + i * 0x4000, memory.handle, length}},
                                            vi_control_immediate, i)));
    }
    for (uint32_t i = 0; i != count; ++i) EXPECT_EQ(card.wait(from, from.send).status, done_send);
    card.settle();
    uint32_t received = 0, next = 0;
    while (card.completed(to, to.receive)) {
        const completion got = card.take(to, to.receive);
        ASSERT_EQ(got.status, done_receive | vi_status_immediate);
        ASSERT_GE(got.immediate, next);
        ASSERT_LT(got.immediate, count);
        next = got.immediate + 1;
        // The receive descriptor of a message that was lost serves the next one.
        ASSERT_TRUE(card.read(memory, memory.address + 0x100000 + received * 0x4000, length) ==
                    data[got.immediate]);
        ++received;
    }
    EXPECT_LT(received, count);  // 14 % of 180 packets are gone
    EXPECT_GT(received, count / 4);
}

// The peer never answers: after the limit of tries the connection is lost.
TEST(myvia_reliable, gives_up) {
    fake_card card({.loss_percent = 100});
    reliable_pair pair(card, vi_reliable_delivery);
    card.post_send(pair.from, encode(message({{pair.memory.address, pair.memory.handle, 8}})));
    card.post_send(pair.from, encode(message({{pair.memory.address, pair.memory.handle, 8}})));
    EXPECT_EQ(card.wait(pair.from, pair.from.send).status, done_send | vi_status_transport_error);
    EXPECT_EQ(card.wait(pair.from, pair.from.send).status, done_send | vi_status_flushed_error);
    card.settle();
    const auto events = card.take_events();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, event_transport_lost);
    EXPECT_EQ(events[0].vi, 1);
    // Two packets at first, then again for each of the 20 tries.
    EXPECT_EQ(card.sent.size(), 2u * 21);
}

// How many of the packets sent are of that kind.
size_t packets_of_kind(const fake_card& card, uint8_t kind) {
    return static_cast<size_t>(
        std::ranges::count_if(card.sent, [kind](const bytes& packet) { return packet[1 + 4] == kind; }));
}

// vipl.md 6.1: a send is done when its data has been accepted, or when it is in memory.
TEST(myvia_reliable, acknowledges_what_the_level_says) {
    for (vi_reliability reliability : {vi_reliable_delivery, vi_reliable_reception}) {
        fake_card card({.laziness = 1});
        reliable_pair pair(card, reliability);
        const auto acknowledged = [&] {  // packet 0; behind the route: type, kind, ends, key, sequence
            return std::ranges::any_of(card.sent, [](const bytes& packet) {
                return packet[1 + 4] == packet_acknowledge && packet[1 + 5 * 4 + 3] == 1;
            });
        };
        card.post_receive(pair.to, encode(message({{pair.memory.address, pair.memory.handle, 8}})));
        card.hold_dma[2] = true;  // nothing is written into host memory
        card.post_send(pair.from, encode(message({{pair.memory.address + 64, pair.memory.handle, 8}})));
        card.run(1000);
        EXPECT_EQ(acknowledged(), reliability == vi_reliable_delivery);
        card.hold_dma[2] = false;
        card.run(1000);
        EXPECT_TRUE(acknowledged());
        EXPECT_EQ(card.wait(pair.from, pair.from.send).status, done_send);
    }
}

// A descriptor in error waits for those before it, so for the peer's acknowledgement, which may not wait for
// a packet of the peer's: that can be such a descriptor too.
TEST(myvia_reliable, errors_on_both_sides_do_not_wait_for_each_other) {
    fake_card card({.laziness = 1});
    reliable_pair pair(card, vi_reliable_delivery);
    library_vi* both[] = {&pair.from, &pair.to};
    card.hold_link = true;  // until both packets have left, without an acknowledgement
    for (library_vi* one : both) {
        card.post_receive(*one, encode(message({{pair.memory.address, pair.memory.handle, 8}})));
        card.post_send(*one, encode(message({{pair.memory.address + 64, pair.memory.handle, 8}})));
        card.post_send(*one, encode(message({{pair.memory.address + 64, pair.memory.handle + 1, 8}})));
    }
    ASSERT_TRUE(card.run_until([&] { return card.sent.size() == 2; }));
    card.hold_link = false;
    // Whoever is the first to leave the connection does not acknowledge any more.
    library_vi* first = nullptr;
    ASSERT_TRUE(card.run_until([&] {
        for (library_vi* one : both)
            if (card.completed(*one, one->send)) first = one;
        return first != nullptr;
    }));
    EXPECT_EQ(card.take(*first, first->send).status, done_send);
    EXPECT_EQ(card.wait(*first, first->send).status, done_send | vi_status_protection_error);
    EXPECT_EQ(packets_of_kind(card, packet_send), 2u);  // nothing had to be sent again
}

// With traffic both ways nearly all acknowledgements ride on data.
TEST(myvia_reliable, acknowledgements_ride_on_data) {
    fake_card card({.laziness = 1});
    reliable_pair pair(card, vi_reliable_delivery);
    constexpr int rounds = 40;
    for (int i = 0; i != rounds; ++i) {
        for (library_vi* one : {&pair.from, &pair.to}) {
            library_vi& other = one == &pair.from ? pair.to : pair.from;
            card.post_receive(other, encode(message({{pair.memory.address, pair.memory.handle, 8}})));
            card.post_send(*one, encode(message({{pair.memory.address + 64, pair.memory.handle, 8}})));
            EXPECT_EQ(card.wait(other, other.receive).status, done_receive);
        }
    }
    const size_t acknowledgements = packets_of_kind(card, packet_acknowledge);
    EXPECT_LE(acknowledgements, rounds / 4u);
    card.run(2000);  // and the last one by timer
    for (library_vi* one : {&pair.from, &pair.to})
        for (int i = 0; i != rounds; ++i) EXPECT_EQ(card.wait(*one, one->send).status, done_send);
}

// One way, an acknowledgement for several packets.
TEST(myvia_reliable, acknowledgements_are_cumulative) {
    fake_card card({.laziness = 1});
    reliable_pair pair(card, vi_reliable_delivery);
    card.post_receive(pair.to, encode(message({{pair.memory.address, pair.memory.handle, 65536}})));
    card.post_send(pair.from, encode(message({{pair.memory.address + 0x20000, pair.memory.handle, 65536}})));
    EXPECT_EQ(card.wait(pair.from, pair.from.send).status, done_send);
    const size_t acknowledgements = packets_of_kind(card, packet_acknowledge);
    EXPECT_GE(acknowledgements, 1u);
    EXPECT_LE(acknowledgements, 16u / 2);
}

// vipl.md 6.2: no receive descriptor. Reliable delivery: both sides in error, the sender hears of it by
// CONN_LOST; reliable reception: by its descriptor.
TEST(myvia_reliable, receive_queue_empty) {
    for (vi_reliability reliability : {vi_reliable_delivery, vi_reliable_reception}) {
        fake_card card;
        reliable_pair pair(card, reliability);
        card.post_send(pair.from, encode(message({{pair.memory.address, pair.memory.handle, 8}})));
        card.post_send(pair.from, encode(message({{pair.memory.address, pair.memory.handle, 8}})));
        const bool reception = reliability == vi_reliable_reception;
        EXPECT_EQ(card.wait(pair.from, pair.from.send).status,
                  done_send | (reception ? vi_status_remote_descriptor_error : vi_status_flushed_error));
        EXPECT_EQ(card.wait(pair.from, pair.from.send).status, done_send | vi_status_flushed_error);
        card.settle();
        const auto events = card.take_events();
        ASSERT_EQ(events.size(), 2u);
        EXPECT_EQ(events[0].kind, event_error);
        EXPECT_EQ(events[0].vi, 2);
        EXPECT_EQ(events[0].argument, 2u);  // RECVQ_EMPTY
        EXPECT_EQ(events[1].vi, 1);
        EXPECT_EQ(events[1].kind, reception ? event_vi_error : event_error);
        EXPECT_EQ(events[1].argument, reception ? 0u : 1u);  // CONN_LOST
        // Both are in error: what is posted now is flushed.
        card.post_receive(pair.to, encode(message({})));
        EXPECT_EQ(card.wait(pair.to, pair.to.receive).status, done_receive | vi_status_flushed_error);
        card.post_send(pair.from, encode(message({})));
        EXPECT_EQ(card.wait(pair.from, pair.from.send).status, done_send | vi_status_flushed_error);
    }
}

// The message is longer than the receive buffers; the earlier one was fine.
TEST(myvia_reliable, message_too_long_for_the_receiver) {
    for (vi_reliability reliability : {vi_reliable_delivery, vi_reliable_reception}) {
        fake_card card;
        reliable_pair pair(card, reliability);
        const uint32_t handle = pair.memory.handle;
        card.post_receive(pair.to, encode(message({{pair.memory.address, handle, 100}})));
        card.post_receive(pair.to, encode(message({{pair.memory.address, handle, 99}})));
        card.post_receive(pair.to, encode(message({{pair.memory.address, handle, 100}})));
        for (int i = 0; i != 3; ++i)
            card.post_send(pair.from, encode(message({{pair.memory.address + 4096, handle, 100}})));
        EXPECT_EQ(card.wait(pair.to, pair.to.receive).status, done_receive);
        EXPECT_EQ(card.wait(pair.to, pair.to.receive).status, done_receive | vi_status_length_error);
        EXPECT_EQ(card.wait(pair.to, pair.to.receive).status, done_receive | vi_status_flushed_error);
        const bool reception = reliability == vi_reliable_reception;
        EXPECT_EQ(card.wait(pair.from, pair.from.send).status, done_send);
        EXPECT_EQ(card.wait(pair.from, pair.from.send).status,
                  done_send | (reception ? vi_status_remote_descriptor_error : vi_status_flushed_error));
        EXPECT_EQ(card.wait(pair.from, pair.from.send).status, done_send | vi_status_flushed_error);
    }
}

// Packets of an earlier connection are dropped.
TEST(myvia_reliable, old_connection_key) {
    fake_card card;
    reliable_pair pair(card, vi_reliable_delivery);
    card.hold_link = true;
    card.post_send(pair.from, encode(message({{pair.memory.address, pair.memory.handle, 8}})));
    ASSERT_TRUE(card.run_until([&] { return card.on_link.size() == 1; }));
    EXPECT_EQ(card.disconnect(1, vi_idle), 0u);
    EXPECT_EQ(card.disconnect(2, vi_idle), 0u);
    EXPECT_EQ(card.take(pair.from, pair.from.send).status, done_send | vi_status_flushed_error);
    card.connect(1, 2, 1, 0x9999);
    card.post_receive(pair.to, encode(message({{pair.memory.address + 64, pair.memory.handle, 8}})));
    card.hold_link = false;
    card.settle();
    EXPECT_FALSE(card.completed(pair.to, pair.to.receive));
    card.post_send(pair.from, encode(message({{pair.memory.address, pair.memory.handle, 8}})));
    EXPECT_EQ(card.wait(pair.to, pair.to.receive).status, done_receive);
}

}  // namespace
}  // namespace vinic::testbench
