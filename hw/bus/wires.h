// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hw/bus/bus_properties.h"
#include "hw/bus/protocol.h"
#include "hw/bus/tenure.h"
#include "hw/sim/probe.h"

namespace vinic::bus {

/// What stands on the bus in a clock.
enum class bus_state : std::uint8_t {
    idle,
    address,
    attribute,
    decode,  ///< waiting for DEVSEL#, or the response phase
    wait,
    data,
    stop,  ///< STOP# (or a split response) without data
    turnaround,
};

/// The wires of a bus in one clock: driven from its edge on, sampled at the next. Control signals are true
/// when asserted, which is low on the wire. The model's probes and RTL pins both come down to this.
struct bus_clock {
    std::uint64_t clock = 0;
    std::uint32_t req = 0;  ///< bit n: REQ# of master n
    std::uint32_t gnt = 0;
    bool frame = false;
    bool irdy = false;
    bool devsel = false;
    bool trdy = false;
    bool stop = false;
    bool req64 = false;
    bool ack64 = false;
    std::uint8_t cbe = 0;
    std::uint64_t ad = 0;
    std::uint64_t ad_floating = ~std::uint64_t{0};  ///< bits of AD that nobody drives
    std::uint8_t cbe_floating = 0xFF;
};

/// The wires in clock `clock` of a tenure; AD of data phases as far as the payload holds the bytes by now.
bus_clock wires_of(const bus_properties& bus, const tenure& what, const tlm::tlm_generic_payload& payload,
                   std::uint64_t clock);

/// The probes of a bus: each wire clock by clock, from the closed form of a tenure, and only when somebody
/// watches. A tenure is reported when its data have moved, since only then AD is known; REQ# as it
/// happens, GNT# when it is asserted and, if it moves during a tenure, at the end of that. The wires of a
/// free bus are not shown. Control signals have the level of the wire (`frame_n` is 0 where FRAME# is
/// asserted), and pull-ups when nobody drives them.
class wires {
public:
    explicit wires(const sim::module& owner);

    sim::value_probe state;
    sim::value_probe frame;
    sim::value_probe irdy;
    sim::value_probe devsel;
    sim::value_probe trdy;
    sim::value_probe stop;
    sim::value_probe req64;
    sim::value_probe ack64;
    sim::value_probe ad;
    sim::value_probe cbe;
    sim::span_probe transaction;
    sim::span_probe phase;
    std::vector<std::unique_ptr<sim::value_probe>> req;
    std::vector<std::unique_ptr<sim::value_probe>> gnt;

    void add_master(const sim::module& owner);
    /// The levels of an idle bus, at time zero.
    void pull_up();
    void request(unsigned master, sim::picoseconds at);
    /// GNT# from `at` on, FRAME# and the end of the REQ# from `starts` on.
    void grant(unsigned master, sim::picoseconds at, sim::picoseconds starts);
    void revoke(unsigned master, sim::picoseconds at);
    void park(std::optional<unsigned> master, sim::picoseconds at);
    /// A pending REQ# is off between the two.
    void release(unsigned master, sim::picoseconds from, sim::picoseconds to);
    /// The tenure has ended and its data lie in the payload.
    void report(const bus_properties& bus, const tenure& what, const tlm::tlm_generic_payload& payload);
    /// Somebody watches wires or spans.
    bool watched() const;

private:
    bool levels_watched() const;
    void report_wires(const bus_properties& bus, const tenure& what, const tlm::tlm_generic_payload& payload);
    void report_spans(const bus_properties& bus, const tenure& what, const tlm::tlm_generic_payload& payload);
    void set(sim::picoseconds at, bus_state now, const bus_clock& w);

    std::optional<unsigned> granted_;
    bus_clock last_;
    bus_state last_state_ = bus_state::idle;
};

}  // namespace vinic::bus
