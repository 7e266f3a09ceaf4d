// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/wire_sampler.h"

#include <algorithm>
#include <utility>

namespace vinic::bus {
namespace {

bool asserted(const bus_clock& w) {
    return w.req || w.gnt || w.frame || w.irdy || w.devsel || w.trdy || w.stop;
}

}  // namespace

wire_sampler::wire_sampler(const bus_properties& bus, wires& watched) : bus_(bus) {
    const auto line = [this](sim::value_probe& p, bool bus_clock::*wire) {
        watch(p, [wire](bus_clock& w, std::uint64_t bits, std::uint64_t) { w.*wire = bits == 0; });
    };
    const auto bit = [this](sim::value_probe& p, std::uint32_t bus_clock::*wires_of_all, std::size_t n) {
        watch(p,
              [wires_of_all, mask = std::uint32_t{1} << n](bus_clock& w, std::uint64_t bits, std::uint64_t) {
                  (w.*wires_of_all) = (w.*wires_of_all & ~mask) | (bits ? 0 : mask);
              });
    };
    line(watched.frame, &bus_clock::frame);
    line(watched.irdy, &bus_clock::irdy);
    line(watched.devsel, &bus_clock::devsel);
    line(watched.trdy, &bus_clock::trdy);
    line(watched.stop, &bus_clock::stop);
    line(watched.req64, &bus_clock::req64);
    line(watched.ack64, &bus_clock::ack64);
    watch(watched.ad, [](bus_clock& w, std::uint64_t bits, std::uint64_t floating) {
        w.ad = bits;
        w.ad_floating = floating;
    });
    watch(watched.cbe, [](bus_clock& w, std::uint64_t bits, std::uint64_t floating) {
        w.cbe = static_cast<std::uint8_t>(bits);
        w.cbe_floating = static_cast<std::uint8_t>(floating);
    });
    for (std::size_t n = 0; n < watched.req.size(); ++n) {
        bit(*watched.req[n], &bus_clock::req, n);
        bit(*watched.gnt[n], &bus_clock::gnt, n);
    }
}

void wire_sampler::watch(sim::value_probe& p, setter s) {
    setters_.emplace(&p, std::move(s));
    p.attach(*this);
}

void wire_sampler::on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                            std::uint64_t floating) {
    changes_.push_back({bus_.clock.edge_at_or_after(at), &setters_.at(&p), bits, floating});
}

void wire_sampler::replay(const std::function<void(const bus_clock&)>& each) {
    std::ranges::stable_sort(changes_, {}, &change::clock);
    bus_clock w;
    const auto up_to = [&](std::uint64_t clock) {
        for (; w.clock < clock && asserted(w); ++w.clock) each(w);
        w.clock = clock;
    };
    for (const change& c : changes_) {
        up_to(c.clock);
        (*c.set)(w, c.bits, c.floating);
    }
    if (asserted(w)) each(w);
    changes_.clear();
}

}  // namespace vinic::bus
