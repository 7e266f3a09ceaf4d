// SPDX-License-Identifier: Apache-2.0

// Format, length and protection of descriptors and RDMA writes: facts vipl.md 3 and 6.2, cell by cell.
#include <gtest/gtest.h>

#include "testbench/tests/firmware/fake_card.h"

namespace vinic::testbench {
namespace {

using namespace abi;
using namespace abi::myvia;

constexpr uint64_t base = 0x7FFF00000800;  // in the middle of a page
constexpr uint32_t size = 0x3000;

struct setup {
    fake_card card;
    memory_region memory, foreign, plain;
    library_vi from, to;
    explicit setup(vi_reliability reliability)
        : memory(card.register_memory(base, size, 7, 1)),
          foreign(card.register_memory(0x900000, 0x1000, 8, 1)),
          plain(card.register_memory(0xA00000, 0x1000, 7, 0)),
          from(card.create_vi(1, reliability, 16, 7, no_queue, no_queue, 0, 0, 0x2000)),
          to(card.create_vi(2, reliability, 16, 7, no_queue, no_queue, 0, 1, 0x2000)) {
        card.connect(1, 2);
    }
};

struct bad_descriptor {
    const char* name;
    uint32_t status;
    std::function<slot_contents(const setup&)> make;
};

const bad_descriptor bad_sends[] = {
    {"reserved_control_bit", vi_status_format_error,
     [](const setup& with) {
         return message({{base, with.memory.handle, 8}}, 0x10);
     }},
    {"reserved_field", vi_status_format_error,
     [](const setup& with) {
         slot_contents made = message({{base, with.memory.handle, 8}});
         made.reserved = 1;
         return made;
     }},
    {"reserved_operation", vi_status_format_error,
     [](const setup& with) {
         return message({{base, with.memory.handle, 0}}, 3);
     }},
    {"rdma_read", vi_status_format_error | vi_status_op_rdma_read,
     [](const setup& with) {
         return message({{base, with.memory.handle, 0}}, vi_op_rdma_read);
     }},
    {"rdma_write_without_address", vi_status_format_error | vi_status_op_rdma_write,
     [](const setup&) { return message({}, vi_op_rdma_write); }},
    {"rdma_write_reserved_in_address", vi_status_format_error | vi_status_op_rdma_write,
     [](const setup& with) {
         return message({{base, with.memory.handle, 4}}, vi_op_rdma_write);
     }},
    {"too_many_segments", vi_status_format_error,
     [](const setup&) {
         slot_contents made = message({});
         made.segment_count = 253;
         return made;
     }},
    {"length_above_sum", vi_status_format_error,
     [](const setup& with) {
         slot_contents made = message({{base, with.memory.handle, 8}, {base, with.memory.handle, 8}});
         ++made.length;
         return made;
     }},
    {"length_below_sum", vi_status_format_error,
     [](const setup& with) {
         slot_contents made = message({{base, with.memory.handle, 8}, {base, with.memory.handle, 8}});
         --made.length;
         return made;
     }},
    {"longer_than_the_vi_allows", vi_status_length_error,
     [](const setup& with) {
         return message({{base, with.memory.handle, 0x2001}});
     }},
    {"handle_zero", vi_status_protection_error,
     [](const setup&) {
         return message({{base, 0, 8}});
     }},
    {"handle_of_another_generation", vi_status_protection_error,
     [](const setup& with) {
         return message({{base, with.memory.handle + 0x10000, 8}});
     }},
    {"handle_beyond_the_table", vi_status_protection_error,
     [](const setup&) {
         return message({{base, 0xFFFFFFFF, 8}});
     }},
    {"tag_of_another", vi_status_protection_error,
     [](const setup& with) {
         return message({{0x900000, with.foreign.handle, 8}});
     }},
    {"one_byte_before", vi_status_protection_error,
     [](const setup& with) {
         return message({{base - 1, with.memory.handle, 8}});
     }},
    {"one_byte_beyond", vi_status_protection_error,
     [](const setup& with) {
         return message({{base + size - 7, with.memory.handle, 8}});
     }},
    {"address_wraps", vi_status_protection_error,
     [](const setup& with) {
         return message({{0xFFFFFFFFFFFFFFFC, with.memory.handle, 8}});
     }},
    {"four_gigabytes_off", vi_status_protection_error,
     [](const setup& with) {
         return message({{base + 0x100000000, with.memory.handle, 8}});
     }},
    {"second_segment", vi_status_protection_error,
     [](const setup& with) {
         return message({{base, with.memory.handle, 8}, {base, with.foreign.handle, 8}});
     }},
};

void PrintTo(const bad_descriptor& what, std::ostream* to) { *to << what.name; }
std::string name_of(const testing::TestParamInfo<bad_descriptor>& info) { return info.param.name; }

class myvia_bad_send : public testing::TestWithParam<bad_descriptor> {};

// Between two good ones: the error stays with its descriptor, in order, and the VI stays connected.
TEST_P(myvia_bad_send, unreliable_goes_on) {
    setup with(vi_unreliable);
    const bytes good = encode(message({{base, with.memory.handle, 8}}));
    for (int i = 0; i != 2; ++i)
        with.card.post_receive(with.to, encode(message({{base + 0x1000, with.memory.handle, 8}})));
    with.card.post_send(with.from, good);
    with.card.post_send(with.from, encode(GetParam().make(with)));
    with.card.post_send(with.from, good);
    EXPECT_EQ(with.card.wait(with.from, with.from.send).status, done_send);
    EXPECT_EQ(with.card.wait(with.from, with.from.send).status, vi_status_done | GetParam().status);
    EXPECT_EQ(with.card.wait(with.from, with.from.send).status, done_send);
    for (int i = 0; i != 2; ++i) EXPECT_EQ(with.card.wait(with.to, with.to.receive).status, done_receive);
    with.card.settle();
    EXPECT_EQ(with.card.sent.size(), 2u);
    EXPECT_TRUE(with.card.take_events().empty());
    EXPECT_TRUE(with.card.violations.empty());
}

// The good one before it still arrives; those behind it are flushed.
TEST_P(myvia_bad_send, reliable_breaks) {
    setup with(vi_reliable_delivery);
    const bytes good = encode(message({{base, with.memory.handle, 8}}));
    with.card.post_receive(with.to, encode(message({{base + 0x1000, with.memory.handle, 8}})));
    with.card.post_send(with.from, good);
    with.card.post_send(with.from, encode(GetParam().make(with)));
    with.card.post_send(with.from, good);
    EXPECT_EQ(with.card.wait(with.to, with.to.receive).status, done_receive);
    EXPECT_EQ(with.card.wait(with.from, with.from.send).status, done_send);
    EXPECT_EQ(with.card.wait(with.from, with.from.send).status, vi_status_done | GetParam().status);
    EXPECT_EQ(with.card.wait(with.from, with.from.send).status, done_send | vi_status_flushed_error);
    with.card.settle();
    const auto events = with.card.take_events();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, event_vi_error);
    EXPECT_EQ(events[0].vi, 1);
    EXPECT_EQ(events[0].argument2, 1u);  // slot
    EXPECT_TRUE(with.card.violations.empty());
}

INSTANTIATE_TEST_SUITE_P(all, myvia_bad_send, testing::ValuesIn(bad_sends), name_of);

const bad_descriptor bad_receives[] = {
    {"reserved_control_bit", vi_status_format_error,
     [](const setup& with) {
         return message({{base, with.memory.handle, 8}}, 0x8000);
     }},
    {"operation", vi_status_format_error,
     [](const setup& with) {
         return message({{base, with.memory.handle, 0}, {base, with.memory.handle, 8}}, 1);
     }},
    {"reserved_field", vi_status_format_error,
     [](const setup& with) {
         slot_contents made = message({{base, with.memory.handle, 8}});
         made.reserved = 0x80000000;
         return made;
     }},
    {"too_many_segments", vi_status_format_error,
     [](const setup&) {
         slot_contents made = message({});
         made.segment_count = 300;
         return made;
     }},
    {"too_short", vi_status_length_error,
     [](const setup& with) {
         return message({{base, with.memory.handle, 7}});
     }},
    {"nothing", vi_status_length_error, [](const setup&) { return message({}); }},
    {"tag_of_another", vi_status_protection_error,
     [](const setup& with) {
         return message({{0x900000, with.foreign.handle, 8}});
     }},
    {"one_byte_beyond", vi_status_protection_error,
     [](const setup& with) {
         return message({{base + size - 7, with.memory.handle, 8}});
     }},
};

class myvia_bad_receive : public testing::TestWithParam<bad_descriptor> {};

TEST_P(myvia_bad_receive, unreliable_goes_on) {
    setup with(vi_unreliable);
    const bytes before = with.card.read(with.memory, base, size);
    with.card.post_receive(with.to, encode(GetParam().make(with)));
    with.card.post_receive(with.to, encode(message({{base + 0x1000, with.memory.handle, 8}})));
    for (int i = 0; i != 2; ++i)
        with.card.post_send(with.from, encode(message({{base + 0x2000, with.memory.handle, 8}})));
    EXPECT_EQ(with.card.wait(with.to, with.to.receive).status, done_receive | GetParam().status);
    EXPECT_EQ(with.card.wait(with.to, with.to.receive).status, done_receive);
    for (int i = 0; i != 2; ++i) EXPECT_EQ(with.card.wait(with.from, with.from.send).status, done_send);
    EXPECT_TRUE(with.card.take_events().empty());
    EXPECT_TRUE(with.card.violations.empty());
}

TEST_P(myvia_bad_receive, reliable_reception_breaks_both) {
    setup with(vi_reliable_reception);
    with.card.post_receive(with.to, encode(GetParam().make(with)));
    with.card.post_receive(with.to, encode(message({{base + 0x1000, with.memory.handle, 8}})));
    for (int i = 0; i != 2; ++i)
        with.card.post_send(with.from, encode(message({{base + 0x2000, with.memory.handle, 8}})));
    EXPECT_EQ(with.card.wait(with.to, with.to.receive).status, done_receive | GetParam().status);
    EXPECT_EQ(with.card.wait(with.to, with.to.receive).status, done_receive | vi_status_flushed_error);
    EXPECT_EQ(with.card.wait(with.from, with.from.send).status,
              done_send | vi_status_remote_descriptor_error);
    EXPECT_EQ(with.card.wait(with.from, with.from.send).status, done_send | vi_status_flushed_error);
    with.card.settle();
    const auto events = with.card.take_events();
    ASSERT_EQ(events.size(), 2u);
    for (const event& one : events) EXPECT_EQ(one.kind, event_vi_error);
    EXPECT_TRUE(with.card.violations.empty());
}

INSTANTIATE_TEST_SUITE_P(all, myvia_bad_receive, testing::ValuesIn(bad_receives), name_of);

// vipl.md 3.6: IMMEDIATE in a receive descriptor is no error.
TEST(myvia_check, immediate_bit_in_a_receive) {
    setup with(vi_unreliable);
    with.card.post_receive(with.to, encode(message({{base, with.memory.handle, 8}}, vi_control_immediate)));
    with.card.post_send(with.from, encode(message({{base + 0x1000, with.memory.handle, 8}})));
    EXPECT_EQ(with.card.wait(with.to, with.to.receive).status, done_receive);
}

TEST(myvia_check, no_receive_descriptor_unreliable) {
    setup with(vi_unreliable);
    with.card.post_send(with.from, encode(message({{base, with.memory.handle, 0x1800}})));
    EXPECT_EQ(with.card.wait(with.from, with.from.send).status, done_send);
    with.card.settle();
    const auto events = with.card.take_events();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, event_error);
    EXPECT_EQ(events[0].argument, 2u);  // RECVQ_EMPTY
    // The next message finds its descriptor.
    with.card.post_receive(with.to, encode(message({{base, with.memory.handle, 8}})));
    with.card.post_send(with.from, encode(message({{base + 0x1000, with.memory.handle, 8}})));
    EXPECT_EQ(with.card.wait(with.to, with.to.receive).status, done_receive);
}

