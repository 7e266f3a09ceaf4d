// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm>

#include <cstdint>

#include "hw/bus/command.h"
#include "hw/sim/time.h"

namespace vinic::bus {

class tenure;

/// The types of our protocol: generic payload and tlm_phase, with phases of our own, because the base
/// protocol knows no retry, no partial transfer and no target that later becomes initiator. The payload
/// belongs to the initiator, who keeps it alive from `request` to `end_of_tenure`; no memory manager.
///
/// One tenure of the bus, as calls of nb_transport:
///
///   initiator -> bus     request        REQ#; seen at the edge after it arrives. The payload is only a
///   token. bus -> initiator     grant          GNT#: fill in command, address, length ... now (length 0:
///   nothing after
///                                       all, and the tenure does not take place)
///   bus -> target        address        the target fills pci_extension::answer before it returns
///   bus -> target        data           its answer was `accept`: all data phases are known
///   bus -> initiator     data           the same (schedule.phases is 0 when there are none)
///   target -> bus        stop           optional: STOP#, cut as soon as the rules allow
///   bus -> both          cut            the schedule became shorter
///   bus -> initiator     transfer       a write: put the first schedule.bytes bytes into the payload now
///   bus -> target        transfer       take (write) or give (read) the first schedule.bytes bytes
///   bus -> initiator     end_of_tenure  pci_extension::ending and schedule.bytes say what happened
///
/// After a retry with target_answer::retry_before, an initiator that has nothing else to do may leave its
/// repetitions to the bus, which knows them in closed form (repetition.h):
///
///   initiator -> bus     repeat         instead of `request`, with the payload that was retried
///   initiator -> bus     cut            something else to do: end this now
///   bus -> both          repeated       pci_extension::repeats repetitions were retried, schedule is that of
///                                       the last one; the initiator goes on by itself (`request`)
///
/// `grant`, `address` and `data` come at the clock edge of the arbiter's decision, in this order; the phases
/// that they announce lie in the future. `transfer` and `end_of_tenure` come at the edge that ends the last
/// data phase. An initiator has one request at a time, and may make the next, with another payload, from
/// `data` on, as a real one keeps REQ# asserted; what it then does is decided at the grant. A target that
/// answers `split` later moves the data by split completions of its own. The time argument of nb_transport is
/// not used. Every call returns TLM_ACCEPTED.
struct protocol {
    using tlm_payload_type = tlm::tlm_generic_payload;
    using tlm_phase_type = tlm::tlm_phase;
};

namespace phase {
DECLARE_EXTENDED_PHASE(request);
DECLARE_EXTENDED_PHASE(grant);
DECLARE_EXTENDED_PHASE(address);
DECLARE_EXTENDED_PHASE(data);
DECLARE_EXTENDED_PHASE(stop);
DECLARE_EXTENDED_PHASE(cut);
DECLARE_EXTENDED_PHASE(transfer);
DECLARE_EXTENDED_PHASE(end_of_tenure);
DECLARE_EXTENDED_PHASE(repeat);
DECLARE_EXTENDED_PHASE(repeated);
}  // namespace phase

inline constexpr unsigned socket_width_bits = 64;
using initiator_socket = tlm::tlm_initiator_socket<socket_width_bits, protocol>;
using target_socket = tlm::tlm_target_socket<socket_width_bits, protocol>;

/// Bus, device and function number: who asked, and where a split completion goes.
struct requester_id {
    std::uint8_t bus = 0;
    std::uint8_t device = 0;    ///< 0-31
    std::uint8_t function = 0;  ///< 0-7
    bool operator==(const requester_id&) const = default;
};

/// What a target says in its response phase.
enum class answer_kind : std::uint8_t {
    accept,  ///< data phases follow
    retry,   ///< STOP# before any data: come again
    split,   ///< PCI-X: the data come later, by split completions
    abort,   ///< an error
};

struct target_answer {
    answer_kind kind = answer_kind::accept;
    /// Wait states before the first data phase, or before STOP#. PCI-X rounds a write's up to an even number.
    std::uint32_t initial_wait_clocks = 0;
    /// Wait states before each later data phase: PCI only.
    std::uint32_t wait_clocks = 0;
    /// Accept at most this many bytes in this tenure, but at least one data phase, then disconnect. PCI-X: at
    /// the last boundary within the limit where that is legal; when there is none, after one data phase. 0:
    /// no limit.
    std::uint32_t limit_bytes = 0;
    /// Disconnect at multiples of this address boundary (a cache line, a page); a power of two. PCI-X: of at
    /// least 128 bytes, and one further when the burst starts fewer than four data phases before it. 0: none.
    std::uint32_t boundary_bytes = 0;
    /// With `retry`, PCI: as long as no other tenure takes place, this target retries each repetition whose
    /// address phase stands before this clock, with the same answer. 0: nothing is known.
    std::uint64_t retry_before = 0;
};

/// How a tenure ended.
enum class ending_kind : std::uint8_t {
    complete,      ///< all bytes moved
    disconnected,  ///< schedule.bytes moved, maybe fewer than asked: request the rest again
    retry,         ///< nothing moved: repeat the same transaction
    split,         ///< nothing moved yet: split completions will bring it
    target_abort,
    master_abort,  ///< nobody claimed the address
};

/// Which clock each phase stands in. Clock n begins at edge n; what is driven in it is sampled at edge n + 1.
struct tenure_schedule {
    std::uint64_t address = 0;     ///< the (first) address phase
    std::uint64_t response = 0;    ///< DEVSEL# is asserted
    std::uint64_t first_data = 0;  ///< the first data phase completes in this clock (or STOP# without data)
    std::uint64_t stride = 1;      ///< clocks from one data phase to the next
    std::uint64_t phases = 0;      ///< number of data phases
    std::uint64_t end = 0;         ///< the first clock in which another address phase may stand
    unsigned width_bytes = 4;      ///< bytes of a whole data phase: 4 or 8
    std::uint64_t bytes = 0;       ///< that these data phases move, ascending from the payload's address

