// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/wires.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace vinic::bus {
namespace {

constexpr std::array<const char*, 8> state_names = {"idle", "address", "attribute", "decode",
                                                    "wait", "data",    "stop",      "turnaround"};
constexpr std::uint64_t low_half = 0xFFFF'FFFF;
/// Levels of a control signal: asserted and not.
constexpr std::uint64_t low = 0, high = 1;

/// PCI-X: what stands on AD in the attribute phase, and (with another meaning of the low bits) in the address
/// phase of a split completion.
std::uint64_t attributes(const requester_id& who, std::uint8_t tag, std::uint32_t low_bits) {
    return std::uint64_t{tag} << 24 | std::uint64_t{who.bus} << 16 | std::uint64_t{who.device} << 11 |
           std::uint64_t{who.function} << 8 | (low_bits & 0xFF);
}

/// One tenure, clock by clock.
class drawing {
public:
    drawing(const bus_properties& bus, const tenure& what, const tlm::tlm_generic_payload& payload)
        : bus_(bus), t_(what), s_(what.clocks()), payload_(payload), pci_(pci_extension::of(payload)) {}

    bus_state state(std::uint64_t c) const {
        if (c <= t_.last_address()) return bus_state::address;
        if (c > t_.last_irdy()) return bus_state::turnaround;
        if (pcix() && c == t_.last_address() + 1) return bus_state::attribute;
        if (s_.phases == 0) return claimed() && c >= s_.first_data ? bus_state::stop : before_data(c);
        if (c > s_.last_data()) return bus_state::stop;
        if (c < s_.first_data) return before_data(c);
        return (c - s_.first_data) % s_.stride == 0 ? bus_state::data : bus_state::wait;
    }

    bus_clock at(std::uint64_t c) const {
        bus_clock w;
        w.clock = c;
        if (c > t_.last_irdy()) return w;
        w.frame = c <= t_.last_frame();
        w.irdy = irdy(c);
        w.trdy = trdy(c);
        w.stop = stop(c);
        w.devsel = devsel(c);
        w.req64 = w.frame && s_.width_bytes == 8;
        w.ack64 = w.devsel && s_.width_bytes == 8;
        drive(w, c);
        return w;
    }

private:
    bool pcix() const { return bus_.kind == bus_kind::pcix; }
    bool claimed() const { return t_.terms().claimed; }
    answer_kind answer() const { return t_.terms().answer.kind; }
    bus_state before_data(std::uint64_t c) const {
        return c <= s_.response && (pcix() || c < s_.response) ? bus_state::decode
               : claimed()                                     ? bus_state::wait
                                                               : bus_state::decode;
    }
    /// The data phase that ends in clock `c` or is the next to end.
    std::uint64_t data_phase(std::uint64_t c) const {
        if (c <= s_.first_data || s_.phases == 0) return 0;
        return std::min(s_.phases - 1, (c - s_.first_data + s_.stride - 1) / s_.stride);
    }

    bool irdy(std::uint64_t c) const {
        if (s_.phases == 0 || c > s_.last_data()) return c >= t_.initiator_ready(0);
        return c >= t_.initiator_ready(data_phase(c));
    }
    bool trdy(std::uint64_t c) const {
        if (s_.phases == 0) return claimed() && answer() == answer_kind::split && c == s_.first_data;
        return c <= s_.last_data() && c >= t_.target_ready(data_phase(c));
    }
    bool stop(std::uint64_t c) const {
        if (!t_.stopped() || !claimed()) return false;
        if (s_.phases == 0) return c >= s_.first_data;
        // PCI-X: the disconnection is announced four data phases ahead of the boundary.
        constexpr std::uint64_t notice = 4;
        const std::uint64_t ahead = pcix() ? std::min(notice, s_.phases) - 1 : 0;
        return c + ahead * s_.stride >= std::max(s_.last_data(), t_.target_ready(s_.phases - 1));
    }
    bool devsel(std::uint64_t c) const {
        if (!claimed() || c < s_.response) return false;
        const bool taken_away = answer() == answer_kind::abort || answer() == answer_kind::split ||
                                (pcix() && t_.stopped() && s_.phases == 1);
        return !(taken_away && c >= s_.first_data);
    }

