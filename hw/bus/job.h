// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "hw/bus/protocol.h"
#include "hw/sim/time.h"

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
    unsigned rank = 0;  ///< of jobs that start at one instant, the lower is the older
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

/// Which of two jobs of one master is the older.
inline bool is_older(const job* a, const job* b) {
    return a->started != b->started ? a->started < b->started : a->rank < b->rank;
}

}  // namespace vinic::bus
