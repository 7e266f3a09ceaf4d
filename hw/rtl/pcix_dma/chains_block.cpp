// SPDX-License-Identifier: Apache-2.0
// The transactor between the card's SRAM and master and the pins of dma_chains.sv. Bursts of the SRAM and of the
// bus move their bytes as a whole (hw/nic/sram.h, hw/bus/README.md), so the RTL has their addresses and lengths and
// hears of their ends; the bytes stay in the channel's buffers.
#include "hw/rtl/pcix_dma/chains_block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <list>
#include <string>

#include "hw/nic/card_clock.h"
#include "hw/rtl/clock_gate.h"
#include "hw/rtl/verilated_model.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"
#include "hw/sim/unit.h"

#include <Vdma_chains.h>
#include <Vdma_chains___024root.h>

namespace vinic::rtl {

namespace {

constexpr unsigned channels = nic::dma_controller::channel_count;
constexpr const char* states[] = {"idle",  "trigger",  "ask",        "descriptor",
                                  "setup", "transfer", "write_back", "failed"};

/// Element `n` of a packed array of `width` bits an element.
template <typename Wide>
std::uint64_t element(const Wide& array, unsigned n, unsigned width) {
    std::uint64_t value = 0;
    for (unsigned bit = 0; bit < width; ++bit) {
        const unsigned at = n * width + bit;
        value |= std::uint64_t{array[at / 32] >> at % 32 & 1} << bit;
    }
    return value;
}

template <typename Wide>
void set_element(Wide& array, unsigned n, unsigned width, std::uint64_t value) {
    for (unsigned bit = 0; bit < width; ++bit) {
        const unsigned at = n * width + bit;
        array[at / 32] &= ~(1u << at % 32);
        array[at / 32] |= static_cast<std::uint32_t>(value >> bit & 1) << at % 32;
    }
}

class chains_block : public sim::module, public nic::dma_controller {
public:
    chains_block(surroundings& around, const sim::clock_domain& clock);

    sim::parameter<bool> gated;

    sim::counter<sim::unit::clocks> edges{*this, "edges", "clocks that were evaluated"};

    /// Registers of one channel.
    struct registers {
        registers(const sim::module& owner, unsigned n)
            : state(owner, fmt::format("state{}", n), 3, "state of the channel", states),
              at(owner, fmt::format("at{}", n), 32, "descriptor of the block at hand, or of the next"),
              pulses(owner, fmt::format("pulses{}", n), 8, "terminal blocks that are still to do"),
              ahead(owner, fmt::format("ahead{}", n), 24, "bytes of the block read from the SRAM"),
              moved(owner, fmt::format("moved{}", n), 24, "bytes of the block that were sent") {}
        sim::value_probe state, at, pulses, ahead, moved;
    };
    sim::value_probe busy{*this, "busy", channels, "channels that have an engine"};
    std::array<registers, channels> seen{registers(*this, 0), registers(*this, 1), registers(*this, 2),
                                         registers(*this, 3)};

    void set_base(unsigned channel, std::uint32_t address) override;
    void pulse(std::uint32_t which) override;
    void start(unsigned channel, const abi::dma_block& block) override;
    void reset() override;
    void fetched(unsigned channel, const abi::dma_block& block) override;
    void go(unsigned channel) override { now(pins_.go, channel); }
    void loaded(unsigned channel) override { ends(pins_.loaded, channel, channel); }
    void piece_read(unsigned channel) override { now(pins_.piece_read, channel); }
    void piece_sent(unsigned channel, unsigned half) override {
        ends(pins_.sent, 2 * channel + half, channel);
    }
    void written_back(unsigned channel) override { now(pins_.written_back, channel); }
    void bus_error(unsigned channel) override;

private:
    /// An input that starts a count of clocks: one that comes between two edges counts from the next.
    struct counted_input {
        unsigned channel;
        CData* pins;
    };

    void set_straps(const settings& how);
    void now(CData& pins, unsigned bit);
    void ends(CData& pins, unsigned bit, unsigned channel);
    void at_an_edge(CData& pins, unsigned channel);
    bool between_edges() const;
    void put_block(unsigned channel, const abi::dma_block& block);
    bool edge(sim::picoseconds at);
    void take_waiting();
    void settle();
    void act();
    void act_end(unsigned n);
    void act_transfer(unsigned n);
    void act_block(unsigned n);
    void grant();
    void enter(unsigned n, activity next);
    /// Whether that output of the channel is new in this clock.
    bool comes(CData pins, unsigned n, CData& done);
    void release_inputs();
    void show(sim::picoseconds at);