// Segments beyond the slot are protected as any buffer is.
TEST(myvia_check, segments_out_of_reach) {
    for (uint64_t descriptor : {base + size - 64, uint64_t{0x900000}, base + 0x40 - 8}) {
        setup with(vi_unreliable);
        slot_contents made = message({{base, with.memory.handle, 8}, {base, with.memory.handle, 8}});
        made.segment_count = 3;
        made.next = descriptor;
        made.next_handle = with.memory.handle;
        with.card.post_send(with.from, encode(made));
        const bool misaligned = descriptor % 64 != 0 && descriptor < base + 0x100;
        EXPECT_EQ(with.card.wait(with.from, with.from.send).status,
                  vi_status_done | (misaligned ? vi_status_format_error : vi_status_protection_error))
            << std::hex << descriptor;
        EXPECT_TRUE(with.card.violations.empty());
    }
}

// --- RDMA writes

struct bad_target {
    const char* name;
    std::function<data_segment(const setup&)> make;
};
const bad_target bad_targets[] = {
    {"handle",
     [](const setup&) {
         return data_segment{base, 0x12340001, 0};
     }},
    {"tag",
     [](const setup& with) {
         return data_segment{0x900000, with.foreign.handle, 0};
     }},
    {"region_not_enabled",
     [](const setup& with) {
         return data_segment{0xA00000, with.plain.handle, 0};
     }},
    {"before",
     [](const setup& with) {
         return data_segment{base - 1, with.memory.handle, 0};
     }},
    {"beyond",
     [](const setup& with) {
         return data_segment{base + size - 63, with.memory.handle, 0};
     }},
    {"wraps",
     [](const setup& with) {
         return data_segment{0xFFFFFFFFFFFFFFE0, with.memory.handle, 0};
     }},
};
void PrintTo(const bad_target& what, std::ostream* to) { *to << what.name; }

