// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hw/bus/master.h"
#include "hw/bus/pci_bus.h"
#include "hw/bus/target_port.h"
#include "hw/sim/simulation.h"

namespace vinic::bus::test {

/// A target with memory: answers as it is told, notes what it is asked.
class memory_target : public target_device {
public:
    memory_target(const std::string& name, const bus_properties& bus, std::uint64_t base, std::size_t size,
                  master* completions = nullptr)
        : port(name.c_str(), bus, *this, completions), base_(base), memory(size) {}

    target_port port;

    struct seen {
        bus::command command;
        std::uint64_t address;
        std::uint64_t bytes;
        tenure_schedule schedule;
        sim::picoseconds at;
        target_answer answer;
        bool cut = false;  ///< shorter than announced
    };
    std::vector<seen> scheduled;
    std::vector<seen> moved;
    int cuts = 0;
    target_answer answer;
    std::function<target_answer(const tlm::tlm_generic_payload&, const pci_extension&)> decide;
    std::function<void(std::uint64_t)> repeated = [](std::uint64_t) {};

    target_answer on_address(const tlm::tlm_generic_payload& payload, const pci_extension& pci) override {
        return decide ? decide(payload, pci) : answer;
    }
    void on_schedule(const tlm::tlm_generic_payload& payload, const pci_extension& pci) override {
        scheduled.push_back(
            {pci.command, payload.get_address(), pci.schedule.bytes, pci.schedule, sim::now()});
    }
    void on_cut(const tlm::tlm_generic_payload&, const pci_extension&) override {
        ++cuts;
        scheduled.back().cut = true;
    }
    void on_repeated(std::uint64_t n) override { repeated(n); }
    void on_write(const pci_extension& pci, std::uint64_t address,
                  std::span<const std::uint8_t> bytes) override {
        std::ranges::copy(bytes, memory.begin() + static_cast<std::ptrdiff_t>(address - base_));
        note(pci, address, bytes.size());
    }
    void on_read(const pci_extension& pci, std::uint64_t address, std::span<std::uint8_t> bytes) override {
        const auto from = memory.begin() + static_cast<std::ptrdiff_t>(address - base_);
        std::copy(from, from + static_cast<std::ptrdiff_t>(bytes.size()), bytes.begin());
        note(pci, address, bytes.size());
    }
    std::size_t debug_read(std::uint64_t address, std::span<std::uint8_t> bytes) override {
        std::copy_n(memory.begin() + static_cast<std::ptrdiff_t>(address - base_), bytes.size(),
                    bytes.begin());
        return bytes.size();
    }
    std::size_t debug_write(std::uint64_t address, std::span<const std::uint8_t> bytes) override {
        std::ranges::copy(bytes, memory.begin() + static_cast<std::ptrdiff_t>(address - base_));
        return bytes.size();
    }

private:
    void note(const pci_extension& pci, std::uint64_t address, std::uint64_t bytes) {
        moved.push_back(
            {pci.command, address, bytes, pci.schedule, sim::now(), pci.answer, scheduled.back().cut});
    }

    std::uint64_t base_;

public:
    std::vector<std::uint8_t> memory;
};

/// A PCI-X completer: splits every block read and completes it, or says that it failed, after a latency, in
/// order.
class split_target : public memory_target, public job_client {
public:
    split_target(const std::string& name, const bus_properties& bus, std::uint64_t base, std::size_t size,
                 requester_id id, std::uint64_t latency_clocks)
        : memory_target(name, bus, base, size, nullptr),
          answers((name + "_answers").c_str(), bus, id),
          bus_(bus),
          base_address_(base),
          latency_clocks_(latency_clocks) {
        sc_core::sc_spawn_options options;
        options.spawn_method();
        options.set_sensitivity(&due_);
        options.dont_initialize();
        sc_core::sc_spawn([this] { complete(); }, nullptr, &options);
        decide = [this](const auto& payload, const pci_extension& pci) -> target_answer {
            if (pci.command != command::memory_read_block) return {};
            const auto& c = bus_.clock;
            waiting_.push_back({{}, std::vector<std::uint8_t>(payload.get_data_length()), 0});
            entry& e = waiting_.back();
            e.job = {.what = job::kind::completion,
                     .address = payload.get_address(),
                     .bytes = e.bytes,
                     .client = this,
                     .requester = pci.requester,
                     .tag = pci.tag};
            if (fails()) {
                e.job.split_error = true;
                // A message: four bytes, and its lower address is 0.
                e.bytes.resize(4);
                e.job.bytes = e.bytes;
                e.job.address = 0;
            }
            // Counted from the end of the split response of a tenure without initial waits.
            e.at = c.edge(c.edge_at_or_after(pci.schedule.first_data_at) + latency_clocks_);
            if (waiting_.size() == 1) due_.notify(sim::delay_until(e.at));
            return {.kind = answer_kind::split};
        };
    }

