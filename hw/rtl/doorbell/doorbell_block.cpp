// SPDX-License-Identifier: Apache-2.0
#include "hw/rtl/doorbell/doorbell_block.h"

#include <array>
#include <utility>

#include "firmware/abi/card_map.h"
#include "hw/rtl/clock_gate.h"
#include "hw/rtl/verilated_model.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

#include <Vdoorbell.h>
#include <Vdoorbell___024root.h>

namespace vinic::rtl {

namespace {

/// Between the calls of the card and the pins of doorbell.sv.
class doorbell_block : public sim::module, public nic::doorbell_fifo {
public:
    doorbell_block(surroundings& around, const sim::clock_domain& clock);

    sim::parameter<bool> gated;

    sim::counter<sim::unit::clocks> edges{*this, "edges", "clocks that were evaluated"};

    sim::value_probe busy{*this, "busy", 1, "a doorbell waits for the SRAM"};
    sim::value_probe address{*this, "address", 23, "the entry that is being written"};
    std::array<sim::value_probe, 4> next{queue_probe(0), queue_probe(1), queue_probe(2), queue_probe(3)};

    void set_base(unsigned number, std::uint32_t address) override;
    void set_control(std::uint32_t control) override;
    void ring(std::uint32_t offset, std::uint32_t data) override;
    void written() override;
    void reset() override;

private:
    sim::value_probe queue_probe(unsigned number) const {
        return {*this, fmt::format("next{}", number), 16,
                "doorbells that the queue took since its base was set"};
    }
    bool edge(sim::picoseconds at);
    void show(sim::picoseconds at);
    void evaluate() { rtl::evaluate(*this, pins_); }

    surroundings& around_;
    VerilatedContext context_;
    Vdoorbell pins_{&context_};
    coverage_writer coverage_{context_};
    clock_gate clock_;
};

doorbell_block::doorbell_block(surroundings& around, const sim::clock_domain& clock)
    : module("rtl"),
      gated(*this, {.name = "gated",
                    .value = true,
                    .help = "the block's clock stands while nothing would change",
                    .source = "of the simulator: results are the same"}),
      around_(around),
      clock_(clock, gated, [this](sim::picoseconds at) { return edge(at); }) {
    pins_.sram_words = static_cast<unsigned>(around.sram_bytes() / 8);
    rtl::reset(*this, pins_);
}

/// What comes with one word of the host, or from the SRAM, lasts a clock.
bool doorbell_block::edge(sim::picoseconds at) {
    edges.add();
    evaluate_clock(*this, pins_);
    pins_.reset = pins_.base_valid = pins_.control_valid = pins_.ring_valid = pins_.sram_done = 0;
    evaluate();
    if (busy.watched()) show(at);
    return pins_.quiet;
}

void doorbell_block::show(sim::picoseconds at) {
    busy.set(at, pins_.rootp->doorbell__DOT__busy_q);
    address.set(at, pins_.rootp->doorbell__DOT__address_q);
    for (unsigned q = 0; q < next.size(); ++q)
        next[q].set(at, pins_.rootp->doorbell__DOT__next_q >> 16 * q & 0xFFFF);
}

void doorbell_block::set_base(unsigned number, std::uint32_t base) {
    clock_.catch_up();
    pins_.base_valid = 1;
    pins_.base_number = static_cast<std::uint8_t>(number);
    pins_.base_address = base;
    evaluate();
    clock_.wake();
}

void doorbell_block::set_control(std::uint32_t control) {
    using namespace abi::card_map;
    clock_.catch_up();
    pins_.control_valid = 1;
    pins_.control_size = control & CONTROL_FIFO_SIZE_MASK;
    pins_.control_queues = (control & CONTROL_FIFO_MULTI_QUEUE) != 0;
    evaluate();
    clock_.wake();
}

void doorbell_block::reset() {
    clock_.catch_up();
    pins_.reset = 1;
    evaluate();
    clock_.wake();
}

void doorbell_block::ring(std::uint32_t offset, std::uint32_t data) {
    clock_.catch_up();
    pins_.ring_valid = 1;
    pins_.ring_offset = offset;
    pins_.ring_data = data;
    evaluate();
    pins_.tag_free = pins_.tag_valid && around_.is_free(pins_.tag_address);
    evaluate();
    clock_.wake();
    if (pins_.lost) return around_.lost();
    around_.store(pins_.sram_address, pins_.sram_offset, pins_.sram_data);
}

void doorbell_block::written() {
    clock_.catch_up();
    pins_.sram_done = 1;
    evaluate();
    clock_.wake();
    around_.stored();
}

}  // namespace

std::unique_ptr<nic::doorbell_fifo> make_doorbell(nic::doorbell_fifo::surroundings& around,
                                                  const sim::clock_domain& clock) {
    return std::make_unique<doorbell_block>(around, clock);
}

}  // namespace vinic::rtl
