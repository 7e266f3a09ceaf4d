// SPDX-License-Identifier: Apache-2.0
// The card's SRAM: its bytes, and the ports that share its slots with the core (facts lanai_pcix.md B2).
//
// A burst takes one slot for each aligned slot_bytes that it touches, evenly spaced by its pace, later where
// a port of higher priority is served. Its slots are reserved as one pattern when the burst begins. What a
// burst writes is in the SRAM, and what it reads is taken from the SRAM, on the edge after its last slot, all
// bytes at once. A port works on one burst at a time; the others of the port wait in order of their ranks,
// those of one rank in the order in which they came.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/nic/card_clock.h"
#include "hw/nic/chip.h"
#include "hw/nic/core_port.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class sram;

/// How far apart the slots of a burst are due, in slots; 1/1 is as fast as the SRAM goes.
struct pace {
    std::uint64_t numerator = 1;
    std::uint64_t denominator = 1;
};

/// One of the ports, a module of its own: `nic.sram.receive` and so on.
class sram_port : public sim::module {
public:
    sram_port(const sc_core::sc_module_name& name, sram& memory, lanai::sram_port port);

    /// Slots of the SRAM taken.
    class slot_count : public sim::statistic {
    public:
        explicit slot_count(const sram_port& port)
            : statistic(port, "slots", sim::unit::events::name, "slots of the SRAM taken"), port_(port) {}
        std::uint64_t value() const { return port_.slots_taken(); }
        sim::tally counted(sim::picoseconds) const override { return {value()}; }

    private:
        const sram_port& port_;
    };
    slot_count slots{*this};
    sim::counter<sim::unit::clocks> wait_clocks{*this, "wait_clocks",
                                                "clocks that bursts took longer than alone, ports of higher "
                                                "priority and queueing"};
    sim::span_probe grant{*this, "grant", "a burst: from its first slot to the end of its last"};

    using finished = std::function<void()>;
    /// `data` must live until `done` is called, on the edge after the last slot. `first`: no slot before this
    /// cycle.
    void read(std::uint32_t address, std::span<std::uint8_t> data, finished done, unsigned rank = 0,
              pace speed = {}, cycle first = 0);
    void write(std::uint32_t address, std::span<const std::uint8_t> data, finished done, unsigned rank = 0,
               pace speed = {}, cycle first = 0);
    /// A write whose other words have had their slots: takes only `last_slots`.
    void write_last(std::uint32_t address, std::span<const std::uint8_t> data, std::uint64_t last_slots,
                    finished done);
    /// A burst that began or waits gets fewer bytes, from its start: `data` is what it was started with.
    void shorten(const std::uint8_t* data, std::size_t bytes);
    /// Slots for bytes that move one by one: replaces what is left of the port's earlier reservation. Without
    /// data and without an end of its own; a later burst of the port comes after it. Count 0: none.
    void reserve(std::uint64_t count, pace speed, cycle first);
    /// No burst runs or waits.
    bool idle() const { return !active_ && waiting_.empty(); }
    /// Somebody is going to ask for a burst, probably in that cycle. For next_access() only.
    void expect(cycle at) { expected_at_ = at; }
    /// The same, so many cycles after the end of the burst that comes next or is at work.
    void expect_after(cycle cycles) { expected_after_ = cycles; }
    /// The first cycle after `now` in which the port has to do with the core, as far as known: when a burst
    /// begins, or what one wrote is committed. `never` when none.
    cycle next_access(cycle now) const;
    /// What is left undone is dropped, its `done` is not called.
    void reset();

private:
    struct burst {
        std::uint32_t address = 0;
        std::size_t bytes = 0;
        std::uint8_t* into = nullptr;        // of a read
        const std::uint8_t* from = nullptr;  // of a write
        finished done;
        unsigned rank = 0;
        pace speed;
        cycle first = 0;
        std::uint64_t slots = 0;  // 0: as many as its bytes touch

        const std::uint8_t* data() const { return into ? into : from; }
    };
    struct reservation {
        std::uint64_t count;
        pace speed;
        cycle first;
    };

    void ask(burst b);
    void arbitrate_in(cycle at);
    void arbitrate();
    void begin(cycle at);
    void begin_reservation(cycle at);
    void set_pattern(const lanai::slot_pattern& pattern, cycle at);
    cycle end_of_burst() const;
    void plan_commit();
    void commit();
    std::uint64_t served(cycle at) const;
    std::uint64_t slots_taken() const;
    std::uint64_t slots_of(const burst& b) const;

    sram& memory_;
    lanai::sram_port port_;
    sim::timer arbitrate_{[this] { arbitrate(); }};
    sim::timer commit_{[this] { commit(); }};
    std::vector<burst> waiting_;
    bool active_ = false;
    burst current_;
    std::optional<reservation> reservation_;
    lanai::slot_pattern pattern_;     // in force
    std::uint64_t taken_before_ = 0;  // slots of earlier patterns
    cycle began_ = 0;
    cycle begin_at_ = lanai::never;  // of the next arbitration
    cycle commit_at_ = lanai::never;
    cycle expected_at_ = lanai::never;
    cycle expected_after_ = lanai::never;
};

class sram : public sim::module {
public:
    sram(const sc_core::sc_module_name& name, const card_clock& clock, const chip_traits& traits);

    sim::parameter<std::uint64_t> bytes;
    sim::parameter<std::uint64_t> slots_per_cycle;
    sim::parameter<std::uint64_t> slot_bytes;

    // Highest priority first; the core takes what they leave.
    sram_port host_access;
    sram_port host_dma;
    sram_port receive;
    sram_port send;

    /// The core that executes from this SRAM; without one the ports share it among themselves.
    void attach(core_port& core) { core_ = &core; }
    const card_clock& clock() const { return clock_; }
    /// The bytes themselves: for the core, and for others after sync().
    std::span<std::uint8_t> contents() { return {data_.get(), static_cast<std::size_t>(bytes.get())}; }
    bool holds(std::uint64_t address, std::uint64_t length) const {
        return address <= bytes.get() && length <= bytes.get() - address;
    }
    /// Throws a model_error, with the firmware's place, when these bytes are not in the SRAM.
    void require(std::uint64_t address, std::uint64_t length, const std::string& who) const;
    [[noreturn]] void fail(const std::string& what) const;
    /// The first of its ports'.
    cycle next_access(cycle now) const;

    /// Outside simulated time, for loaders, tools and the debug transport.
    void peek(std::uint32_t address, std::span<std::uint8_t> into);
    void poke(std::uint32_t address, std::span<const std::uint8_t> from);
    std::uint32_t peek_word(std::uint32_t address);

private:
    friend class sram_port;
    struct release {
        void operator()(std::uint8_t* p) const { std::free(p); }
    };

    void sync_for_read(std::uint32_t address, std::size_t length) {
        if (core_) core_->sync_for_read(address, length);
    }
    void sync_for_write(std::uint32_t address, std::size_t length) {
        if (core_) core_->sync_for_write(address, length);
    }
    void set_slot_pattern(lanai::sram_port port, const lanai::slot_pattern& pattern, cycle from);
    const lanai::slot_schedule& slots() const { return core_ ? core_->slots() : own_slots_; }
    void written(std::uint32_t address, std::size_t length) {
        if (core_) core_->memory_written(address, length);
    }
    const card_clock& clock_;
    core_port* core_ = nullptr;
    lanai::slot_schedule own_slots_;
    std::unique_ptr<std::uint8_t[], release> data_;  // zero pages until touched
};

}  // namespace vinic::nic
