// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <span>

#include "hw/bus/bus_properties.h"
#include "hw/bus/protocol.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"
#include "hw/sim/unit.h"

namespace vinic::bus {

struct job;

enum class job_status : std::uint8_t { done, target_abort, master_abort, split_error };

/// Whoever gave a job to a `master`. Offsets and counts are of the job's bytes.
class job_client {
public:
    virtual ~job_client() = default;
    /// A burst of `count` bytes has its data phases (of a split read: those of a split completion).
    virtual void on_burst(job&, std::uint64_t /*offset*/, std::uint64_t /*count*/, const tenure_schedule&) {}
    /// That burst will move fewer bytes.
    virtual void on_cut(job&, std::uint64_t /*offset*/, std::uint64_t /*count*/, const tenure_schedule&) {}
    /// A write or completion: these bytes leave now; the last moment to put them into job.bytes.
    virtual void on_supply(job&, std::uint64_t /*offset*/, std::uint64_t /*count*/) {}
    /// A read: these bytes are in job.bytes now. Ascending within a burst; bursts of several outstanding
    /// split reads may come in any order.
    virtual void on_arrival(job&, std::uint64_t /*offset*/, std::uint64_t /*count*/) {}
    /// The last call for this job, which is the client's again (it may be started anew from here).
    virtual void on_done(job&, job_status) = 0;
};

/// Read or write these bytes at this address. The client keeps it alive and still until on_done.
struct job {
    enum class kind { read, write, completion };
    enum class space { memory, io, configuration };

    kind what = kind::read;
    space where = space::memory;
    std::uint64_t address = 0;
    std::span<std::uint8_t> bytes;
    job_client* client = nullptr;
    bool relaxed_ordering = false;
    bool no_snoop = false;
    /// A completion: whom it answers, and whether with an error.
    requester_id requester;
    std::uint8_t tag = 0;
    bool split_error = false;

    // The master's book-keeping.
    std::uint64_t issued = 0;  ///< bytes requested (of a split read) or on their way, from the beginning
    std::uint64_t moved = 0;   ///< bytes that have moved
    unsigned splits = 0;       ///< sequences whose completions are still to come
    sim::picoseconds started = 0;
    sim::picoseconds not_before = 0;
    job_status status = job_status::done;
};

/// A device's way to be initiator: takes jobs, cuts them into legal bursts, repeats them after retry and
/// disconnect, gathers split completions. Ordering (PCI 2.2 appendix E, facts/lanai_pcix.md C1): posted
/// writes stay in order, reads and completions never pass an earlier write, anything may pass a read that
/// waits.
class master : public sim::module, private tlm::tlm_bw_transport_if<protocol> {
public:
    initiator_socket socket;

    sim::parameter<std::uint64_t> max_burst_bytes;
    sim::parameter<std::uint64_t> burst_boundary_bytes;
    sim::parameter<std::uint64_t> max_read_bytes;
    sim::parameter<std::uint64_t> max_outstanding_splits;
    sim::parameter<bool> write_and_invalidate;

    sim::counter<sim::unit::bytes> bytes_read{*this, "bytes_read", "by this master, completions included"};
    sim::counter<sim::unit::bytes> bytes_written{*this, "bytes_written",
                                                 "by this master, completions included"};
    sim::counter<sim::unit::events> repeats{*this, "repeats", "requests repeated after a retry"};

    master(const sc_core::sc_module_name& name, const bus_properties& bus, requester_id id);

    requester_id id() const { return id_; }
    void start(job& what);
    bool idle() const { return jobs_.empty(); }

    /// For tools: no time. Returns the number of bytes done.
    std::size_t debug_read(std::uint64_t address, std::span<std::uint8_t> bytes);
    std::size_t debug_write(std::uint64_t address, std::span<const std::uint8_t> bytes);

    // Split completions for this master, from its device's target_port.
    void on_completion_schedule(const pci_extension& pci);
    void on_completion_cut(const pci_extension& pci);
    void on_completion(const pci_extension& pci, std::span<const std::uint8_t> bytes);

private:
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                       sc_core::sc_time&) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    /// What of a job is on the bus, or was answered by a split response.
    struct part {
        bus::job* job = nullptr;
        std::uint64_t offset = 0;
        std::uint64_t count = 0;
        std::uint64_t received = 0;
    };
    struct slot {
        transaction on_bus;
        master::part part;
    };

    void request();
    void sleep();
    bool only_repeats(const slot& s) const;
    void retried(slot& s, std::uint64_t times);
    void call(slot& s, tlm::tlm_phase what);
    bool ready(const job& j) const;
    job* pick(bool granted) const;
    void on_grant(slot& s);
    void on_end(slot& s);
    void moved(part& p, std::uint64_t count);
    void fail(job& j, job_status why);
    void settle(job& j);
    std::uint64_t burst_bytes(const job& j) const;
    command command_for(const job& j, std::uint64_t address, std::uint64_t count) const;
    part& split_of(const pci_extension& pci);
    slot& slot_of(const tlm::tlm_generic_payload& payload);

    const bus_properties& bus_;
    requester_id id_;
    std::list<job*> jobs_;
    std::array<slot, 2> slots_;  ///< one has the bus while the other one requests it
    slot* requesting_ = nullptr;
    slot* active_ = nullptr;
    slot* repeating_ = nullptr;  ///< the bus repeats it; the job's `not_before` is `never`
    std::array<part, max_tags> splits_;
    unsigned outstanding_ = 0;
    sim::timer wake_{[this] { request(); }};
};

}  // namespace vinic::bus