class myvia_bad_rdma : public testing::TestWithParam<bad_target> {};

TEST_P(myvia_bad_rdma, unreliable_without_immediate) {
    setup with(vi_unreliable);
    const bytes before = with.card.read(with.memory, base, size);
    with.card.post_send(
        with.from,
        encode(message({GetParam().make(with), {base + 0x1000, with.memory.handle, 64}}, vi_op_rdma_write)));
    EXPECT_EQ(with.card.wait(with.from, with.from.send).status, done_write);
    with.card.settle();
    const auto events = with.card.take_events();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, event_error);
    EXPECT_EQ(events[0].vi, 2);
    EXPECT_EQ(events[0].argument, 4u);  // RDMAW_PROT
    EXPECT_TRUE(with.card.read(with.memory, base, size) == before);
    EXPECT_TRUE(with.card.violations.empty());
}

TEST_P(myvia_bad_rdma, unreliable_with_immediate) {
    setup with(vi_unreliable);
    with.card.post_receive(with.to, encode(message({})));
    with.card.post_send(with.from,
                        encode(message({GetParam().make(with), {base + 0x1000, with.memory.handle, 64}},
                                       vi_op_rdma_write | vi_control_immediate, 5)));
    EXPECT_EQ(with.card.wait(with.to, with.to.receive).status,
              done_remote_write | vi_status_immediate | vi_status_rdma_protection_error);
    with.card.settle();
    EXPECT_TRUE(with.card.take_events().empty());
    EXPECT_TRUE(with.card.violations.empty());
}

