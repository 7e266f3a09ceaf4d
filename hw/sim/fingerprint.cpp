// SPDX-License-Identifier: Apache-2.0
#include "hw/sim/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/sim/random.h"
#include "hw/sim/simulation.h"

namespace vinic::sim {

namespace {

void mix(std::uint64_t& hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
}

std::uint64_t digest(std::span<const std::uint8_t> bytes) {
    return fnv1a({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// What is seen inside of a block in RTL: a run has the same fingerprint with the block's model.
bool inside_rtl(std::string_view probe) { return probe.find(".rtl.") != probe.npos; }

}  // namespace

fingerprint::fingerprint() {
    for (const auto& [name, probe] : simulation::current().probes()) {
        if (inside_rtl(name)) continue;
        numbers_.emplace(name, probe->number());
        states_.resize(std::max<std::size_t>(states_.size(), probe->number() + 1));
        probe->attach(*this);
    }
}

void fingerprint::on_value(const value_probe& p, picoseconds at, std::uint64_t bits, std::uint64_t floating) {
    state& s = of(p);
    mix(s.time, at);
    mix(s.bytes, bits);
    mix(s.bytes, floating);
    ++s.reports;
}

void fingerprint::on_span(const span_probe& p, picoseconds begin, picoseconds end, std::string_view what,
                          std::span<const field> fields) {
    state& s = of(p);
    mix(s.time, begin);
    mix(s.time, end);
    mix(s.bytes, fnv1a(what));
    for (const field& f : fields) mix(s.bytes, f.value);
    ++s.reports;
}

void fingerprint::on_packet(const packet_probe& p, picoseconds at, std::span<const std::uint8_t> bytes,
                            std::string_view, std::span<const field> fields) {
    state& s = of(p);
    mix(s.time, at);
    mix(s.bytes, digest(bytes));
    mix(s.packets, digest(bytes));
    for (const field& f : fields) mix(s.bytes, f.value);
    ++s.reports;
}

fingerprint::ingredients fingerprint::get() const {
    ingredients all{};
    for (const auto& [name, number] : numbers_) {
        const state& s = states_[number];
        if (s.reports == 0) continue;
        const std::uint64_t hashed_name = fnv1a(name);
        mix(all.time, hashed_name ^ s.time);
        mix(all.module, hashed_name ^ s.reports);
        mix(all.bytes, hashed_name ^ s.bytes);
        if (s.packets) mix(all.packet_order, hashed_name ^ s.packets);
    }
    return all;
}

std::string fingerprint::text() const {
    const ingredients all = get();
    return fmt::format("{:016x}/{:016x}/{:016x}/{:016x}", all.time, all.module, all.bytes, all.packet_order);
}

}  // namespace vinic::sim
