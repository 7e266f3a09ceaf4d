// SPDX-License-Identifier: Apache-2.0

// The engine as the firmware of an embedded core sees it (firmware/abi/xuni_control.h), natively: registers,
// and the rules of orders, whose breach is noted.
#pragma once

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "firmware/xuni/main_loop.h"

namespace vinic::testbench {

using namespace abi::xuni;
using namespace abi::vi_engine;

struct given_order {
    uint32_t what = 0, vi = 0, argument = 0, argument2 = 0;
    bool operator==(const given_order&) const = default;
};

class fake_engine {
public:
    /// With the firmware as after reset.
    fake_engine();
    ~fake_engine();

    uint32_t retransmit_limit = 3;
    std::array<uint32_t, max_queues> queue_entries{};  ///< 0: the queue is none
    std::vector<std::string> violations;

    /// Lets the firmware take an event; gives its orders but those that end a command.
    std::vector<given_order> on_event(uint32_t event, uint32_t vi, uint32_t argument = 0);
    /// The same for a command. What it waits for comes unless `settles` is false.
    std::vector<given_order> on_command(uint32_t op, const std::vector<uint32_t>& arguments,
                                        bool settles = true);
    /// What the last command answered; `no_answer` until it has.
    uint32_t answer() const { return answer_; }
    static constexpr uint32_t no_answer = 0xFFFFFFFF;

    vi_state state(uint32_t vi) const { return states_[vi]; }
    /// Commands that leave VI `vi` connected at that level.
    void make_connected(uint32_t vi, abi::vi_reliability level);

    // Registers
    uint32_t load(uint32_t reg);
    void store(uint32_t reg, uint32_t value);

private:
    void obey();
    void change(uint32_t vi, bool allowed, vi_state to);
    void require(bool holds, const char* text);

    struct event {
        uint32_t what, vi, argument;
    };
    std::deque<event> events_;
    std::array<uint32_t, argument_words> command_{};
    std::array<vi_state, max_vis> states_{};
    std::vector<given_order> orders_;
    given_order next_;
    uint32_t queue_ = 0, answer_ = no_answer, looks_ = 0;
    bool commanded_ = false, settling_ = false;
};

/// Arguments of commands, good ones.
std::vector<uint32_t> creating(uint32_t vi, abi::vi_reliability level);
std::vector<uint32_t> connecting(uint32_t vi);

}  // namespace vinic::testbench