TEST_P(myvia_bad_rdma, reliable_reception) {
    setup with(vi_reliable_reception);
    with.card.post_send(
        with.from,
        encode(message({GetParam().make(with), {base + 0x1000, with.memory.handle, 64}}, vi_op_rdma_write)));
    EXPECT_EQ(with.card.wait(with.from, with.from.send).status, done_write | vi_status_rdma_protection_error);
    with.card.settle();
    const auto events = with.card.take_events();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].kind, event_error);
    EXPECT_EQ(events[0].argument, 4u);
    EXPECT_EQ(events[1].kind, event_vi_error);
    EXPECT_TRUE(with.card.violations.empty());
}

TEST_P(myvia_bad_rdma, reliable_reception_with_immediate) {
    setup with(vi_reliable_reception);
    with.card.post_receive(with.to, encode(message({})));
    with.card.post_send(with.from,
                        encode(message({GetParam().make(with), {base + 0x1000, with.memory.handle, 64}},
                                       vi_op_rdma_write | vi_control_immediate, 5)));
    EXPECT_EQ(with.card.wait(with.to, with.to.receive).status,
              done_remote_write | vi_status_immediate | vi_status_rdma_protection_error);
    EXPECT_EQ(with.card.wait(with.from, with.from.send).status, done_write | vi_status_rdma_protection_error);
    with.card.settle();
    for (const auto& event : with.card.take_events()) EXPECT_EQ(event.kind, event_vi_error);
    EXPECT_TRUE(with.card.violations.empty());
}

