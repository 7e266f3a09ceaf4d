// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hw/bus/initiator.h"
#include "hw/sim/timer.h"

namespace vinic::bus {

/// The model of an initiator. `name`: whose error messages they are.
class burst_scheduler : public initiator {
public:
    burst_scheduler(surroundings& around, std::string name);

    void start(job& what) override;
    bool idle() const override { return jobs_.empty(); }
    void on_phase(const tlm::tlm_generic_payload& payload, const tlm::tlm_phase& what) override;
    void on_completion_schedule(const tlm::tlm_generic_payload&, const pci_extension& pci) override;
    void on_completion_cut(const pci_extension& pci) override;
    void on_completion(const pci_extension& pci, std::span<const std::uint8_t> bytes) override;

private:
    /// What of a job is on the bus, or was answered by a split response.
    struct part {
        bus::job* job = nullptr;
        std::uint64_t offset = 0;
        std::uint64_t count = 0;
        std::uint64_t received = 0;
    };
    struct slot {
        transaction on_bus;
        burst_scheduler::part part;
    };

    void request();
    void sleep();
    bool only_repeats(const slot& s) const;
    void retried(slot& s, std::uint64_t times);
    bool ready(const job& j) const;
    job* pick(bool granted) const;
    void on_grant(slot& s);
    void on_end(slot& s);
    void moved(part& p, std::uint64_t count);
    void fail(job& j, job_status why);
    void settle(job& j);
    std::uint64_t burst_bytes(const job& j) const;
    command command_for(const job& j, std::uint64_t address, std::uint64_t count) const;
    std::uint8_t unused_tag() const;
    part& split_of(const pci_extension& pci);
    slot& slot_of(const tlm::tlm_generic_payload& payload);

    surroundings& around_;
    const bus_properties& bus_;
    burst_limits limits_;
    std::string name_;
    std::vector<job*> jobs_;
    std::array<slot, 2> slots_;  ///< one has the bus while the other one requests it
    slot* requesting_ = nullptr;
    slot* active_ = nullptr;
    slot* repeating_ = nullptr;  ///< the bus repeats it; the job's `not_before` is `never`
    std::array<part, max_tags> splits_;
    unsigned outstanding_ = 0;
    sim::timer wake_{[this] { request(); }};
};

}  // namespace vinic::bus