    void drive(bus_clock& w, std::uint64_t c) const {
        if (c <= t_.last_address()) {
            drive_address(w, c);
        } else if (pcix() && c == t_.last_address() + 1) {
            drive_attributes(w);
        } else {
            drive_data(w, c);
        }
    }
    void drive_address(bus_clock& w, std::uint64_t c) const {
        const std::uint64_t address = target_address();
        const bool first_of_two = t_.terms().dual && c == s_.address;
        const bool second_of_two = t_.terms().dual && c != s_.address;
        w.cbe = static_cast<std::uint8_t>(first_of_two ? command::dual_address : pci_.command);
        w.ad = second_of_two ? address >> 32 : address & low_half;
        w.ad_floating = ~low_half;
        w.cbe_floating = 0xF0;
        if (s_.width_bytes == 8) {
            w.ad |= address & ~low_half;
            w.ad_floating = 0;
            w.cbe_floating = 0;
            if (first_of_two) w.cbe |= static_cast<std::uint8_t>(static_cast<unsigned>(pci_.command) << 4);
        }
    }
    std::uint64_t target_address() const {
        if (!pcix() || pci_.command != command::split_completion) return payload_.get_address();
        return attributes(pci_.requester, pci_.tag, payload_.get_address() & (adb_bytes - 1));
    }
    void drive_attributes(bus_clock& w) const {
        const auto count = static_cast<std::uint32_t>(payload_.get_data_length() % max_sequence_bytes);
        const bool completion = pci_.command == command::split_completion;
        w.ad = completion ? attributes(pci_.completer, 0, count) | std::uint64_t{pci_.split_error} << 30
                          : attributes(pci_.requester, pci_.tag, count) | std::uint64_t{pci_.no_snoop} << 30 |
                                std::uint64_t{pci_.relaxed_ordering} << 29;
        w.cbe = static_cast<std::uint8_t>(count >> 8);
        w.ad_floating = ~low_half;
        w.cbe_floating = 0xF0;
    }
    void drive_data(bus_clock& w, std::uint64_t c) const {
        const bool half = s_.width_bytes == 4;
        const std::uint64_t n = data_phase(c);
        w.cbe = byte_enables(n);
        w.cbe_floating = half ? 0xF0 : 0;
        // A read's AD belongs to the target once it has claimed the tenure.
        const bool driven = s_.phases > 0 && c <= s_.last_data() &&
                            (!t_.terms().read || c >= s_.response + (pcix() ? 1 : 0)) &&
                            (!t_.terms().read || c > t_.last_address() + 1);
        if (!driven) return;
        w.ad_floating = half ? ~low_half : 0;
        w.ad = bytes_of(n);
    }
    /// First byte of data phase `n`, as an offset into the payload; negative before its beginning.
    std::int64_t offset_of(std::uint64_t n) const {
        const std::uint64_t width = s_.width_bytes;
        return static_cast<std::int64_t>(n * width) -
               static_cast<std::int64_t>(payload_.get_address() % width);
    }
    bool in_payload(std::int64_t at) const {
        return at >= 0 && at < static_cast<std::int64_t>(payload_.get_data_length());
    }
    std::uint8_t byte_enables(std::uint64_t n) const {
        const bool block = pcix() && (pci_.command == command::memory_read_block ||
                                      pci_.command == command::memory_write_block ||
                                      pci_.command == command::split_completion);
        if (block) return 0xFF;  // reserved, driven high
        std::uint8_t enables = 0xFF;
        for (unsigned lane = 0; lane < s_.width_bytes; ++lane) {
            if (in_payload(offset_of(n) + lane)) enables &= static_cast<std::uint8_t>(~(1u << lane));
        }
        return enables;
    }
    std::uint64_t bytes_of(std::uint64_t n) const {
        std::uint64_t value = 0;
        for (unsigned lane = 0; lane < s_.width_bytes; ++lane) {
            const std::int64_t at = offset_of(n) + lane;
            if (in_payload(at)) value |= std::uint64_t{payload_.get_data_ptr()[at]} << (8 * lane);
        }
        return value;
    }

    const bus_properties& bus_;
    const tenure& t_;
    const tenure_schedule& s_;
    const tlm::tlm_generic_payload& payload_;
    const pci_extension& pci_;
};

}  // namespace

bus_clock wires_of(const bus_properties& bus, const tenure& what, const tlm::tlm_generic_payload& payload,
                   std::uint64_t clock) {
    return drawing(bus, what, payload).at(clock);
}

wires::wires(const sim::module& owner)
    : state(owner, "state", 3, "what stands on the bus", state_names),
      frame(owner, "frame_n", 1, "FRAME#, 0 = asserted"),
      irdy(owner, "irdy_n", 1, "IRDY#, 0 = asserted"),
      devsel(owner, "devsel_n", 1, "DEVSEL#, 0 = asserted"),
      trdy(owner, "trdy_n", 1, "TRDY#, 0 = asserted"),
      stop(owner, "stop_n", 1, "STOP#, 0 = asserted"),
      req64(owner, "req64_n", 1, "REQ64#, 0 = asserted"),
      ack64(owner, "ack64_n", 1, "ACK64#, 0 = asserted"),
      ad(owner, "ad", 64, "AD"),
      cbe(owner, "cbe", 8, "C/BE#, as on the wires"),
      transaction(
          owner, "transaction",
          "address phase through the last clock of IRDY#; first_data: clocks before the first data phase"),
      phase(owner, "phase", "one phase of a transaction") {}

