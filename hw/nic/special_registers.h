// SPDX-License-Identifier: Apache-2.0
// The special registers of the LANai, as the core and the host see them (facts lanai_pcix.md B3, B4;
// addresses and bits in firmware/abi/lanai_registers.h).
//
// An event that happens on an edge is seen in ISR by the instruction of the next edge. The clock, the cycle
// counter and the interval timers are functions of time; the expiry of a timer is an event of the kernel only
// where it can interrupt the host.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "hw/nic/card_clock.h"
#include "hw/nic/chip.h"
#include "hw/nic/core_port.h"
#include "hw/nic/lanai/core.h"
#include "hw/nic/settled_value.h"
#include "hw/nic/sram.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

/// The registers of all chips by their function.
enum class chip_register : std::uint8_t {
    isr,
    eimr,
    it0,
    it1,
    it2,
    rtc,
    cpuc,
    pulse,
    rmp,
    rmw,
    rmc,
    rml,
    smp,
    smh,
    sml,
    smlt,
    smc,
    sa,
    myrinet,
    timeout,
    lar,
    ear,
    cks,
    dma_ctr,
    dma_dir,
    dma_sts,
    debug,
    led,
    version,
    write_enable,
    mp,
    clock,
    count
};

/// What can set a bit of ISR. Where a chip has one bit for several, all of them set it; where it has none,
/// nothing happens.
enum class isr_event : std::uint8_t {
    head,
    recv,
    buff,
    send,
    wake0,
    wake1,
    wake2,
    time0,
    time1,
    time2,
    orun1,
    orun2,
    orun4,
    nres,
    mem,
    par,
    link_down,
    dma,
    lanai_sig,
    host_sig,
    count
};

class special_registers : public sim::module, public lanai::device_port {
public:
    special_registers(const sc_core::sc_module_name& name, const card_clock& clock, const chip_traits& traits,
                      sram& memory);

    sim::parameter<std::uint64_t> tick_ps;

    sim::counter<sim::unit::events> host_interrupts{*this, "host_interrupts",
                                                    "assertions of the host interrupt"};

    sim::value_probe isr{*this, "isr", 32, "interrupt status, when an instruction can see it"};
    sim::value_probe interrupt_level{*this, "interrupt", 1, "host interrupt"};
    sim::packet_probe log{*this, "log", "a line that firmware wrote to the log port"};
    sim::value_probe log_word{*this, "log_word", 32, "a word that firmware wrote to the log port"};

    /// The wire to the host, level-triggered. Called when the level changes.
    std::function<void(bool)> interrupt;

    /// Who stands behind a register of another block. A register without a handler is a plain word of
    /// storage.
    struct handler {
        std::function<std::uint32_t(cycle at)> load;
        std::function<void(std::uint32_t value, cycle at)> store;
    };
    void connect(chip_register which, handler by);
    void attach(core_port& core) { core_ = &core; }
    /// What was last stored to a register that is not a function of time.
    std::uint32_t stored(chip_register which) const { return word(which); }

    /// Something happened now: its bits are seen on the next edge. Several events may happen together.
    void raise(std::initializer_list<isr_event> events);
    std::uint32_t mask_of(isr_event event) const { return masks_[static_cast<std::size_t>(event)]; }
    /// ISR as the instruction of cycle `at` sees it; `at` is not before what was last changed.
    std::uint32_t isr_at(cycle at) const;
    /// The enable bit of the board (control register).
    void enable_interrupt(bool on);
    void reset();

    /// By the offset in the register window: the host.
    bool mapped_offset(std::uint32_t offset) const { return decode(base_ + offset).has_value(); }
    std::uint32_t load_offset(std::uint32_t offset, cycle at);
    void store_offset(std::uint32_t offset, std::uint32_t value, cycle at);

    // lanai::device_port
    bool mapped(std::uint32_t address, unsigned bytes) const override;
    std::uint32_t load(std::uint32_t address, unsigned bytes, cycle at) override;
    void store(std::uint32_t address, unsigned bytes, std::uint32_t value, cycle at) override;
    std::optional<lanai::register_value> peek(std::uint32_t address, unsigned bytes, cycle at) const override;

private:
    struct timer {
        std::uint32_t loaded = 0;
        std::uint64_t since = 0;         // tick in which it was loaded
        cycle seen_from = lanai::never;  // its bit is set from this cycle on; never: not armed
    };

    std::optional<chip_register> decode(std::uint32_t address) const;
    std::uint32_t read(chip_register which, cycle at);
    void write(chip_register which, std::uint32_t value, cycle at, bool by_host);
    std::uint32_t& word(chip_register which) { return words_[static_cast<std::size_t>(which)]; }
    std::uint32_t word(chip_register which) const { return words_[static_cast<std::size_t>(which)]; }
    std::optional<lanai::register_value> value_of(chip_register which, cycle at) const;
    bool nothing_comes() const;  // all bits of the ISR that will be seen are, unless somebody raises one
    void store_isr(std::uint32_t value, cycle at, bool by_host);
    void load_timer(unsigned number, std::uint32_t value, cycle at);
    void store_simulator_port(std::uint32_t address, std::uint32_t value);
    std::uint64_t ticks(cycle at) const { return clock_.time_of(at) / tick_ps; }
    cycle next_tick(cycle at) const { return clock_.cycles_of((ticks(at) + 1) * tick_ps); }
    void settle(cycle at);
    void plan_interrupt();
    void update_interrupt();

    const card_clock& clock_;
    sram& memory_;
    core_port* core_ = nullptr;
    std::uint32_t base_;
    std::array<std::uint8_t, 512> decode_{};  // offset -> register + 1
    std::array<std::uint32_t, static_cast<std::size_t>(isr_event::count)> masks_{};
    std::array<handler, static_cast<std::size_t>(chip_register::count)> handlers_;
    std::array<std::uint32_t, static_cast<std::size_t>(chip_register::count)> words_{};

    std::uint32_t isr_ = 0;     // bits that are seen
    std::uint32_t coming_ = 0;  // bits that are seen from coming_from_ on
    cycle coming_from_ = 0;
    std::array<timer, 3> timers_;
    std::uint32_t rtc_offset_ = 0;
    cycle cpuc_base_ = 0;
    bool interrupt_enabled_ = false;
    bool interrupt_driven_ = false;
    std::string line_;
    sim::timer interrupt_timer_{[this] { update_interrupt(); }};
    settled_value isr_seen_{isr};
};

}  // namespace vinic::nic