    master answers;
    std::function<bool()> fails = [] { return false; };  ///< the next read: a split error message answers it

    void on_supply(job& j, std::uint64_t offset, std::uint64_t count) override {
        if (j.split_error) return;
        const auto from = memory.begin() + static_cast<std::ptrdiff_t>(j.address - base_address_ + offset);
        std::copy_n(from, count, j.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    void on_done(job&, job_status) override {
        waiting_.pop_front();
        if (!waiting_.empty()) due_.notify(sim::delay_until(waiting_.front().at));
    }

private:
    struct entry {
        bus::job job;
        std::vector<std::uint8_t> bytes;
        sim::picoseconds at;
    };
    void complete() { answers.start(waiting_.front().job); }

    const bus_properties& bus_;
    std::uint64_t base_address_;
    std::uint64_t latency_clocks_;
    std::deque<entry> waiting_;
    sc_core::sc_event due_;
};

/// Starts jobs at given times and notes what becomes of them.
class recorder_client : public job_client {
public:
    struct burst {
        std::uint64_t offset;
        std::uint64_t count;
        tenure_schedule schedule;
    };
    std::vector<burst> bursts;
    int cuts = 0;
    std::vector<std::uint64_t> arrivals;
    std::vector<job_status> done;
    std::vector<sim::picoseconds> done_at;
    std::function<void(job&)> when_done;

    void on_burst(job&, std::uint64_t offset, std::uint64_t count, const tenure_schedule& s) override {
        bursts.push_back({offset, count, s});
    }
    void on_cut(job&, std::uint64_t offset, std::uint64_t count, const tenure_schedule& s) override {
        ++cuts;
        bursts.back() = {offset, count, s};
    }
    void on_arrival(job&, std::uint64_t offset, std::uint64_t) override { arrivals.push_back(offset); }
    void on_done(job& j, job_status status) override {
        done.push_back(status);
        done_at.push_back(sim::now());
        if (when_done) when_done(j);
    }
};

/// One simulation with a bus; settings are "name", "value" of parameters.
class bench {
public:
    explicit bench(const std::vector<std::pair<std::string, std::string>>& settings)
        : simulation_(config(settings)) {
        bus = std::make_unique<pci_bus>("bus");
    }

    master& add_master(const std::string& name, std::uint8_t device,
                       implementation how = implementation::model) {
        masters.push_back(
            std::make_unique<master>(name.c_str(), bus->properties(), requester_id{0, device, 0}, how));
        bus->attach(*masters.back());
        return *masters.back();
    }
    memory_target& add_target(const std::string& name, std::uint64_t base, std::size_t size,
                              std::uint8_t device, std::uint32_t decode = 0, bool wide = true,
                              master* completions = nullptr) {
        targets.push_back(std::make_unique<memory_target>(name, bus->properties(), base, size, completions));
        const unsigned n = bus->attach(targets.back()->port, {{0, device, 0}, decode, wide});
        bus->map(n, base, size);
        return *targets.back();
    }
    split_target& add_splitter(const std::string& name, std::uint64_t base, std::size_t size,
                               std::uint8_t device, std::uint64_t latency_clocks) {
        auto t = std::make_unique<split_target>(name, bus->properties(), base, size,
                                                requester_id{0, device, 0}, latency_clocks);
        split_target& result = *t;
        targets.push_back(std::move(t));
        const unsigned n = bus->attach(result.port, {{0, device, 0}});
        bus->attach(result.answers);
        bus->map(n, base, size);
        return result;
    }
    /// Calls `what` at edge n of the bus clock (before anything of that edge is seen on the bus).
    void at_clock(std::uint64_t n, std::function<void()> what) {
        sc_core::sc_spawn([this, n, what] {
            const auto at = sim::to_sc_time(bus->properties().clock.edge(n));
            if (at != sc_core::SC_ZERO_TIME) sc_core::wait(at);
            what();
        });
    }
    /// The same, but after all that this edge is going to bring on the bus.
    void late_in_clock(std::uint64_t n, std::function<void()> what) {
        at_clock(n, [what = std::move(what)] {
            for (int deltas = 0; deltas < 20; ++deltas) sc_core::wait(sc_core::SC_ZERO_TIME);
            what();
        });
    }
    std::uint64_t clock_of(sim::picoseconds t) const { return bus->properties().clock.edge_at_or_before(t); }
    void run() { sc_core::sc_start(); }

    static sim::configuration config(const std::vector<std::pair<std::string, std::string>>& settings);

private:
    sim::simulation simulation_;

public:
    std::unique_ptr<pci_bus> bus;
    std::vector<std::unique_ptr<master>> masters;
    std::vector<std::unique_ptr<memory_target>> targets;
};

inline std::vector<std::uint8_t> pattern(std::size_t size, std::uint8_t seed = 1) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(seed + i * 7 + (i >> 8) * 13);
    return bytes;
}

}  // namespace vinic::bus::test
