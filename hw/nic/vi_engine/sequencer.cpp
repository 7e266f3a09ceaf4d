// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/sequencer.h"

#include <utility>

namespace vinic::nic {

void sequencer::put(entry&& e) {
    e.number = count_++;
    const edge at = e.at;
    entries_.push(std::move(e));
    if (!acting_) timer_.no_later_than(domain_.edge(at));
}

void sequencer::input(rank from, std::function<void()> effect) {
    put({domain_.edge_after(sim::now()), from, 0, nullptr, std::move(effect)});
}

void sequencer::resume_at(edge at, rank who, std::coroutine_handle<> what) { put({at, who, 0, what, {}}); }

void sequencer::act() {
    if (halted_) return;
    ++activations_;
    acting_ = true;
    at_ = domain_.edge_at_or_before(sim::now());
    while (!entries_.empty() && entries_.top().at <= at_) {
        const entry next = entries_.top();
        entries_.pop();
        current_ = next.who;
        next.what ? next.what.resume() : next.effect();
    }
    acting_ = false;
    if (!entries_.empty()) timer_.no_later_than(domain_.edge(entries_.top().at));
}

}  // namespace vinic::nic
