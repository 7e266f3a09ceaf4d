// SPDX-License-Identifier: Apache-2.0
#include "hw/link/cable.h"

#include <algorithm>
#include <cmath>

#include "hw/link/crc.h"
#include "hw/sim/error.h"
#include "hw/sim/simulation.h"

namespace vinic::link {

namespace {

constexpr const char* state_names[] = {"idle", "data", "held", "gap"};
enum wire_state : std::uint64_t { idle, data, held, gap };

constexpr const char* flow_names[] = {"go", "stop"};

}  // namespace

cable::direction::direction(const sim::module& owner, const std::string& prefix)
    : packets(owner, prefix + ".packets", "packets sent"),
      bytes(owner, prefix + ".bytes", "bytes sent, CRC-8 included, GAP not"),
      bit_errors(owner, prefix + ".bit_errors", "bits that the cable flipped"),
      dropped(owner, prefix + ".dropped", "packets that the cable lost"),
      stops(owner, prefix + ".stops", "STOPs that the receiver sent"),
      busy(owner, prefix + ".busy", "share of time from a packet's first character to its GAP"),
      passing(owner, prefix + ".packet",
              "a packet, when its GAP is sent, with the cable's bit errors and the remainder of its CRC-8"),
      transmission(owner, prefix + ".transmission", "a packet: from its first byte to its GAP"),
      state(owner, prefix + ".state", 2, "what the sender puts on the wire", state_names),
      stop(owner, prefix + ".stop", 1, "flow control, as the receiver sends it", flow_names) {}

cable::cable(const sc_core::sc_module_name& name)
    : sim::module(name, "link"),
      from_a("from_a"),
      to_b("to_b"),
      from_b("from_b"),
      to_a("to_a"),
      byte_ps(*this, {.name = "byte_ps",
                      .unit = "ps",
                      .value = 4000,
                      .min = 100,
                      .max = 1'000'000,
                      .help = "time of a character: 6250 for 1.28 Gbit/s, 4000 for Myrinet-2000",
                      .source = "facts/lanai_pcix.md B6"}),
      length_mm(*this, {.name = "length_mm",
                        .unit = "mm",
                        .value = 3000,
                        .min = 1,
                        .max = 1'000'000,
                        .help = "length of the cable"}),
      delay_fs_per_mm(*this, {.name = "delay_fs_per_mm",
                              .unit = "fs/mm",
                              .value = 4920,
                              .min = 3336,
                              .max = 20'000,
                              .help = "how long a signal travels: 4920 in copper, 6500 in Myrinet's fibre",
                              .source = "facts/lanai_pcix.md B6"}),
      fixed_delay_ps(*this,
                     {.name = "fixed_delay_ps",
                      .unit = "ps",
                      .value = 0,
                      .min = 0,
                      .max = 1'000'000,
                      .help = "further delay at the ends of the cable: transceivers, fibre conversion"}),
      crc8(*this, {.name = "crc8",
                   .value = true,
                   .help = "the link ends each packet with a CRC-8; Ethernet's does not",
                   .source = "facts/lanai_pcix.md B6"}),
      gap_bytes(*this,
                {.name = "gap_bytes",
                 .unit = "bytes",
                 .value = gap_characters,
                 .min = 1,
                 .max = 1000,
                 .help = "time between packets: 1 for Myrinet's GAP (all that flow control allows), 12 for "
                         "Ethernet's inter-frame gap",
                 .source = "facts/lanai_pcix.md B6"}),
      flow_control(*this, {.name = "flow_control",
                           .value = true,
                           .help = "a receiver may stop the sender (STOP and GO); Ethernet's may not",
                           .source = "facts/lanai_pcix.md B6"}),
      bit_error_rate(*this, {.name = "bit_error_rate",
                             .unit = "errors/bit",
                             .value = 0,
                             .min = 0,
                             .max = 0.1,
                             .help = "probability that a bit of a packet is flipped"}),
      drop_rate(*this, {.name = "drop_rate",
                        .unit = "losses/packet",
                        .value = 0,
                        .min = 0,
                        .max = 1,
                        .help = "probability that a packet is lost as a whole"}),
      free(*this,
           {.name = "free",
            .value = false,
            .help = "what-if: characters and delay of the cable take a picosecond each, and a switch at "
                    "its end takes no time"}),
      ab(*this, "ab"),
      ba(*this, "ba"),
      forward_adapters_{forward_adapter(*this, 0), forward_adapter(*this, 1)},
      backward_adapters_{backward_adapter(*this, 0), backward_adapter(*this, 1)},
      byte_(free ? least_time : byte_ps.get()),
      delay_(free ? least_time
                  : std::max(least_time, (length_mm * delay_fs_per_mm + 500) / 1000 + fixed_delay_ps)),
      flights_{flight{ab, to_b, from_a, random_of("ab")}, flight{ba, to_a, from_b, random_of("ba")}} {
    // STOP could hold a longer one in its midst, which no network that has STOP knows.
    if (flow_control && gap_bytes != gap_characters)
        throw sim::input_error("{}: gap_bytes = {}: with flow_control (STOP and GO) the GAP is {} character",
                               this->name(), gap_bytes.get(), gap_characters);
    from_a.bind(forward_adapters_[0]);
    to_b.bind(backward_adapters_[0]);
    from_b.bind(forward_adapters_[1]);
    to_a.bind(backward_adapters_[1]);
    for (flight& on : flights_)
        if (bit_error_rate > 0) on.bits_to_error = draw_distance(on.random);
}

sim::random_stream cable::random_of(const char* which) const {
    return sim::simulation::current().stream(std::string(name()) + "." + which);
}

void cable::start_of_simulation() {
    for (flight& on : flights_) {
        transfer message;
        message.cable = {.byte_ps = byte_,
                         .delay_ps = delay_,
                         .check_characters = crc8 ? crc_characters : 0,
                         .gap = gap_bytes,
                         .flow_control = flow_control,
                         .free = free};
        phase what = phase::connect;
        sc_core::sc_time none;
        on.onward->nb_transport_fw(message, what, none);
        on.back->nb_transport_bw(message, what, none);
    }
}

void cable::forward(unsigned side, transfer& message, phase what, picoseconds in) {
    flight& on = flights_[side];
    const picoseconds now = sim::now();
    switch (what) {
        case phase::head:
            begin(on, now);
            break;
        case phase::more:
            on.seen.state.set(now, data);
            break;
        case phase::hold:
            on.seen.state.set(now, held);
            break;
        default:
            end(on, message, now);
            break;
    }
    if (on.dropping) return;
    if (bit_error_rate > 0) damage(on, message);
    message.characters.at += delay_;
    sc_core::sc_time delay = sim::to_sc_time(in + delay_);
    on.onward->nb_transport_fw(message, what, delay);
}

void cable::backward(unsigned side, transfer& message, phase what, picoseconds in) {
    flight& on = flights_[side];
    if (what == phase::stop) on.seen.stops.add();
    on.seen.stop.set(sim::now(), what == phase::stop);
    sc_core::sc_time delay = sim::to_sc_time(in + delay_);
    on.back->nb_transport_bw(message, what, delay);
}

void cable::begin(flight& on, picoseconds now) {
    on.begun = now;
    on.bytes_drawn = 0;
    on.dropping = drop_rate > 0 && on.random.chance(drop_rate);
    on.seen.state.set(now, data);
}

void cable::end(flight& on, const transfer& message, picoseconds now) {
    direction& seen = on.seen;
    seen.packets.add();
    seen.bytes.add(message.length - gap_bytes);
    if (on.dropping) seen.dropped.add();
    seen.busy.add(on.begun, now + byte_ * gap_bytes);
    seen.state.set(now, gap);
    seen.state.set(now + byte_ * gap_bytes, idle);
    if (seen.passing.watched()) {
        const std::vector<std::uint8_t> bytes = message.what->on_wire(message.first_byte, message.hop);
        seen.passing.report(now, bytes, on.dropping ? "dropped" : "",
                            {{"remainder", crc8 ? link::crc8(bytes) : 0u}});
    }
    seen.transmission.report(on.begun, now, on.dropping ? "dropped" : "packet",
                             {{"bytes", message.length - gap_bytes}});
}

/// Flips bits of the bytes that a message announces for the first time. The distance to the next error is
/// drawn, not each bit.
void cable::damage(flight& on, const transfer& message) {
    if (message.characters.count == 0) return;
    const std::uint64_t end =
        message.characters.end() == message.length ? message.length - gap_bytes : message.characters.end();
    if (end <= on.bytes_drawn) return;
    std::uint64_t bit = on.bytes_drawn * 8;
    for (; on.bits_to_error < end * 8 - bit; on.bits_to_error = draw_distance(on.random)) {
        bit += on.bits_to_error;
        message.what->flip(message.first_byte + bit / 8, static_cast<std::uint8_t>(0x80 >> bit % 8),
                           message.hop);
        on.seen.bit_errors.add();
        ++bit;
    }
    on.bits_to_error -= end * 8 - bit;
    on.bytes_drawn = end;
}

/// How many bits stay whole before the next error: geometric.
std::uint64_t cable::draw_distance(sim::random_stream& random) const {
    const double uniform = (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53;
    const double distance = std::floor(std::log(uniform) / std::log1p(-bit_error_rate.get()));
    return distance < 0x1p62 ? static_cast<std::uint64_t>(distance) : std::uint64_t{1} << 62;
}

}  // namespace vinic::link