void wires::add_master(const sim::module& owner) {
    const std::size_t n = req.size();
    req.push_back(std::make_unique<sim::value_probe>(owner, fmt::format("req{}_n", n), 1,
                                                     "REQ# of this master, 0 = asserted"));
    gnt.push_back(std::make_unique<sim::value_probe>(owner, fmt::format("gnt{}_n", n), 1,
                                                     "GNT# of this master, 0 = asserted"));
}

void wires::pull_up() {
    for (sim::value_probe* line : {&frame, &irdy, &devsel, &trdy, &stop, &req64, &ack64}) line->set(0, high);
    for (const auto& line : req) line->set(0, high);
    for (const auto& line : gnt) line->set(0, high);
}

void wires::request(unsigned master, sim::picoseconds at) { req[master]->set(at, low); }

void wires::grant(unsigned master, sim::picoseconds at, sim::picoseconds starts) {
    park(master, at);
    req[master]->set(starts, high);
}

void wires::revoke(unsigned master, sim::picoseconds at) {
    if (granted_ == master) park(std::nullopt, at);
}

void wires::park(std::optional<unsigned> master, sim::picoseconds at) {
    if (granted_ == master) return;
    if (granted_) gnt[*granted_]->set(at, high);
    if (master) gnt[*master]->set(at, low);
    granted_ = master;
}

void wires::release(unsigned master, sim::picoseconds from, sim::picoseconds to) {
    req[master]->set(from, high);
    req[master]->set(to, low);
}

bool wires::watched() const {
    const auto is_watched = [](const auto& probe) { return probe->watched(); };
    return levels_watched() || transaction.watched() || phase.watched() ||
           std::ranges::any_of(req, is_watched) || std::ranges::any_of(gnt, is_watched);
}

bool wires::levels_watched() const {
    return state.watched() || frame.watched() || irdy.watched() || devsel.watched() || trdy.watched() ||
           stop.watched() || req64.watched() || ack64.watched() || ad.watched() || cbe.watched();
}

void wires::report(const bus_properties& bus, const tenure& what, const tlm::tlm_generic_payload& payload) {
    if (bus.free) return;
    if (levels_watched()) report_wires(bus, what, payload);
    if (transaction.watched() || phase.watched()) report_spans(bus, what, payload);
}

void wires::report_wires(const bus_properties& bus, const tenure& what,
                         const tlm::tlm_generic_payload& payload) {
    const drawing d(bus, what, payload);
    const std::uint64_t end = what.clocks().end;
    for (std::uint64_t c = what.clocks().address; c < end; ++c) set(bus.clock.edge(c), d.state(c), d.at(c));
    set(bus.clock.edge(end), bus_state::idle, {});
}

void wires::report_spans(const bus_properties& bus, const tenure& what,
                         const tlm::tlm_generic_payload& payload) {
    const drawing d(bus, what, payload);
    const auto& s = what.clocks();
    const auto edge = [&](std::uint64_t c) { return bus.clock.edge(c); };
    transaction.report(edge(s.address), edge(s.end - 1),
                       name_of(pci_extension::of(payload).command, bus.kind),
                       {{"address", payload.get_address()},
                        {"asked", payload.get_data_length()},
                        {"bytes", s.bytes},
                        {"clocks", s.clocks()},
                        {"first_data", s.first_data - s.address}});
    if (!phase.watched()) return;
    for (std::uint64_t from = s.address, c = from; c < s.end; ++c) {
        if (c + 1 < s.end && d.state(c + 1) == d.state(c)) continue;
        phase.report(edge(from), edge(c + 1), state_names[static_cast<std::size_t>(d.state(c))]);
        from = c + 1;
    }
}

void wires::set(sim::picoseconds at, bus_state now, const bus_clock& w) {
    const auto line = [&](sim::value_probe& p, bool before, bool after) {
        if (before != after) p.set(at, after ? low : high);
    };
    if (now != last_state_) state.set(at, static_cast<std::uint64_t>(now));
    line(frame, last_.frame, w.frame);
    line(irdy, last_.irdy, w.irdy);
    line(devsel, last_.devsel, w.devsel);
    line(trdy, last_.trdy, w.trdy);
    line(stop, last_.stop, w.stop);
    line(req64, last_.req64, w.req64);
    line(ack64, last_.ack64, w.ack64);
    if (w.ad != last_.ad || w.ad_floating != last_.ad_floating) ad.set(at, w.ad, w.ad_floating);
    if (w.cbe != last_.cbe || w.cbe_floating != last_.cbe_floating) cbe.set(at, w.cbe, w.cbe_floating);
    last_ = w;
    last_state_ = now;
}

}  // namespace vinic::bus
