// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/ethernet/registers.h"

#include <algorithm>

#include "hw/nic/bytes.h"
#include "hw/sim/duration.h"

namespace vinic::nic::ethernet {

using namespace abi::ethernet;

namespace {}

registers::registers(const sc_core::sc_module_name& name, steps& when, const sim::clock_domain& clock)
    : sim::module(name),
      read_clocks(*this, {.name = "read_clocks",
                          .unit = "clocks",
                          .value = 4,
                          .min = 0,
                          .max = 8,
                          .help = "wait states of a read of a register, bus clocks"}),
      interrupts(*this, "interrupts", "times that the interrupt was asserted"),
      sent_reports(*this, "sent_reports", "reports of sent frames"),
      received_reports(*this, "received_reports", "reports of received frames"),
      interrupt_probe(*this, "interrupt", 1, "the card asserts its interrupt"),
      cause_probe(*this, "cause", 2, "causes that nobody has read"),
      write_probe(*this, "write", "a register was written"),
      when_(when),
      clock_(clock) {
    words_[IDENTITY / 4] = device_id << 16 | vendor_id;
    words_[COALESCE_SENT / 4] = words_[COALESCE_RECEIVED / 4] = coalesce(1, 0);
}

bus::target_answer registers::on_address(const tlm::tlm_generic_payload& payload, const bus::pci_extension&) {
    if (payload.is_write()) return {};
    return {.initial_wait_clocks = static_cast<std::uint32_t>(read_clocks)};
}

void registers::on_write(const bus::pci_extension& pci, std::uint64_t address,
                         std::span<const std::uint8_t> bytes) {
    if (pci.command == bus::command::config_write) return;
    for (std::size_t done = 0; done + 4 <= bytes.size(); done += 4) {
        const auto at = static_cast<std::uint32_t>((address + done) % bar_bytes);
        if (at >= REGISTERS_END || at == IDENTITY || at == CAUSE) continue;
        const std::uint32_t value = load_little(bytes.data() + done);
        words_[at / 4] = value;
        write_probe.report(sim::now(), sim::now(), "write", {{"offset", at}, {"data", value}});
        if (at == MASK) update();
        on_register(static_cast<register_offset>(at), value);
    }
}

void registers::on_read(const bus::pci_extension& pci, std::uint64_t address, std::span<std::uint8_t> bytes) {
    std::ranges::fill(bytes, std::uint8_t{0});
    if (pci.command == bus::command::config_read) return;
    for (std::size_t done = 0; done + 4 <= bytes.size(); done += 4) {
        const auto at = static_cast<std::uint32_t>((address + done) % bar_bytes);
        if (at >= REGISTERS_END) continue;
        store_little(bytes.data() + done, at == CAUSE ? cause_ : words_[at / 4]);
        if (at != CAUSE) continue;
        cause_ = 0;
        update();
    }
}

std::size_t registers::debug_read(std::uint64_t address, std::span<std::uint8_t> bytes) {
    const auto at = static_cast<std::uint32_t>(address % bar_bytes);
    if (bytes.size() != 4 || at % 4 != 0 || at >= REGISTERS_END) return 0;
    store_little(bytes.data(), at == CAUSE ? cause_ : words_[at / 4]);
    return bytes.size();
}

void registers::report(cause_bit what) {
    coalescer& which = what == CAUSE_SENT ? sent_ : received_;
    (what == CAUSE_SENT ? sent_reports : received_reports).add();
    const std::uint32_t setting = stored(which.setting);
    ++which.waiting;
    if (which.waiting >= (setting & 0xFFFF)) return raise(which);
    if (which.deadline != sim::never) return;
    // Like a step, behind its edge: what the bus brings with that edge comes first.
    which.deadline = clock_.edge(when_.edge_of(sim::now() + (setting >> 16) * sim::microsecond)) + 1;
    timer_.no_later_than(which.deadline);
}

void registers::raise(coalescer& which) {
    which.waiting = 0;
    which.deadline = sim::never;
    cause_ |= which.cause;
    update();
}

void registers::expired() {
    for (coalescer* which : {&sent_, &received_})
        if (which->deadline <= sim::now()) raise(*which);
    const sim::picoseconds next = std::min(sent_.deadline, received_.deadline);
    if (next != sim::never) timer_.no_later_than(next);
}

void registers::update() {
    cause_probe.set(cause_);
    const bool level = (cause_ & stored(MASK)) != 0;
    if (level == level_) return;
    level_ = level;
    interrupt_probe.set(level);
    if (level) interrupts.add();
    if (interrupt) interrupt(level);
}

}  // namespace vinic::nic::ethernet
