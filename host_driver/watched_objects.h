// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "host_driver/types.h"
#include "host_driver/work_queue.h"
#include "hw/host/memory.h"
#include "hw/sim/module.h"
#include "hw/sim/probe.h"

namespace vinic::driver {

/// What can be seen of the VI that has a certain number.
class vi_watch {
public:
    sim::value_probe state;
    sim::value_probe send_depth;
    sim::value_probe receive_depth;

    vi_watch(const sim::module& agent, unsigned number);

    void enters(vi_state next) { state.set(static_cast<std::uint64_t>(next) + 1); }
    void holds(bool receive, std::uint32_t descriptors) {
        (receive ? receive_depth : send_depth).set(descriptors);
    }
    void goes();
};

/// What can be seen of the completion queue that has a certain number. The card writes entries into memory
/// without telling anybody, so their arrival is reported late; the probe's stamps are right.
class queue_watch : private host::memory_watcher {
public:
    sim::value_probe depth;

    queue_watch(const sim::module& agent, unsigned number, host::memory& ram);
    ~queue_watch() override;

    /// The card writes into `ring` from now on; entries of the one before still count.
    void follow(std::shared_ptr<const completion_queue> ring);
    /// That many entries are no longer in the queue.
    void leave(std::uint32_t entries);
    void goes();

private:
    struct arrival {
        sim::picoseconds at;
        std::uint32_t entries;
    };

    void changes_at(sim::picoseconds at, const host::physical_range& where) override;
    void report();

    host::memory& ram_;
    std::shared_ptr<const completion_queue> ring_;
    std::deque<arrival> arrivals_;  ///< not reported, by time
    std::uint32_t entries_ = 0;
};

}  // namespace vinic::driver