    surroundings& around_;
    nic::card_clock card_;
    /// What was done in this clock, as outputs stay for the rest of it.
    struct {
        CData fetch, set_up, begins, load, read, send, moved, finished, waits, stops;
    } done_{};
    std::array<activity, channels> activity_{};
    CData announced_ = 0;  ///< channels that wait already, but for their pins
    std::list<counted_input> waiting_;
    VerilatedContext context_;
    Vdma_chains pins_{&context_};
    coverage_writer coverage_{context_};
    sim::timer grant_{[this] { grant(); }};
    clock_gate clock_;
};

chains_block::chains_block(surroundings& around, const sim::clock_domain& clock)
    : module("rtl"),
      gated(*this, {.name = "gated",
                    .value = true,
                    .help = "the block's clock stands while nothing would change",
                    .source = "of the simulator: results are the same"}),
      around_(around),
      card_(clock),
      clock_(clock, gated, [this](sim::picoseconds at) { return edge(at); }) {
    set_straps(around.how());
    rtl::reset(*this, pins_);
}

void chains_block::set_straps(const settings& how) {
    if (how.trigger_clocks == 0 || how.setup_clocks == 0 || how.finish_clocks == 0)
        throw sim::input_error(
            "dma.impl = rtl: its registers take a clock each, so dma.trigger_clocks, setup_clocks and "
            "finish_clocks are 1 at least; use dma.impl = model for 0");
    if (!std::has_single_bit(how.fifo_bytes))
        throw sim::input_error("dma.impl = rtl: dma.fifo_bytes {} is no power of two", how.fifo_bytes);
    pins_.engines = static_cast<CData>(how.engines);
    pins_.fixed_priority = how.fixed_priority;
    pins_.trigger_clocks = static_cast<SData>(how.trigger_clocks);
    pins_.setup_clocks = static_cast<SData>(how.setup_clocks);
    pins_.finish_clocks = static_cast<SData>(how.finish_clocks);
    pins_.half_log2 = static_cast<CData>(std::countr_zero(how.fifo_bytes) - 1);
}

// --- Inputs

bool chains_block::between_edges() const { return card_.time_of(card_.current()) != sim::now(); }

void chains_block::now(CData& pins, unsigned bit) {
    clock_.catch_up();
    pins = static_cast<CData>(pins | 1u << bit);
    settle();
}

/// The bus has a clock of its own.
void chains_block::ends(CData& pins, unsigned bit, unsigned n) {
    clock_.catch_up();
    if (between_edges()) pins_.late = static_cast<CData>(pins_.late | 1u << n);
    now(pins, bit);
}

void chains_block::at_an_edge(CData& pins, unsigned n) {
    clock_.catch_up();
    const bool after_another = std::ranges::any_of(
        waiting_, [&](const counted_input& w) { return w.pins == &pins && w.channel == n; });
    if (!between_edges() && !after_another && (pins >> n & 1) == 0) return now(pins, n);
    waiting_.push_back({n, &pins});
    clock_.wake();
}

/// Those that waited for this edge, one of a kind.
void chains_block::take_waiting() {
    for (auto w = waiting_.begin(); w != waiting_.end();) {
        if ((*w->pins >> w->channel & 1) != 0) {
            ++w;
            continue;
        }
        *w->pins = static_cast<CData>(*w->pins | 1u << w->channel);
        w = waiting_.erase(w);
    }
}

void chains_block::set_base(unsigned n, std::uint32_t address) {
    clock_.catch_up();
    set_element(pins_.base, n, 32, address);
    if (activity_[n] == activity::failed) enter(n, activity::idle);
    now(pins_.base_valid, n);
}

void chains_block::pulse(std::uint32_t which) {
    clock_.catch_up();
    for (unsigned n = 0; n < channels; ++n) {
        if ((which >> n & 1) == 0) continue;
        const bool early = between_edges() && activity_[n] == activity::idle;
        at_an_edge(pins_.pulse, n);
        if (!early) continue;
        announced_ = static_cast<CData>(announced_ | 1u << n);
        enter(n, activity::wait);
    }
}

void chains_block::put_block(unsigned n, const abi::dma_block& block) {
    set_element(pins_.block_next, n, 32, block.next_and_flags);
    set_element(pins_.block_bytes, n, 24, block.bytes);
    set_element(pins_.block_local, n, 23, block.local_address);
    set_element(pins_.block_host, n, 64, std::uint64_t{block.host_high} << 32 | block.host_low);
}

void chains_block::start(unsigned n, const abi::dma_block& block) {
    clock_.catch_up();
    put_block(n, block);
    const bool early = between_edges();
    at_an_edge(pins_.start, n);
    if (!early) return;
    announced_ = static_cast<CData>(announced_ | 1u << n);
    enter(n, activity::wait);
}

void chains_block::fetched(unsigned n, const abi::dma_block& block) {
    clock_.catch_up();
    put_block(n, block);
    now(pins_.fetched, n);
}

void chains_block::bus_error(unsigned n) {
    enter(n, activity::failed);
    at_an_edge(pins_.bus_error, n);
}

void chains_block::reset() {
    clock_.catch_up();
    waiting_.clear();
    announced_ = 0;
    release_inputs();
    pins_.reset = 1;
    for (unsigned n = 0; n < channels; ++n) enter(n, activity::idle);
    settle();
}

// --- Outputs

void chains_block::enter(unsigned n, activity next) {
    activity_[n] = next;
    around_.entered(n, next);
}

bool chains_block::comes(CData pins, unsigned n, CData& done) {
    const auto bit = static_cast<CData>(1u << n);
    const bool is_new = (pins & bit) != 0 && (done & bit) == 0;
    if (is_new) done = static_cast<CData>(done | bit);
    return is_new;
}

void chains_block::settle() {
    evaluate(*this, pins_);
    act();
    clock_.wake();
}

void chains_block::act() {
    for (unsigned n = 0; n < channels; ++n) {
        act_end(n);
        if ((pins_.granted >> n & 1) == 0) act_block(n);
        act_transfer(n);
    }
    if (pins_.granted != 0) grant_.no_later_than(card_.time_of(card_.current(), nic::phase::arbitrate));
}

void chains_block::act_end(unsigned n) {
    const bool by_registers = (pins_.by_registers >> n & 1) != 0;
    if (comes(pins_.finished, n, done_.finished)) around_.finished(n, by_registers);
    if (comes(pins_.stops, n, done_.stops)) enter(n, activity::idle);
    if (!comes(pins_.waits, n, done_.waits)) return;
    const auto bit = static_cast<CData>(1u << n);
    if ((announced_ & bit) == 0) enter(n, activity::wait);
    announced_ = static_cast<CData>(announced_ & ~bit);
}

void chains_block::act_block(unsigned n) {
    if (comes(pins_.fetch, n, done_.fetch)) {
        enter(n, activity::fetch);
        around_.fetch(n, static_cast<std::uint32_t>(element(pins_.fetch_address, n, 32)));
    }
    if (comes(pins_.set_up, n, done_.set_up)) {
        enter(n, activity::setup);
        around_.check(n);
    }
}

/// The engines' arbitration, after all that comes on the edge.
void chains_block::grant() {
    clock_.catch_up();
    evaluate(*this, pins_);
    for (unsigned n = 0; n < channels; ++n)
        if ((pins_.granted >> n & 1) != 0) act_block(n);
}

void chains_block::act_transfer(unsigned n) {
    if (comes(pins_.begins, n, done_.begins)) {
        enter(n, activity::transfer);
        around_.begin(n);
    }
    if (comes(pins_.load, n, done_.load))
        around_.load(n, element(pins_.host, n, 64),
                     static_cast<std::uint32_t>(element(pins_.local_address, n, 23)),
                     static_cast<std::uint32_t>(element(pins_.bytes, n, 24)));
    if (comes(pins_.send, n, done_.send))
        around_.send_piece(n, pins_.send_half >> n & 1, element(pins_.send_address, n, 64));
    if (comes(pins_.read, n, done_.read))
        around_.read_piece(n, pins_.read_half >> n & 1,
                           static_cast<std::uint32_t>(element(pins_.read_address, n, 23)),
                           static_cast<std::uint32_t>(element(pins_.read_bytes, n, 17)));
    if (comes(pins_.moved, n, done_.moved)) {
        enter(n, activity::write_back);
        around_.moved(n, (pins_.by_registers >> n & 1) != 0);
    }
}

// --- Clocks

bool chains_block::edge(sim::picoseconds at) {
    edges.add();
    evaluate_clock(*this, pins_);
    release_inputs();
    done_ = {};
    take_waiting();
    evaluate(*this, pins_);
    if (busy.watched()) show(at);
    act();
    evaluate(*this, pins_);
    return pins_.quiet && waiting_.empty();
}

void chains_block::release_inputs() {
    pins_.reset = pins_.base_valid = pins_.pulse = pins_.start = pins_.fetched = pins_.go = pins_.loaded = 0;
    pins_.piece_read = pins_.sent = pins_.late = pins_.bus_error = pins_.written_back = 0;
}

// What Verilator calls a register of channel N.
#define OF_CHANNEL(N, NAME) pins_.rootp->dma_chains__DOT__channel__BRA__##N##__KET____DOT__walk__DOT__##NAME
#define OF_CHANNELS(NAME) \
    { OF_CHANNEL(0, NAME), OF_CHANNEL(1, NAME), OF_CHANNEL(2, NAME), OF_CHANNEL(3, NAME) }

void chains_block::show(sim::picoseconds at) {
    const std::uint64_t state[] = OF_CHANNELS(state_q), descriptor[] = OF_CHANNELS(at_q),
                        pulses[] = OF_CHANNELS(pulses_q), ahead[] = OF_CHANNELS(ahead_q),
                        moved_bytes[] = OF_CHANNELS(moved_q);
    busy.set(at, pins_.rootp->dma_chains__DOT__busy_q);
    for (unsigned n = 0; n < channels; ++n) {
        seen[n].state.set(at, state[n]);
        seen[n].at.set(at, descriptor[n]);
        seen[n].pulses.set(at, pulses[n]);
        seen[n].ahead.set(at, ahead[n]);
        seen[n].moved.set(at, moved_bytes[n]);
    }
}

}  // namespace

std::unique_ptr<nic::dma_controller> make_dma_chains(nic::dma_controller::surroundings& around,
                                                     const sim::clock_domain& clock) {
    return std::make_unique<chains_block>(around, clock);
}

}  // namespace vinic::rtl