    sim::picoseconds address_at = 0;     ///< the edge at which the target samples the address
    sim::picoseconds first_data_at = 0;  ///< the edge at which the first data are sampled
    sim::picoseconds data_period = 0;    ///< from one data phase to the next
    sim::picoseconds done_at = 0;        ///< the edge that ends the last data phase (or the STOP#)

    std::uint64_t last_data() const { return phases ? first_data + (phases - 1) * stride : first_data; }
    sim::picoseconds data_at(std::uint64_t i) const { return first_data_at + i * data_period; }
    /// Clocks from the address phase through the turnaround.
    std::uint64_t clocks() const { return end - address; }
};

/// What PCI adds to the generic payload. The payload holds address, length, data and direction (for a split
/// completion: a write, and an address that agrees with the requested one in its low seven bits).
class pci_extension : public tlm::tlm_extension<pci_extension> {
public:
    // The initiator's part, filled in at the grant.
    bus::command command = bus::command::memory_read;
    bool wide = true;                         ///< REQ64#, but for one dword: it can move 64 bits
    std::uint32_t initiator_wait_clocks = 0;  ///< PCI: IRDY# delay of each data phase, at most 7
    requester_id requester;                   ///< who asked; in a split completion: whom it is for
    std::uint8_t tag = 0;                     ///< 0-31; with `requester` it names the sequence
    bool relaxed_ordering = false;
    bool no_snoop = false;
    requester_id completer;    ///< in a split completion: who sends it
    bool split_error = false;  ///< in a split completion: instead of data, an error message

    // The target's part.
    target_answer answer;

    // The bus's part.
    tenure_schedule schedule;
    ending_kind ending = ending_kind::complete;
    /// What `schedule` was taken from, during `data` and `cut`: for who drives pins clock by clock.
    const tenure* course = nullptr;
    std::uint64_t repeats = 0;  ///< with `repeated`

    /// Every payload on this bus has one.
    static pci_extension& of(const tlm::tlm_generic_payload& payload) {
        return *payload.get_extension<pci_extension>();
    }
    tlm::tlm_extension_base* clone() const override { return new pci_extension(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        *this = static_cast<const pci_extension&>(other);
    }
};

/// A payload together with its extension, for initiators.
class transaction {
public:
    transaction() { payload.set_extension(&pci); }
    ~transaction() { payload.clear_extension(&pci); }
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;

    tlm::tlm_generic_payload payload;
    pci_extension pci;
};

}  // namespace vinic::bus
