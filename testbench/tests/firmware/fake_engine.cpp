// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/firmware/fake_engine.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace vinic::testbench {

namespace {

fake_engine* engine = nullptr;

template <typename arguments>
std::vector<uint32_t> words_of(const arguments& of) {
    const auto words = std::bit_cast<std::array<uint32_t, sizeof(arguments) / 4>>(of);
    return {words.begin(), words.end()};
}

}  // namespace

fake_engine::fake_engine() {
    engine = this;
    for (xuni::vi& of : xuni::vis) of = {};
    xuni::connecting = 0;
}

fake_engine::~fake_engine() { engine = nullptr; }

void fake_engine::require(bool holds, const char* text) {
    if (!holds) violations.emplace_back(text);
}

// --- Events and commands

std::vector<given_order> fake_engine::on_event(uint32_t what, uint32_t vi, uint32_t argument) {
    orders_.clear();
    events_.push_back({what, vi, argument});
    while (!events_.empty()) xuni::poll();
    return std::exchange(orders_, {});
}

std::vector<given_order> fake_engine::on_command(uint32_t op, const std::vector<uint32_t>& arguments,
                                                 bool settles) {
    command_ = {};
    std::ranges::copy(arguments, command_.begin());
    commanded_ = true;
    answer_ = no_answer;
    std::vector<given_order> given = on_event(event_command, 0, op);
    require((answer_ == no_answer) == settling_, "a command is answered once, when it is done");
    if (!settling_ || !settles) return given;
    settling_ = false;
    const std::vector<given_order> then = on_event(event_settled, given.back().vi);
    require(answer_ != no_answer, "a command is answered when the engine has settled");
    given.insert(given.end(), then.begin(), then.end());
    return given;
}

void fake_engine::make_connected(uint32_t vi, abi::vi_reliability level) {
    on_command(command_create_vi, creating(vi, level));
    on_command(command_connect_vi, testbench::connecting(vi));
}

std::vector<uint32_t> creating(uint32_t vi, abi::vi_reliability level) {
    return words_of(create_vi_arguments{.vi = vi,
                                        .protection_tag = 7,
                                        .reliability = level,
                                        .max_transfer_bytes = 65536,
                                        .rdma_enables = 0,
                                        .send_ring_high = 0,
                                        .send_ring_low = 0x10000,
                                        .receive_ring_high = 0,
                                        .receive_ring_low = 0x20000,
                                        .ring_slots = 64,
                                        .send_queue = no_queue,
                                        .receive_queue = no_queue});
}

std::vector<uint32_t> connecting(uint32_t vi) {
    return words_of(connect_vi_arguments{.vi = vi,
                                         .remote_vi = 3,
                                         .connection_key = 99,
                                         .route_length = 1,
                                         .route = {0x81},
                                         .peer_max_transfer = 65536});
}

// --- Registers

uint32_t fake_engine::load(uint32_t reg) {
    if (reg >= COMMAND) {
        require(commanded_, "arguments are there while a command is");
        return command_.at((reg - COMMAND) / 4);
    }
    switch (reg) {
        case EVENT:
            return events_.empty() ? uint32_t{event_none} : events_.front().what;
        case EVENT_VI:
            return events_.front().vi;
        case EVENT_ARGUMENT:
            return events_.front().argument;
        case ORDER_ROOM:
            return ++looks_ % 3 == 0;  // it is full at times
        case RETRANSMIT_LIMIT:
            return retransmit_limit;
        case QUEUE:
            return queue_ < queue_entries.size() ? queue_entries[queue_] : 0;
        default:
            require(false, "a load of a register that gives nothing");
            return 0;
    }
}

void fake_engine::store(uint32_t reg, uint32_t value) {
    switch (reg) {
        case EVENT_TAKEN:
            require(!events_.empty(), "an event taken where there is none");
            return events_.pop_front();
        case ORDER_VI:
            next_.vi = value;
            return;
        case ORDER_ARGUMENT:
            next_.argument = value;
            return;
        case ORDER_ARGUMENT2:
            next_.argument2 = value;
            return;
        case ORDER:
            require(looks_ % 3 == 0, "an order where there is no room");
            next_.what = value;
            return obey();
        case QUEUE:
            queue_ = value;
            return;
        default:
            require(false, "a store to a register that takes nothing");
    }
}

void fake_engine::change(uint32_t vi, bool allowed, vi_state to) {
    require(allowed, "an order that the state of the VI forbids");
    states_[vi] = to;
}

/// The states of VIs follow the orders, as in the engine.
void fake_engine::obey() {
    const given_order given = std::exchange(next_, {});
    const bool known = given.vi < max_vis;
    require(known, "an order on a VI that there is not");
    if (!known) return;
    const vi_state now = states_[given.vi], next = static_cast<vi_state>(given.argument);
    if (given.what <= order_done) require(commanded_, "an order on a command where there is none");
    if (given.what == order_done) {
        answer_ = given.argument;
        commanded_ = false;
        return;
    }
    orders_.push_back(given);
    switch (given.what) {
        case order_create:
            return change(given.vi, now == vi_unused && command_[0] == given.vi, vi_idle);
        case order_set:
            return change(given.vi, now == vi_idle && command_[0] == given.vi, vi_idle);
        case order_connect:
            return change(given.vi, now == vi_idle && command_[0] == given.vi, vi_connected);
        case order_send_control:
            return;
        case order_leave:
        case order_stop:
            return change(given.vi, now != vi_unused && next != vi_connected && next <= vi_error, next);
        case order_settle:
            require(!settling_, "an order to settle before the last one was done");
            settling_ = true;
            return;
        case order_send_again:
            return change(given.vi, now == vi_connected, now);
        case order_break:
        case order_refuse:
            return change(given.vi, now == vi_connected, vi_error);
        case order_report:
            return change(given.vi, now != vi_unused, now);
        default:
            require(false, "an order that there is not");
    }
}

}  // namespace vinic::testbench

namespace vinic::xuni::hardware {

uint32_t load(uint32_t reg) { return testbench::engine->load(reg); }
void store(uint32_t reg, uint32_t value) { testbench::engine->store(reg, value); }

}  // namespace vinic::xuni::hardware
