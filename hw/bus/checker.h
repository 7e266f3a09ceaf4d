// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "hw/bus/bus_properties.h"
#include "hw/bus/command.h"
#include "hw/bus/protocol.h"
#include "hw/bus/wires.h"

namespace vinic::bus {

/// The rules of PCI and PCI-X that can be seen on the wires (facts/lanai_pcix.md C1, C2). Feed it every clock
/// in which something is asserted, in order; clocks left out are idle. It knows nothing of the model: pins of
/// RTL can feed it as well.
class protocol_checker {
public:
    explicit protocol_checker(const bus_properties& bus) : bus_(bus) {}

    void sample(const bus_clock& w);
    /// The end of the run: what was retried must have been repeated, what was split must have been completed.
    void finish();

    /// Broken rules, each with its clock; empty when all is well.
    const std::vector<std::string>& violations() const { return violations_; }
    std::uint64_t transactions() const { return transactions_; }

private:
    /// The transaction that stands on the bus, as far as it has been seen.
    struct seen {
        std::uint64_t start = 0;
        std::uint64_t last_address = 0;
        std::optional<unsigned> owner;
        bool dual = false;
        bus::command command{};
        std::uint64_t address = 0;
        std::uint32_t byte_count = 0;  ///< PCI-X
        std::uint64_t attributes = 0;  ///< PCI-X
        bool asked_wide = false;
        bool wide = false;
        std::optional<std::uint64_t> devsel;
        std::uint64_t phases = 0;
        std::uint64_t last_event = 0;  ///< the last address or data phase
        std::optional<std::uint64_t> stop;
        bool stopped_with_data = false;
        bool split = false;
        bool frame_up = false;
    };

    void idle(const bus_clock& w);
    void begin(const bus_clock& w);
    void step(const bus_clock& w);
    void end();
    void second_address(const bus_clock& w);
    void target_rules(const bus_clock& w);
    void pci_rules(const bus_clock& w);
    void pci_data(const bus_clock& w);
    void pci_end();
    void pcix_rules(const bus_clock& w);
    void pcix_data(const bus_clock& w);
    void pcix_end();
    void pcix_split(const std::tuple<std::uint64_t, std::uint8_t>& sequence);
    void pcix_completion();
    void pcix_disconnect(std::uint64_t bytes);
    void repetition();
    void release(const bus_clock& w);

    bool pcix() const { return bus_.kind == bus_kind::pcix; }
    bool read() const { return is_read(t_->command, bus_.kind); }
    unsigned width() const { return t_->wide ? 8 : 4; }
    void broken(std::uint64_t clock, const std::string& rule);

    bus_properties bus_;
    bus_clock before_;
    std::optional<seen> t_;
    /// Retried transactions, by master, command and address, that must come again.
    std::map<std::tuple<unsigned, bus::command, std::uint64_t>, std::uint64_t> retried_;
    /// PCI-X: bytes that split responses still owe, by requester and tag.
    std::map<std::tuple<std::uint64_t, std::uint8_t>, std::uint32_t> owed_;
    struct {
        unsigned master = 0;
        std::uint64_t from = 1, to = 0;
    } released_;
    std::uint64_t transactions_ = 0;
    std::vector<std::string> violations_;
};

}  // namespace vinic::bus
