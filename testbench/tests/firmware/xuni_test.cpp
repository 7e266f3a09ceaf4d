// SPDX-License-Identifier: Apache-2.0

// The firmware of XUNI's embedded core: commands on VIs, errors, sending again. The effects are those of
// facts vipl.md 5 (states) and 6.2 (errors).
#include <gtest/gtest.h>

#include <random>

#include "firmware/common/descriptor.h"
#include "testbench/tests/firmware/fake_engine.h"

namespace vinic::testbench {
namespace {

using namespace abi;
using orders = std::vector<given_order>;

constexpr uint32_t one = 5;  // a VI

class xuni_firmware : public testing::Test {
protected:
    ~xuni_firmware() override { EXPECT_EQ(engine.violations, std::vector<std::string>{}); }

    uint32_t answer_to(uint32_t op, const std::vector<uint32_t>& arguments) {
        engine.on_command(op, arguments);
        return engine.answer();
    }
    fake_engine engine;
};

// --- Commands

using xuni_commands = xuni_firmware;

TEST_F(xuni_commands, take_a_vi_through_its_life) {
    EXPECT_EQ(engine.on_command(command_create_vi, creating(one, vi_unreliable)),
              (orders{{order_create, one}}));
    EXPECT_EQ(engine.answer(), command_ok);
    EXPECT_EQ(engine.on_command(command_set_vi, creating(one, vi_reliable_delivery)),
              (orders{{order_set, one}}));
    EXPECT_EQ(engine.answer(), command_ok);
    EXPECT_EQ(engine.on_command(command_connect_vi, connecting(one)),
              (orders{{order_settle, one, settle_flushed}, {order_connect, one}}));
    EXPECT_EQ(engine.answer(), command_ok);
    constexpr uint32_t all = settle_flushed | settle_fetched | settle_written;
    EXPECT_EQ(engine.on_command(command_disconnect_vi, {one, vi_idle, 0}),
              (orders{{order_leave, one, vi_idle}, {order_settle, one, all}}));
    EXPECT_EQ(engine.answer(), command_ok);
    EXPECT_EQ(engine.on_command(command_destroy_vi, {one}),
              (orders{{order_leave, one, vi_unused}, {order_settle, one, all}}));
    EXPECT_EQ(engine.answer(), command_ok);
    EXPECT_EQ(answer_to(command_create_vi, creating(one, vi_unreliable)), command_ok);
}

TEST_F(xuni_commands, keep_what_is_posted_if_asked) {
    engine.make_connected(one, vi_unreliable);
    EXPECT_EQ(engine.on_command(command_disconnect_vi, {one, vi_error, 1}),
              (orders{{order_stop, one, vi_error}, {order_settle, one, settle_written}}));
    EXPECT_EQ(engine.state(one), vi_error);
}

TEST_F(xuni_commands, that_wait_are_answered_when_the_engine_has_settled) {
    engine.make_connected(one, vi_unreliable);
    engine.on_command(command_disconnect_vi, {one, vi_idle, 0}, false);
    EXPECT_EQ(engine.answer(), fake_engine::no_answer);
    engine.on_event(event_settled, one);
    EXPECT_EQ(engine.answer(), command_ok);
}

struct in_state {
    uint32_t op;
    bool unused, idle, connected, error;  // whether it may be done in that state
};
class xuni_states : public xuni_firmware, public testing::WithParamInterface<in_state> {};

TEST_P(xuni_states, allow_or_forbid) {
    const auto& [op, unused, idle, connected, error] = GetParam();
    std::vector<uint32_t> arguments{one, vi_idle, 0};
    if (op == command_create_vi || op == command_set_vi) arguments = creating(one, vi_reliable_delivery);
    if (op == command_connect_vi) arguments = testbench::connecting(one);
    const auto expect = [&](bool allowed) {
        EXPECT_EQ(answer_to(op, arguments), allowed ? command_ok : command_wrong_state);
        answer_to(command_destroy_vi, {one});
        ASSERT_EQ(engine.state(one), vi_unused);
    };
    expect(unused);
    answer_to(command_create_vi, creating(one, vi_reliable_delivery));
    expect(idle);
    engine.make_connected(one, vi_reliable_delivery);
    expect(connected);
    engine.make_connected(one, vi_reliable_delivery);
    engine.on_event(event_send_failed, one);
    ASSERT_EQ(engine.state(one), vi_error);
    expect(error);
}

INSTANTIATE_TEST_SUITE_P(commands, xuni_states,
                         testing::Values(in_state{command_create_vi, true, false, false, false},
                                         in_state{command_set_vi, false, true, false, false},
                                         in_state{command_connect_vi, false, true, false, false},
                                         in_state{command_disconnect_vi, false, true, true, true},
                                         in_state{command_destroy_vi, false, true, true, true}));

// A bad argument in each place; nothing but the answer comes of it.
TEST_F(xuni_commands, refuse_bad_arguments) {
    const auto refused = [&](uint32_t op, std::vector<uint32_t> arguments, std::size_t word, uint32_t value) {
        arguments[word] = value;
        EXPECT_EQ(engine.on_command(op, arguments), orders{}) << op << " " << word;
        EXPECT_EQ(engine.answer(), command_bad_argument) << op << " " << word;
    };
    const auto create = [&](std::size_t offset, uint32_t value) {
        refused(command_create_vi, creating(one, vi_unreliable), offset / 4, value);
    };
    create(offsetof(create_vi_arguments, vi), max_vis);
    for (const uint32_t level : {0u, 3u, 8u}) create(offsetof(create_vi_arguments, reliability), level);
    for (const uint32_t slots : {0u, 48u, 131072u}) create(offsetof(create_vi_arguments, ring_slots), slots);
    for (const uint32_t queue : {0u, max_queues}) {
        create(offsetof(create_vi_arguments, send_queue), queue);
        create(offsetof(create_vi_arguments, receive_queue), queue);
    }
    answer_to(command_create_vi, creating(one, vi_unreliable));
    refused(command_set_vi, creating(one, vi_unreliable), 0, max_vis);
    refused(command_set_vi, creating(one, vi_unreliable), offsetof(create_vi_arguments, reliability) / 4, 5);
    refused(command_connect_vi, testbench::connecting(one), 0, max_vis);
    refused(command_connect_vi, testbench::connecting(one), offsetof(connect_vi_arguments, remote_vi) / 4,
            0x10000);
    refused(command_connect_vi, testbench::connecting(one), offsetof(connect_vi_arguments, route_length) / 4,
            route_bytes_max + 1);
    refused(command_disconnect_vi, {one, vi_idle, 0}, 0, max_vis);
    refused(command_disconnect_vi, {one, vi_idle, 0}, 1, vi_connected);
    refused(command_destroy_vi, {one}, 0, max_vis);
    refused(command_send_control, std::vector<uint32_t>(argument_words), 0, route_bytes_max + 1);
    refused(command_send_control, std::vector<uint32_t>(argument_words),
            offsetof(send_control_arguments, bytes) / 4, control_bytes_max + 1);
    refused(command_set_region, {one}, 0, one);
}

TEST_F(xuni_commands, know_the_completion_queues_that_there_are) {
    engine.queue_entries[9] = 16;
    std::vector<uint32_t> arguments = creating(one, vi_unreliable);
    arguments[offsetof(create_vi_arguments, send_queue) / 4] = 9;
    EXPECT_EQ(answer_to(command_create_vi, arguments), command_ok);
}

TEST_F(xuni_commands, send_control_packets) {
    std::vector<uint32_t> arguments(argument_words);
    arguments[0] = route_loopback;
    arguments[offsetof(send_control_arguments, bytes) / 4] = control_bytes_max;
    EXPECT_EQ(engine.on_command(command_send_control, arguments), (orders{{order_send_control}}));
    EXPECT_EQ(engine.answer(), command_ok);
}

// --- Sending again

using xuni_retransmission = xuni_firmware;

TEST_F(xuni_retransmission, ends_after_the_limit_of_tries) {
    engine.make_connected(one, vi_reliable_delivery);
    for (uint32_t i = 0; i != engine.retransmit_limit; ++i)
        EXPECT_EQ(engine.on_event(event_time_over, one, 17), (orders{{order_send_again, one}}));
    EXPECT_EQ(engine.on_event(event_time_over, one, 17),
              (orders{{order_break, one, vi_status_transport_error},
                      {order_report, one, event_transport_lost, common::vip_error_connection_lost}}));
    EXPECT_EQ(engine.on_event(event_time_over, one, 17), orders{});
}

TEST_F(xuni_retransmission, counts_tries_anew_after_an_acknowledgement) {
    engine.make_connected(one, vi_reliable_delivery);
    for (uint32_t oldest = 0; oldest != 10; ++oldest)
        for (uint32_t i = 0; i != engine.retransmit_limit; ++i)
            EXPECT_EQ(engine.on_event(event_time_over, one, oldest), (orders{{order_send_again, one}}));
}

TEST_F(xuni_retransmission, counts_tries_anew_on_a_new_connection) {
    engine.make_connected(one, vi_reliable_delivery);
    for (uint32_t i = 0; i != engine.retransmit_limit; ++i) engine.on_event(event_time_over, one, 0);
    answer_to(command_disconnect_vi, {one, vi_idle, 0});
    answer_to(command_connect_vi, testbench::connecting(one));
    EXPECT_EQ(engine.on_event(event_time_over, one, 0), (orders{{order_send_again, one}}));
}

TEST_F(xuni_retransmission, follows_the_peer) {
    engine.make_connected(one, vi_reliable_reception);
    for (uint32_t i = 0; i != 100; ++i)  // no try of the sender's own
        EXPECT_EQ(engine.on_event(event_asked_again, one), (orders{{order_send_again, one}}));
}

// --- Errors

struct expected {
    control_event event;
    uint32_t argument;
    vi_reliability level;
    orders after;
};
class xuni_errors : public xuni_firmware, public testing::WithParamInterface<expected> {};

TEST_P(xuni_errors, end_connections_and_are_told) {
    engine.make_connected(one, GetParam().level);
    EXPECT_EQ(engine.on_event(GetParam().event, one, GetParam().argument), GetParam().after);
}

constexpr uint32_t refused_status = vi_status_remote_descriptor_error;
const given_order broken{order_break, one}, told{order_report, one, event_vi_error};
const given_order refused_descriptor{order_refuse, one, vi_status_remote_descriptor_error},
    refused_write{order_refuse, one, vi_status_rdma_protection_error};
given_order code(uint32_t of) { return {order_report, one, event_error, of}; }

INSTANTIATE_TEST_SUITE_P(
    table, xuni_errors,
    testing::Values(
        expected{event_write_aborted, 0, vi_unreliable, {code(common::vip_error_rdma_write_abort)}},
        expected{event_overrun, 0, vi_unreliable, {broken, code(common::vip_error_vi_overrun)}},
        expected{event_overrun, 0, vi_reliable_delivery, {broken, code(common::vip_error_vi_overrun)}},
        expected{event_send_failed, 0, vi_reliable_delivery, {broken, told}},
        expected{event_send_failed, 0, vi_reliable_reception, {broken, told}},
        expected{event_peer_refused,
                 refused_status,
                 vi_reliable_delivery,
                 {broken, code(common::vip_error_connection_lost)}},
        expected{event_peer_refused,
                 refused_status | vi_status_done,
                 vi_reliable_reception,
                 {{order_break, one, refused_status}, told}},
        expected{event_receive_failed, 0, vi_reliable_delivery, {refused_descriptor, told}},
        expected{event_write_failed, 0, vi_reliable_reception, {refused_write, told}},
        expected{event_queue_empty, 0, vi_unreliable, {code(common::vip_error_receive_queue_empty)}},
        expected{event_queue_empty,
                 0,
                 vi_reliable_delivery,
                 {refused_descriptor, code(common::vip_error_receive_queue_empty)}},
        expected{event_write_refused, 0, vi_unreliable, {code(common::vip_error_rdma_write_protection)}},
        expected{event_write_refused,
                 0,
                 vi_reliable_reception,
                 {refused_write, code(common::vip_error_rdma_write_protection)}}));

using xuni_late_events = xuni_firmware;

// The engine said it before it obeyed a command.
TEST_F(xuni_late_events, of_a_connection_that_is_over_are_nobodys_business) {
    engine.make_connected(one, vi_reliable_delivery);
    answer_to(command_disconnect_vi, {one, vi_idle, 0});
    for (const control_event what :
         {event_time_over, event_asked_again, event_send_failed, event_peer_refused, event_receive_failed,
          event_write_failed, event_queue_empty})
        EXPECT_EQ(engine.on_event(what, one), orders{}) << what;
    EXPECT_EQ(engine.on_event(event_overrun, one), (orders{code(common::vip_error_vi_overrun)}));
    answer_to(command_destroy_vi, {one});
    EXPECT_EQ(engine.on_event(event_overrun, one), orders{});
}

// Anything at any time: the fake engine knows what may be ordered in which state.
TEST_F(xuni_late_events, and_wild_commands_break_no_rule) {
    std::mt19937 random(4);
    engine.queue_entries[1] = 4;
    constexpr uint32_t ops[] = {command_create_vi,     command_set_vi,     command_connect_vi,
                                command_disconnect_vi, command_destroy_vi, command_send_control};
    for (unsigned i = 0; i != 100'000; ++i) {
        const uint32_t vi = random() % 4;
        if (random() % 2 == 0) {
            engine.on_event(event_time_over + random() % (event_write_refused - event_time_over + 1), vi,
                            random() % 3);
            continue;
        }
        std::vector<uint32_t> arguments(argument_words);
        for (uint32_t& word : arguments) word = random() % 5 == 0 ? random() : random() % 8;
        if (random() % 8 != 0) arguments[0] = vi;
        if (random() % 2 == 0) arguments = creating(vi, static_cast<vi_reliability>(1u << random() % 3));
        engine.on_command(ops[random() % std::size(ops)], arguments);
        ASSERT_TRUE(engine.violations.empty());
    }
}

}  // namespace
}  // namespace vinic::testbench
