// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/pci_interface.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hw/nic/bytes.h"

namespace vinic::nic {

using namespace abi::card_map;

namespace {

constexpr std::uint32_t control_bytes = 4;
constexpr std::uint32_t pointers_bytes = 64;
constexpr std::uint32_t config_bytes = 64;
constexpr std::uint32_t stored_control_bits =
    CONTROL_FIFO_SIZE_MASK | CONTROL_FIFO_MULTI_QUEUE | CONTROL_FIFO_LIMIT_CHECK;

// Offsets in the configuration header (PCI 2.2, 6.1).
constexpr std::uint32_t config_command = 0x04, config_class = 0x08, config_cache_line = 0x0C,
                        config_bar0 = 0x10, config_interrupt = 0x3C;
constexpr std::uint32_t network_controller_class = 0x02800000, revision = 3;

}  // namespace

pci_interface::pci_interface(const sc_core::sc_module_name& name, const card_clock& clock,
                             const bus::bus_properties& bus, sram& memory, special_registers& registers,
                             host_dma& dma, doorbell_region& doorbells)
    : module(name),
      decode_clocks(*this, {.name = "decode_clocks",
                            .unit = "clocks",
                            .value = 2,
                            .max = 5,
                            .help = "DEVSEL# this many bus clocks after the address; 0: as the bus says",
                            .source = "facts/lanai_pcix.md C1: medium decode"}),
      wide(*this, {.name = "wide",
                   .value = true,
                   .help = "the card answers ACK64#",
                   .source = "facts/lanai_pcix.md B5"}),
      posted_bytes(*this, {.name = "posted_bytes",
                           .unit = "bytes",
                           .value = 256,
                           .min = 16,
                           .max = 65536,
                           .help = "buffer for posted writes; a write that finds it full is retried",
                           .source = "assumed"}),
      read_clocks(*this, {.name = "read_clocks",
                          .unit = "clocks",
                          .value = 8,
                          .min = 2,
                          .max = 1000,
                          .help = "from the decoded read to its first word, LANai clocks",
                          .source = "facts/lanai_pcix.md C4: 6-10"}),
      read_burst_bytes(*this, {.name = "read_burst_bytes",
                               .unit = "bytes",
                               .value = 64,
                               .min = 8,
                               .max = 4096,
                               .help = "a read burst is disconnected after this many bytes",
                               .source = "assumed"}),
      delayed_reads(*this,
                    {.name = "delayed_reads",
                     .unit = "reads",
                     .value = 1,
                     .min = 1,
                     .max = 32,
                     .help = "reads slower than the bus allows that are fetched while they are retried",
                     .source = "assumed"}),
      discard_clocks(*this, {.name = "discard_clocks",
                             .unit = "bus clocks",
                             .value = 32768,
                             .choices = {1024, 32768},
                             .help = "a delayed read that nobody comes for is dropped",
                             .source = "facts/lanai_pcix.md C1"}),
      register_clocks(*this, {.name = "register_clocks",
                              .unit = "clocks",
                              .value = 2,
                              .max = 1000,
                              .help = "from a posted write's turn to its effect in a register, LANai clocks",
                              .source = "assumed"}),
      clock_(clock),
      bus_(bus),
      memory_(memory),
      registers_(registers),
      dma_(dma),
      doorbells_(doorbells),
      delayed_(delayed_reads, discard_clocks) {
    store_little(config_.data(), std::uint32_t{device_id} << 16 | vendor_id);
    store_little(config_.data() + config_class, network_controller_class | revision);
    config_[config_interrupt + 1] = 1;  // INTA#
}

pci_interface::region pci_interface::region_of(std::uint32_t offset) const {
    if (offset < sram_window_bytes) return region::sram;
    if (offset >= doorbells) return region::doorbells;
    if (offset >= abi::card_map::special_registers) return region::registers;
    if (offset >= pointers && offset < pointers + pointers_bytes) return region::pointers;
    if (offset >= control && offset < control + control_bytes) return region::control;
    if (offset < config_copy + config_bytes) return region::config_copy;
    return region::nothing;
}

bool pci_interface::is_configuration(const bus::pci_extension& pci) {
    return pci.command == bus::command::config_read || pci.command == bus::command::config_write;
}

// --- The bus

std::uint64_t pci_interface::clocks_of(const posted_write& w) const {
    if (w.where == region::sram) return w.bytes.size() / memory_.slot_bytes + 2;
    return w.bytes.size() / 4 * (register_clocks + 2);
}

/// Waits for a read of so many slots behind the writes that are still posted, in bus clocks.
std::uint64_t pci_interface::read_wait_clocks(std::uint64_t words) const {
    std::uint64_t clocks = read_clocks + words / memory_.slots_per_cycle;
    for (const posted_write& w : queue_) clocks += clocks_of(w);
    if (freed_at_ == sim::now()) clocks += freed_clocks_;
    return bus_.clock.edge_at_or_after(clock_.domain().span(clocks));
}

bus::target_answer pci_interface::on_address(const tlm::tlm_generic_payload& payload,
                                             const bus::pci_extension& pci) {
    if (is_configuration(pci)) return {};
    bus::target_answer answer;
    if (payload.is_write()) {
        const std::uint64_t queued = queued_bytes_ + (freed_at_ == sim::now() ? freed_bytes_ : 0);
        const std::uint64_t room = posted_bytes - std::min<std::uint64_t>(queued, posted_bytes);
        answer.limit_bytes = static_cast<std::uint32_t>(room / 8 * 8);
        if (answer.limit_bytes == 0) answer.kind = bus::answer_kind::retry;
    } else {
        answer = answer_read(payload, pci);
    }
    if (answer.kind == bus::answer_kind::retry) retries.add();
    return answer;
}

/// A read waits behind the writes that are still posted; what is slower than the bus allows even without them
/// is a delayed read.
bus::target_answer pci_interface::answer_read(const tlm::tlm_generic_payload& payload,
                                              const bus::pci_extension& pci) {
    const std::uint64_t bytes = std::min<std::uint64_t>(payload.get_data_length(), read_burst_bytes);
    const std::uint64_t waits = read_wait_clocks((bytes + memory_.slot_bytes - 1) / memory_.slot_bytes);
    const auto limit = static_cast<std::uint32_t>(read_burst_bytes);
    if (waits <= bus_.max_initial_waits(static_cast<std::uint32_t>(decode_clocks.get())))
        return {.initial_wait_clocks = static_cast<std::uint32_t>(waits), .limit_bytes = limit};
    if (!backlog() && delayed_.there(payload, pci, waits)) return {.limit_bytes = limit};
    return {.kind = bus::answer_kind::retry, .limit_bytes = limit};
}

/// A read of the SRAM takes its slots as soon as the address is decoded, a write behind its last data phase.
void pci_interface::on_schedule(const tlm::tlm_generic_payload& payload, const bus::pci_extension& pci) {
    if (is_configuration(pci)) return;
    const auto offset = static_cast<std::uint32_t>(payload.get_address() % bar_bytes);
    if (region_of(offset) != region::sram || !memory_.holds(offset, pci.schedule.bytes)) return;
    if (payload.is_write())
        return memory_.host_access.expect(clock_.domain().edge_after(pci.schedule.done_at));
    reading_ =
        std::make_shared<sram_read>(sram_read{.offset = offset,
                                              .first = clock_.domain().edge_after(pci.schedule.address_at),
                                              .data = std::vector<std::uint8_t>(pci.schedule.bytes)});
    pump();
}

void pci_interface::on_write(const bus::pci_extension& pci, std::uint64_t address,
                             std::span<const std::uint8_t> bytes) {
    if (is_configuration(pci)) return write_config(static_cast<std::uint32_t>(address % config_bytes), bytes);
    const auto offset = static_cast<std::uint32_t>(address % bar_bytes);
    bytes_written.add(bytes.size());
    queue_.push_back({region_of(offset), offset, {bytes.begin(), bytes.end()}, sim::now()});
    queued_bytes_ += bytes.size();
    posted_seen_.set(sim::now(), queued_bytes_);
    pump();
}

void pci_interface::on_read(const bus::pci_extension& pci, std::uint64_t address,
                            std::span<std::uint8_t> bytes) {
    if (is_configuration(pci)) return read_config(static_cast<std::uint32_t>(address % config_bytes), bytes);
    const auto offset = static_cast<std::uint32_t>(address % bar_bytes);
    bytes_read.add(bytes.size());
    if (reading_ && reading_->ready && bytes.size() <= reading_->data.size())
        std::copy_n(reading_->data.begin(), bytes.size(), bytes.begin());
    else
        read_now(offset, bytes);
    reading_.reset();
}

std::size_t pci_interface::debug_read(std::uint64_t address, std::span<std::uint8_t> bytes) {
    read_now(static_cast<std::uint32_t>(address % bar_bytes), bytes);
    return bytes.size();
}

std::size_t pci_interface::debug_write(std::uint64_t address, std::span<const std::uint8_t> bytes) {
    const auto offset = static_cast<std::uint32_t>(address % bar_bytes);
    if (region_of(offset) != region::sram || !memory_.holds(offset, bytes.size())) return 0;
    memory_.poke(offset, bytes);
    return bytes.size();
}

// --- Posted writes, one after the other

void pci_interface::pump() {
    if (busy_) return;
    if (queue_.empty()) {
        if (!reading_ || reading_->started) return;
        reading_->started = true;
        memory_.host_access.read(
            reading_->offset, reading_->data, [r = reading_] { r->ready = true; }, 0, {}, reading_->first);
        return;
    }
    busy_ = true;
    posted_write& w = queue_.front();
    if (w.where != region::sram) {
        word_.no_later_than(clock_.time_of(clock_.seen() + register_clocks));
    } else if (memory_.holds(w.offset, w.bytes.size())) {
        memory_.host_access.write(
            w.offset, w.bytes, [this] { written(); }, 0, {}, clock_.seen());
    } else {
        word_.no_later_than(clock_.time_of(clock_.seen()));  // to no SRAM: without effect
    }
}

/// The next aligned word of a write that does not go to SRAM.
void pci_interface::store_word() {
    posted_write& w = queue_.front();
    if (w.where == region::sram) return written();
    const auto at = static_cast<std::uint32_t>(w.offset + w.done);
    const std::size_t bytes = std::min<std::size_t>(w.bytes.size() - w.done, 4 - at % 4);
    std::array<std::uint8_t, 4> word{};
    std::copy_n(w.bytes.begin() + static_cast<std::ptrdiff_t>(w.done), bytes, word.begin() + at % 4);
    w.done += bytes;
    if (w.where == region::doorbells) {
        doorbells_.ring(at / 4 * 4 - doorbells, load_big(word.data()), [this] { word_stored(); });
        return;
    }
    if (bytes == 4) apply(w.where, at, word);  // registers take whole words only
    word_stored();
}

void pci_interface::word_stored() {
    if (queue_.empty()) return;  // a board reset
    if (queue_.front().done < queue_.front().bytes.size())
        word_.no_later_than(clock_.time_of(clock_.seen()));
    else
        written();
}

void pci_interface::written() {
    const posted_write& w = queue_.front();
    write.report(w.arrived, sim::now(), "write",
                 {{"offset", w.offset},
                  {"bytes", w.bytes.size()},
                  {"data", w.bytes.size() == sizeof(std::uint32_t) ? load_big(w.bytes.data()) : 0}});
    if (freed_at_ != sim::now()) freed_bytes_ = freed_clocks_ = 0;
    freed_at_ = sim::now();
    freed_bytes_ += w.bytes.size();
    freed_clocks_ += clocks_of(w);
    queued_bytes_ -= w.bytes.size();
    posted_seen_.set(sim::now(), queued_bytes_);
    queue_.pop_front();
    busy_ = false;
    pump();
}

void pci_interface::apply(region where, std::uint32_t offset, std::span<const std::uint8_t> word) {
    switch (where) {
        case region::control:
            return store_control(load_little(word.data()));
        case region::pointers:
            return store_pointer((offset - pointers) / 4, load_little(word.data()));
        case region::registers:
            return registers_.store_offset(offset - abi::card_map::special_registers, load_big(word.data()),
                                           clock_.current());
        default:
            return;  // EEPROM and the copy of the configuration header cannot be written
    }
}

void pci_interface::store_control(std::uint32_t value) {
    control_ = value & stored_control_bits;
    doorbells_.set_control(control_);
    if ((value & CONTROL_BOARD_RESET_ASSERT) != 0 && board_reset) board_reset();
    if ((value & CONTROL_EBUS_RESET_ASSERT) != 0) dma_.reset();
    if ((value & CONTROL_LANAI_RESET_ASSERT) != 0 && lanai_reset) lanai_reset(true);
    if ((value & CONTROL_LANAI_RESET_REMOVE) != 0 && lanai_reset) lanai_reset(false);
    if ((value & CONTROL_INTERRUPT_DISABLE) != 0) registers_.enable_interrupt(false);
    if ((value & CONTROL_INTERRUPT_ENABLE) != 0) registers_.enable_interrupt(true);
    dma_.pulse(value / CONTROL_DMA_TRIGGER0 % 16);
}

void pci_interface::store_pointer(unsigned index, std::uint32_t address) {
    pointers_[index] = address;
    if (index < host_dma::channel_count)
        dma_.channel(index).set_base(address);
    else if (index < 2 * host_dma::channel_count)
        doorbells_.set_base(index - host_dma::channel_count, address);
}

// --- Reads

std::uint32_t pci_interface::read_word(region where, std::uint32_t offset, bool& little) {
    little = true;
    switch (where) {
        case region::control:
            return control_;
        case region::pointers:
            return pointers_[(offset - pointers) / 4];
        case region::config_copy:
            return load_little(config_.data() + (offset - config_copy));
        case region::registers:
            little = false;
            return registers_.load_offset(offset - abi::card_map::special_registers, clock_.current());
        default:
            return ~0u;
    }
}

void pci_interface::read_now(std::uint32_t offset, std::span<std::uint8_t> bytes) {
    if (region_of(offset) == region::sram && memory_.holds(offset, bytes.size()))
        return memory_.peek(offset, bytes);
    for (std::size_t i = 0; i < bytes.size();) {
        const std::uint32_t at = offset + static_cast<std::uint32_t>(i);
        bool little = true;
        std::array<std::uint8_t, 4> word;
        const std::uint32_t value = read_word(region_of(at), at / 4 * 4, little);
        little ? store_little(word.data(), value) : store_big(word.data(), value);
        const std::size_t n = std::min<std::size_t>(bytes.size() - i, 4 - at % 4);
        std::copy_n(word.begin() + at % 4, n, bytes.begin() + static_cast<std::ptrdiff_t>(i));
        i += n;
    }
}

void pci_interface::read_config(std::uint32_t offset, std::span<std::uint8_t> bytes) const {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = offset + i < config_.size() ? config_[offset + i] : 0;
}

/// Command, cache line size and latency timer, BAR 0 and interrupt line can be written.
void pci_interface::write_config(std::uint32_t offset, std::span<const std::uint8_t> bytes) {
    const auto writable = [](std::uint32_t at) {
        return at == config_command || at == config_command + 1 || at == config_cache_line ||
               at == config_cache_line + 1 || at == config_bar0 + 3 || at == config_interrupt;
    };
    static_assert(bar_bytes == 1u << 24, "only the upper byte of the base address can be written");
    for (std::size_t i = 0; i < bytes.size(); ++i)
        if (const auto at = static_cast<std::uint32_t>(offset + i); writable(at)) config_[at] = bytes[i];
}

/// Posted writes behind the one that resets the board still count.
void pci_interface::reset() {
    control_ = 0;
    pointers_.fill(0);
}

}  // namespace vinic::nic
