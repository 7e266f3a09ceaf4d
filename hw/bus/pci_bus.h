// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/bus/arbiter.h"
#include "hw/bus/bus_properties.h"
#include "hw/bus/decoder.h"
#include "hw/bus/protocol.h"
#include "hw/bus/repetition.h"
#include "hw/bus/tenure.h"
#include "hw/bus/wires.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"
#include "hw/sim/unit.h"

namespace vinic::bus {

class master;
class target_port;

/// A segment of PCI or PCI-X with its arbiter. Each tenure is computed in closed form when it is granted;
/// while it lasts, a STOP# or an expired latency timer can only shorten it. An idle bus schedules no event.
class pci_bus : public sim::module {
public:
    /// One per master and per target, in the order in which they are attached.
    tlm_utils::multi_passthrough_target_socket<pci_bus, socket_width_bits, protocol> masters;
    tlm_utils::multi_passthrough_initiator_socket<pci_bus, socket_width_bits, protocol> targets;

    sim::parameter<std::string> kind;
    sim::parameter<std::uint64_t> width_bits;
    sim::parameter<std::uint64_t> clock_mhz;
    sim::parameter<std::uint64_t> target_decode_clocks;
    sim::parameter<std::uint64_t> cache_line_bytes;
    sim::parameter<std::uint64_t> latency_timer_clocks;
    sim::parameter<std::uint64_t> initial_limit_clocks;
    sim::parameter<std::uint64_t> retry_delay_clocks;
    sim::parameter<std::string> arbitration;
    sim::parameter<std::uint64_t> arbitration_clocks;
    sim::parameter<std::string> parking;
    sim::parameter<bool> free;

    sim::counter<sim::unit::transactions> transactions{*this, "transactions", "tenures that moved data"};
    sim::counter<sim::unit::bytes> bytes{*this, "bytes", "bytes moved"};
    sim::counter<sim::unit::events> retries{*this, "retries", "tenures that ended with retry"};
    sim::counter<sim::unit::events> disconnects{*this, "disconnects",
                                                "tenures that moved less than was asked"};
    sim::counter<sim::unit::events> splits{*this, "splits", "tenures that ended with a split response"};
    sim::counter<sim::unit::events> aborts{*this, "aborts", "tenures that ended with master or target abort"};
    sim::histogram<sim::unit::clocks> arbitration_wait{*this, "arbitration_wait",
                                                       "from REQ# to the address phase"};
    sim::utilisation utilisation{*this, "utilisation",
                                 "share of time from address phases through turnarounds"};

    bus::wires wires{*this};

    explicit pci_bus(const sc_core::sc_module_name& name);

    const bus_properties& properties() const { return properties_; }

    /// Wire a master; returns its number, which is its place in the round robin.
    unsigned attach(initiator_socket& socket);
    unsigned attach(master& device);
    /// Wire a target; returns its number for `map`.
    unsigned attach(target_socket& socket, const target_properties& how);
    unsigned attach(target_port& device, const target_properties& how);
    /// Memory addresses [base, base + bytes) are the target's, from now on. Ranges must not overlap.
    void map(unsigned target, std::uint64_t base, std::uint64_t bytes);
    void unmap(unsigned target);

protected:
    void start_of_simulation() override;

private:
    /// The tenure at hand, from the grant to the end of its last data phase.
    struct active {
        unsigned master;
        std::optional<unsigned> target;
        tlm::tlm_generic_payload* payload;
        bus::tenure tenure;
        bool announced = false;  ///< both parties know their data phases
    };

    tlm::tlm_sync_enum from_master(int master, tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&);
    tlm::tlm_sync_enum from_target(int target, tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&);
    void b_transport(int master, tlm::tlm_generic_payload&, sc_core::sc_time&);
    unsigned transport_dbg(int master, tlm::tlm_generic_payload&);

    void act();
    void park(std::uint64_t clock);
    void show_grant_lost();
    void arm();
    void decide(std::uint64_t clock);
    bool grant(const arbiter::choice& to, std::uint64_t decided);
    void ask_target(active& a, std::uint64_t claimed_bytes, std::uint64_t address_clock);
    tenure_terms terms_of(const active& a, std::uint64_t claimed_bytes) const;
    void check_decode(const std::string& where, std::uint64_t clocks) const;
    void check_request(const active& a) const;
    void publish(const tenure& of, pci_extension& pci);
    bool out_of_time(std::uint64_t seen_by);
    void requested_meanwhile(std::uint64_t clock);
    void ask_arbiter();
    void shortened();
    void finish();
    void begin_repetition(unsigned master);
    void end_repetition();
    void show_repetition(const repetition& r, std::uint64_t n);
    void count_repetitions(const repetition& r, std::uint64_t count);
    void release_request(unsigned master, std::uint64_t clock);
    void count(const active& a);

    std::uint64_t clock_now() const { return properties_.clock.edge_at_or_before(sim::now()); }
    void to_master(unsigned master, tlm::tlm_generic_payload&, const tlm::tlm_phase&);
    void to_target(unsigned target, tlm::tlm_generic_payload&, const tlm::tlm_phase&);

    bus_properties properties_;
    arbiter arbiter_;
    decoder decoder_;
    std::vector<tlm::tlm_generic_payload*> requested_;  ///< by master: the payload of its request
    std::optional<active> active_;
    active ended_;                                ///< the tenure before
    std::optional<repetition> repetition_;        ///< of `ended_`: no tenure is at hand then
    std::optional<sim::picoseconds> request_at_;  ///< of a request made up for afterwards: its time
    std::uint64_t free_clock_ = 0;  ///< the first clock in which the next address phase may stand
    std::uint64_t idle_clock_ = 0;  ///< without a winner, the arbiter parks GNT# from this clock on
    sim::timer due_{[this] { act(); }};
    /// The clock has come in which somebody asserted REQ# during a tenure.
    sim::timer asked_{[this] { ask_arbiter(); }};
};

}  // namespace vinic::bus
