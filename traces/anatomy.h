// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "traces/history.h"
#include "traces/message_listener.h"
#include "traces/path_builder.h"
#include "traces/stage.h"

namespace vinic::traces {

/// Where the time of one message went. `path` is its causal chain, without a gap: each interval begins where
/// the one before ends, and they add up to the latency. `beside` is what was done for the message meanwhile,
/// off the chain.
struct message_anatomy {
    std::string sender;  ///< card: "node0.nic"
    std::string receiver;
    std::uint64_t bytes = 0;
    std::uint64_t packets = 0;
    bool measured = false;  ///< posted while the workload measured
    std::vector<interval> path;
    std::vector<interval> beside;

    sim::picoseconds begin() const { return path.front().begin; }
    sim::picoseconds end() const { return path.back().end; }
    sim::picoseconds latency() const { return end() - begin(); }
};

/// Cuts the way of each message that an account follows into its stages. Where two things must have happened
/// before a third, the later one is on the path and the other one beside it. Of a message of several packets
/// the last one is followed; the time until its payload is asked for is one stage.
class anatomy : public message_listener, public sim::listener {
public:
    anatomy();

    /// A message that somebody else has followed; whether it was measured is found out here.
    void add(message_anatomy done);

    /// In order of arrival at the program; at one instant in that of the cards' names.
    const std::vector<message_anatomy>& messages() const { return finished_; }
    /// From begin to end; the last one may not have ended. Empty: the workload says nothing about it.
    struct measured_interval {
        sim::picoseconds begin;
        sim::picoseconds end;
    };
    const std::vector<measured_interval>& measured() const { return measured_; }

    void on_step(const message_path&, checkpoint what, const sim::probe& where, sim::picoseconds begin,
                 sim::picoseconds end) override;
    void on_more_payload(const message_path&, const sim::probe& where, sim::picoseconds begin,
                         sim::picoseconds end) override;
    void on_sent(const message_path&, sim::picoseconds at, std::uint64_t address,
                 std::uint64_t bytes) override;
    void on_received(const message_path&, sim::picoseconds at, std::uint64_t address,
                     std::uint64_t bytes) override;
    void on_finished(const message_path&) override;
    void on_value(const sim::value_probe&, sim::picoseconds at, std::uint64_t bits,
                  std::uint64_t floating) override;

private:
    void forget(sim::picoseconds now);
    bool is_measured(sim::picoseconds at) const;
    void insert(message_anatomy done);

    history history_;
    std::unordered_map<const message_path*, message_events> under_way_;  // looked up; the order is not used
    std::vector<message_anatomy> finished_;
    std::vector<measured_interval> measured_;
};

}  // namespace vinic::traces
