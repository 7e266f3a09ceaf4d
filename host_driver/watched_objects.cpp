// SPDX-License-Identifier: Apache-2.0
#include "host_driver/watched_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hw/sim/simulation.h"

namespace vinic::driver {

namespace {

/// In the order of `vi_state`, behind that of a VI that does not exist.
constexpr std::array<const char*, 5> vi_states{"none", "idle", "connected", "connect_pending", "error"};
constexpr unsigned depth_bits = 32;

}  // namespace

vi_watch::vi_watch(const sim::module& agent, unsigned number)
    : state(agent, fmt::format("vi{}.state", number), 3, "state of that VI", vi_states),
      send_depth(agent, fmt::format("vi{}.send_depth", number), depth_bits,
                 "descriptors posted on its send queue and not taken back"),
      receive_depth(agent, fmt::format("vi{}.receive_depth", number), depth_bits,
                    "descriptors posted on its receive queue and not taken back") {}

void vi_watch::goes() {
    state.set(0);
    send_depth.set(0);
    receive_depth.set(0);
}

queue_watch::queue_watch(const sim::module& agent, unsigned number, host::memory& ram)
    : depth(agent, fmt::format("queue{}.depth", number), depth_bits,
            "entries of that completion queue that no program has taken"),
      ram_(ram) {
    sim::simulation::current().on_commit([this] { report(); });
}

queue_watch::~queue_watch() { ram_.unwatch(*this); }

void queue_watch::follow(std::shared_ptr<const completion_queue> ring) {
    if (!depth.watched()) return;
    ram_.unwatch(*this);
    if (!ring_) depth.set(0);
    ring_ = std::move(ring);
    ram_.watch(ring_->memory(), *this);
}

void queue_watch::leave(std::uint32_t entries) {
    if (!ring_ || entries == 0) return;
    report();
    entries_ -= std::min(entries, entries_);
    depth.set(entries_);
}

void queue_watch::goes() {
    leave(entries_);
    ram_.unwatch(*this);
    ring_.reset();
    arrivals_.clear();
}

void queue_watch::changes_at(sim::picoseconds at, const host::physical_range& where) {
    const std::uint32_t entries = ring_->entries_in(where);
    if (entries == 0) return;
    const auto later =
        std::ranges::upper_bound(arrivals_, at, {}, [](const arrival& known) { return known.at; });
    arrivals_.insert(later, {at, entries});
}

void queue_watch::report() {
    for (; !arrivals_.empty() && arrivals_.front().at <= sim::now(); arrivals_.pop_front()) {
        entries_ += arrivals_.front().entries;
        depth.set(arrivals_.front().at, entries_);
    }
}

}  // namespace vinic::driver
