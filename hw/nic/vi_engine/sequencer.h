// SPDX-License-Identifier: Apache-2.0
// The clock of the engine, and the order of what its machines do on one edge.
#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "hw/sim/clock_domain.h"
#include "hw/sim/time.h"
#include "hw/sim/timer.h"

namespace vinic::nic {

/// Who acts before whom on one edge. Inputs come first; what one machine leaves for another on an edge is
/// taken up on that edge.
enum class rank : std::uint8_t {
    host,  ///< writes of the host
    bus,   ///< ends of the engine's own transfers
    link,  ///< packets
    intake,
    doorbells,
    descriptors,
    translation,
    completion,
    events,
    flush,
    reliability,
    receive,
    placement,
    transmit,
    send,
    control,
    commands
};

/// One kernel timer for the whole engine. All state of the engine changes in here, on edges of its clock, in
/// an order of its own: edge, rank, first come first served. What comes from outside is an input and is seen
/// on the next edge, so the kernel's order of waking does not matter.
class sequencer {
public:
    using edge = std::uint64_t;

    /// `memory_clocks`: an access to the card's memory.
    explicit sequencer(const sim::clock_domain& domain, std::uint64_t memory_clocks = 0)
        : domain_(domain), memory_clocks_(memory_clocks) {}
    sequencer(const sequencer&) = delete;
    sequencer& operator=(const sequencer&) = delete;

    const sim::clock_domain& domain() const { return domain_; }
    /// The edge at hand; from outside, the one on which an input is seen.
    edge now() const { return acting_ ? at_ : domain_.edge_after(sim::now()); }

    /// Something that happens outside at this instant.
    void input(rank from, std::function<void()> effect);
    /// `what` goes on at that edge.
    void resume_at(edge at, rank who, std::coroutine_handle<> what);
    /// Lets the machine that `begin` starts run up to its first wait.
    template <typename Begin>
    auto start(rank who, Begin&& begin) {
        current_ = who;
        return begin();
    }
    /// Of the machine that is running.
    rank current() const { return current_; }

    struct pause {
        sequencer& by;
        std::uint64_t clocks;
        bool await_ready() const { return clocks == 0; }
        void await_suspend(std::coroutine_handle<> h) const {
            by.resume_at(by.now() + clocks, by.current(), h);
        }
        void await_resume() const {}
    };
    /// co_await: so many clocks pass, and those of so many accesses to what the card holds in its memory: the
    /// context of a VI, a descriptor, an entry of a table.
    pause clocks(std::uint64_t n, std::uint64_t accesses = 0) {
        return {*this, n + accesses * memory_clocks_};
    }

    /// The engine stands still from now on, as in reset.
    void halt() { halted_ = true; }
    /// How often the kernel woke the engine.
    std::uint64_t activations() const { return activations_; }

private:
    struct entry {
        edge at;
        rank who;
        std::uint64_t number;
        std::coroutine_handle<> what;
        std::function<void()> effect;
        bool operator<(const entry& other) const {  // the first one is the greatest
            if (at != other.at) return at > other.at;
            return who != other.who ? who > other.who : number > other.number;
        }
    };
    void act();
    void put(entry&& e);

    sim::clock_domain domain_;
    std::uint64_t memory_clocks_;
    std::priority_queue<entry> entries_;
    std::uint64_t count_ = 0;
    std::uint64_t activations_ = 0;
    edge at_ = 0;
    bool acting_ = false;
    bool halted_ = false;
    rank current_ = rank::host;
    sim::timer timer_{[this] { act(); }};
};

/// Machines that wait until something changes. Who is woken looks again.
class condition {
public:
    explicit condition(sequencer& of) : sequencer_(of) {}

    struct wait {
        condition& on;
        bool await_ready() const { return false; }
        void await_suspend(std::coroutine_handle<> h) const {
            on.waiting_.push_back({on.sequencer_.current(), h});
        }
        void await_resume() const {}
    };
    wait changed() { return {*this}; }
    void notify() {
        for (const waiter& w : waiting_) sequencer_.resume_at(sequencer_.now(), w.who, w.what);
        waiting_.clear();
    }

private:
    struct waiter {
        rank who;
        std::coroutine_handle<> what;
    };
    sequencer& sequencer_;
    std::vector<waiter> waiting_;
};

/// So many of a resource: buffers, outstanding transfers. First come, first served: what is given back goes
/// to the one who has waited longest.
class pool {
public:
    pool(sequencer& of, std::uint64_t count) : sequencer_(of), free_(count) {}

    struct wait {
        pool& on;
        bool await_ready() const { return on.try_take(); }
        void await_suspend(std::coroutine_handle<> h) const {
            on.waiting_.push_back({on.sequencer_.current(), h});
        }
        void await_resume() const {}
    };
    wait take() { return {*this}; }
    bool try_take() {
        if (free_ == 0) return false;
        --free_;
        return true;
    }
    void give() {
        if (waiting_.empty()) {
            ++free_;
            return;
        }
        const waiter w = waiting_.front();
        waiting_.pop_front();
        sequencer_.resume_at(sequencer_.now(), w.who, w.what);
    }
    std::uint64_t available() const { return free_; }

private:
    struct waiter {
        rank who;
        std::coroutine_handle<> what;
    };
    sequencer& sequencer_;
    std::uint64_t free_;
    std::deque<waiter> waiting_;
};

}  // namespace vinic::nic