INSTANTIATE_TEST_SUITE_P(all, myvia_bad_rdma, testing::ValuesIn(bad_targets),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(myvia_rdma, vi_does_not_allow_it) {
    setup with(vi_unreliable);
    // From VI 2 to VI 1, which has no enables.
    with.card.post_send(
        with.to, encode(message({{base, with.memory.handle, 0}, {base + 0x1000, with.memory.handle, 64}},
                                vi_op_rdma_write)));
    with.card.settle();
    ASSERT_EQ(with.card.take_events().size(), 1u);
}

// Any length and alignment, several packets; invisible without immediate data, one descriptor with it.
TEST(myvia_rdma, writes_where_it_says) {
    for (vi_reliability reliability : {vi_unreliable, vi_reliable_delivery, vi_reliable_reception}) {
        fake_card card({.seed = 9});
        const memory_region memory = card.register_memory(0x12345678, 0x40000, 7, 1);
        library_vi from = card.create_vi(1, reliability, 64),
                   to = card.create_vi(2, reliability, 64, 7, no_queue, no_queue, 0, 1);
        card.connect(1, 2, 2);
        for (uint32_t length : {0u, 1u, 4095u, 4096u, 4097u, 65536u}) {
            for (bool immediate : {false, true}) {
                const uint64_t source = memory.address + card.random() % 4096;
                const uint64_t target = memory.address + 0x20000 + card.random() % 4096;
                const bytes data = random_bytes(card.random, length);
                card.write(memory, source, data);
                card.write(memory, target, bytes(length));
                if (immediate) card.post_receive(to, encode(message({{memory.address, memory.handle, 16}})));
                const uint16_t control = vi_op_rdma_write | (immediate ? vi_control_immediate : 0);
                card.post_send(
                    from, card.slot_of({{target, memory.handle, 0}, {source, memory.handle, length}}, memory,
                                       0, control, length));
                EXPECT_EQ(card.wait(from, from.send).status, done_write);
                if (immediate) {
                    EXPECT_EQ(card.wait(to, to.receive),
                              (completion{done_remote_write | vi_status_immediate, length, length}));
                }
                card.settle();
                EXPECT_TRUE(card.read(memory, target, length) == data) << length;
            }
        }
        EXPECT_TRUE(card.take_events().empty());
        EXPECT_TRUE(card.violations.empty());
    }
}

}  // namespace
}  // namespace vinic::testbench
