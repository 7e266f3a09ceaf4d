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
    std::uint64_t issued = 0;  ///< bytes that were requested (split) or moved
    std::uint64_t moved = 0;   ///< bytes that have moved
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
    sim::parameter<std::uint64_t> cache_line_bytes;

    master(const sc_core::sc_module_name& name, const bus_properties& bus, requester_id id);

    requester_id id() const { return id_; }
    void start(job& what);
    bool idle() const { return jobs_.empty(); }

    // Split completions for this master, from its device's target_port.
    void on_completion_schedule(const tlm::tlm_generic_payload& payload, const pci_extension& pci);
    void on_completion_cut(const tlm::tlm_generic_payload& payload, const pci_extension& pci);
    void on_completion(const pci_extension& pci, std::span<const std::uint8_t> bytes);

private:
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                       sc_core::sc_time&) override;
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    const bus_properties& bus_;
    requester_id id_;
    std::list<job*> jobs_;
};

}  // namespace vinic::bus
