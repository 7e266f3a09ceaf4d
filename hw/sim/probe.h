// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/sim/module.h"
#include "hw/sim/time.h"

namespace vinic::sim {

class value_probe;
class span_probe;
class packet_probe;

/// A named number that goes with a span or a packet: an address, a length, an index.
struct field {
    std::string_view name;
    std::uint64_t value;
};

/// Whoever watches. Listeners schedule nothing and change nothing; a time stamp may lie in the future where
/// the phases of a transfer are known in advance, but each probe's own stamps never go back.
class listener {
public:
    virtual ~listener() = default;
    /// `floating`: bits that nobody drives.
    virtual void on_value(const value_probe&, picoseconds /*at*/, std::uint64_t /*bits*/,
                          std::uint64_t /*floating*/) {}
    virtual void on_span(const span_probe&, picoseconds /*begin*/, picoseconds /*end*/,
                         std::string_view /*what*/, std::span<const field>) {}
    virtual void on_packet(const packet_probe&, picoseconds /*at*/, std::span<const std::uint8_t>,
                           std::string_view /*note*/, std::span<const field>) {}
};

/// A place of a module at which something can be seen. Without a listener it costs one predictable branch.
class probe {
public:
    enum class kind { value, span, packet };

    probe(const module& owner, const std::string& name, kind of_kind, std::string help);
    virtual ~probe();
    probe(const probe&) = delete;
    probe& operator=(const probe&) = delete;

    const std::string& name() const { return name_; }
    const std::string& help() const { return help_; }
    kind kind_of() const { return kind_; }
    /// For listeners that keep something for each probe; it depends on the order of construction, so it must
    /// reach no output.
    std::uint32_t number() const { return number_; }
    void attach(listener& to) { listeners_.push_back(&to); }
    /// Whether anybody watches: for callers that would have to prepare what they report.
    bool watched() const { return !listeners_.empty(); }

protected:
    std::vector<listener*> listeners_;

private:
    std::string name_;
    std::string help_;
    kind kind_;
    std::uint32_t number_;
};

/// A value that changes: a wire, a register, a state, a depth. Widths up to 64 bits.
class value_probe : public probe {
public:
    /// `states`: texts of the values 0, 1, ... of a state machine; empty for numbers. The array must outlive
    /// the probe.
    value_probe(const module& owner, const std::string& name, unsigned width_bits, std::string help,
                std::span<const char* const> states = {})
        : probe(owner, name, kind::value, std::move(help)), width_bits_(width_bits), states_(states) {}

    unsigned width_bits() const { return width_bits_; }
    std::span<const char* const> states() const { return states_; }
    /// For states that are known only later, before anybody watches.
    void name_states(std::span<const char* const> states) { states_ = states; }

    void set(picoseconds at, std::uint64_t bits, std::uint64_t floating = 0) {
        if (listeners_.empty()) [[likely]]
            return;
        for (listener* l : listeners_) l->on_value(*this, at, bits, floating);
    }
    void set(std::uint64_t bits) { set(watched() ? now() : 0, bits); }

private:
    unsigned width_bits_;
    std::span<const char* const> states_;
};

/// Something that starts and ends (or an instant, when both are equal): a bus phase, a DMA block, a call.
class span_probe : public probe {
public:
    span_probe(const module& owner, const std::string& name, std::string help)
        : probe(owner, name, kind::span, std::move(help)) {}

    void report(picoseconds begin, picoseconds end, std::string_view what,
                std::initializer_list<field> fields = {}) {
        if (listeners_.empty()) [[likely]]
            return;
        for (listener* l : listeners_) l->on_span(*this, begin, end, what, {fields.begin(), fields.size()});
    }
};

/// A packet that passes a point of the wire.
class packet_probe : public probe {
public:
    packet_probe(const module& owner, const std::string& name, std::string help)
        : probe(owner, name, kind::packet, std::move(help)) {}

    void report(picoseconds at, std::span<const std::uint8_t> bytes, std::string_view note = {},
                std::initializer_list<field> fields = {}) {
        if (listeners_.empty()) [[likely]]
            return;
        for (listener* l : listeners_) l->on_packet(*this, at, bytes, note, {fields.begin(), fields.size()});
    }
};

}  // namespace vinic::sim
