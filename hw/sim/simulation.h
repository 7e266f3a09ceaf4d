// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hw/sim/configuration.h"
#include "hw/sim/random.h"

namespace vinic::sim {

class probe;
class statistic;

/// One simulation: a SystemC kernel of its own, the settings, and the registers of statistics and probes by
/// name. Build it first, the modules after it, and let them die before it. One exists at a time.
class simulation {
public:
    explicit simulation(configuration config = {}, std::uint64_t seed = 1);
    ~simulation();
    simulation(const simulation&) = delete;
    simulation& operator=(const simulation&) = delete;

    static simulation& current();

    configuration& config() { return config_; }
    std::uint64_t seed() const { return seed_; }
    /// The random stream of the block of that hierarchical name.
    random_stream stream(std::string_view owner) const { return {seed_, owner}; }

    /// By hierarchical name, so that printing never depends on the order of construction.
    const std::map<std::string, statistic*>& statistics() const { return statistics_; }
    const std::map<std::string, probe*>& probes() const { return probes_; }

    /// What runs ahead of the kernel (a core) says here how it is made exact at the present time.
    void on_commit(std::function<void()> action) { commit_.push_back(std::move(action)); }
    /// Makes everything exact at the present time; called between two stretches of simulation, before
    /// statistics are read or traces are flushed.
    void commit() const {
        for (const auto& action : commit_) action();
    }

    /// What reports behind the kernel even after `commit` (a bus, whose data are known at the end of a
    /// tenure) says here how far all is reported.
    void on_settle(std::function<std::uint64_t()> settled) { settle_.push_back(std::move(settled)); }
    /// The last instant, in picoseconds, up to which nobody will report any more; `now` when all is reported.
    std::uint64_t settled(std::uint64_t now) const {
        for (const auto& settled_until : settle_) now = std::min(now, settled_until());
        return now;
    }

    void add(statistic&);
    void remove(statistic&);
    /// Returns the number of the probe: how many were made before it.
    std::uint32_t add(probe&);
    void remove(probe&);

private:
    std::unique_ptr<sc_core::sc_simcontext> kernel_;
    sc_core::sc_simcontext* outer_kernel_;
    configuration config_;
    std::uint64_t seed_;
    std::map<std::string, statistic*> statistics_;
    std::map<std::string, probe*> probes_;
    std::uint32_t probes_made_ = 0;
    std::vector<std::function<void()>> commit_;
    std::vector<std::function<std::uint64_t()>> settle_;
};

}  // namespace vinic::sim
