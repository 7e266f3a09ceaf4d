// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/register_window.h"

#include <algorithm>
#include <cstring>

#include "hw/nic/bytes.h"

namespace vinic::nic {

namespace card = abi::vi_engine;

namespace {

// Offsets in the configuration header (PCI 2.2, 6.1).
constexpr std::uint32_t config_command = 0x04, config_class = 0x08, config_cache_line = 0x0C,
                        config_bar0 = 0x10, config_interrupt = 0x3C;
constexpr std::uint32_t network_controller_class = 0x02800000;
constexpr std::uint32_t word_bytes = 4;

constexpr std::uint32_t doorbells_end = card::queue_pages + card::max_queues * card::doorbell_page_bytes;
static_assert(card::vi_pages + card::max_vis * card::doorbell_page_bytes == card::queue_pages);

bool is_doorbell(std::uint32_t offset) { return offset >= card::vi_pages && offset < doorbells_end; }
/// VIs first, completion queues behind them.
std::uint32_t page_of(std::uint32_t offset) { return (offset - card::vi_pages) / card::doorbell_page_bytes; }

}  // namespace

register_window::register_window(const sc_core::sc_module_name& name, sequencer& order,
                                 const bus::bus_properties& bus, doorbell_decoder& doorbells)
    : module(name),
      decode_clocks(*this, {.name = "decode_clocks",
                            .unit = "clocks",
                            .value = 2,
                            .max = 5,
                            .help = "DEVSEL# this many bus clocks after the address; 0: as the bus says",
                            .source = "facts/lanai_pcix.md C1: medium decode"}),
      wide(*this, {.name = "wide", .value = true, .help = "the card answers ACK64#"}),
      posted_bytes(*this, {.name = "posted_bytes",
                           .unit = "bytes",
                           .value = 256,
                           .min = 16,
                           .max = 65536,
                           .help = "buffer for posted writes; a write that finds it full is retried"}),
      register_clocks(*this,
                      {.name = "register_clocks",
                       .unit = "clocks",
                       .value = 1,
                       .max = 1000,
                       .help = "a posted word to a register or to the table on the card, engine clocks"}),
      read_clocks(*this, {.name = "read_clocks",
                          .unit = "clocks",
                          .value = 4,
                          .min = 1,
                          .max = 1000,
                          .help = "from the decoded read of a register to its value, engine clocks"}),
      delayed_reads(*this,
                    {.name = "delayed_reads",
                     .unit = "reads",
                     .value = 1,
                     .min = 1,
                     .max = 32,
                     .help = "reads slower than the bus allows that are fetched while they are retried"}),
      discard_clocks(*this, {.name = "discard_clocks",
                             .unit = "bus clocks",
                             .value = 32768,
                             .choices = {1024, 32768},
                             .help = "a delayed read that nobody comes for is dropped",
                             .source = "facts/lanai_pcix.md C1"}),
      sequencer_(order),
      bus_(bus),
      doorbells_(doorbells),
      delayed_(delayed_reads, discard_clocks),
      written_(order),
      machine_(order.start(rank::intake, [this] { return intake(); })) {
    store_little(config_.data(), std::uint32_t{card::device_id} << 16 | card::vendor_id);
    store_little(config_.data() + config_class, network_controller_class);
    config_[config_interrupt + 1] = 1;  // INTA#
}

bool register_window::is_configuration(const bus::pci_extension& pci) {
    return pci.command == bus::command::config_read || pci.command == bus::command::config_write;
}

// --- The bus

bus::target_answer register_window::on_address(const tlm::tlm_generic_payload& payload,
                                               const bus::pci_extension& pci) {
    if (is_configuration(pci)) return {};
    const auto offset = static_cast<std::uint32_t>(payload.get_address() % card::bar_bytes);
    const bus::target_answer answer = payload.is_write() ? answer_write(offset) : answer_read(payload, pci);
    if (answer.kind == bus::answer_kind::retry) retries.add();
    return answer;
}

/// A burst into doorbell pages is cut into words: each may find its queue full.
bus::target_answer register_window::answer_write(std::uint32_t offset) {
    bus::target_answer answer;
    const std::uint64_t room = posted_bytes - std::min<std::uint64_t>(queued_.seen(), posted_bytes);
    answer.limit_bytes = static_cast<std::uint32_t>(room / 8 * 8);
    if (is_doorbell(offset)) answer.limit_bytes = std::min(answer.limit_bytes, word_bytes);
    if (answer.limit_bytes == 0 || (is_doorbell(offset) && doorbells_.full(page_of(offset))))
        answer.kind = bus::answer_kind::retry;
    return answer;
}

bus::target_answer register_window::answer_read(const tlm::tlm_generic_payload& payload,
                                                const bus::pci_extension& pci) {
    constexpr bus::target_answer retry{.kind = bus::answer_kind::retry, .limit_bytes = word_bytes};
    if (queued_.seen() != 0) return retry;
    const std::uint64_t waits = bus_.clock.edge_at_or_after(sequencer_.domain().span(read_clocks));
    if (waits <= bus_.max_initial_waits(static_cast<std::uint32_t>(decode_clocks.get())))
        return {.initial_wait_clocks = static_cast<std::uint32_t>(waits), .limit_bytes = word_bytes};
    if (delayed_.there(payload, pci, waits)) return {.limit_bytes = word_bytes};
    return retry;
}

void register_window::on_write(const bus::pci_extension& pci, std::uint64_t address,
                               std::span<const std::uint8_t> bytes) {
    if (is_configuration(pci)) {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            const std::uint64_t at = (address + i) % config_.size();
            const bool writable = at == config_command || at == config_command + 1 ||
                                  at == config_cache_line || at == config_cache_line + 1 ||
                                  at == config_bar0 + 3 || at == config_interrupt;
            if (writable) config_[at] = bytes[i];
        }
        return;
    }
    const auto offset = static_cast<std::uint32_t>(address % card::bar_bytes);
    bytes_written.add(bytes.size());
    queued_.add(bytes.size());
    if (is_doorbell(offset))
        for (std::size_t i = 0; i + word_bytes <= bytes.size(); i += word_bytes)
            doorbells_.posted(page_of(static_cast<std::uint32_t>(offset + i)));
    sequencer_.input(rank::host,
                     [this, w = posted_write{offset, {bytes.begin(), bytes.end()}, sim::now()}]() mutable {
                         writes_.push_back(std::move(w));
                         written_.notify();
                     });
}

void register_window::on_read(const bus::pci_extension& pci, std::uint64_t address,
                              std::span<std::uint8_t> bytes) {
    if (is_configuration(pci)) {
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = config_[(address + i) % config_.size()];
        return;
    }
    bytes_read.add(bytes.size());
    read_words(static_cast<std::uint32_t>(address % card::bar_bytes), bytes);
}

std::size_t register_window::debug_read(std::uint64_t address, std::span<std::uint8_t> bytes) {
    read_words(static_cast<std::uint32_t>(address % card::bar_bytes), bytes);
    return bytes.size();
}

void register_window::read_words(std::uint32_t offset, std::span<std::uint8_t> bytes) const {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto at = static_cast<std::uint32_t>(offset + i);
        const std::uint32_t value = at < card::register_bytes ? load(at / word_bytes * word_bytes) : ~0u;
        bytes[i] = static_cast<std::uint8_t>(value >> (at % word_bytes * 8));
    }
}

// --- Posted writes, one after the other

machine register_window::intake() {
    for (;;) {
        while (writes_.empty()) co_await written_.changed();
        const bool bell = is_doorbell(writes_.front().offset);
        if (!bell)
            co_await sequencer_.clocks(register_clocks *
                                       ((writes_.front().bytes.size() + word_bytes - 1) / word_bytes));
        const posted_write next = std::move(writes_.front());
        writes_.pop_front();
        queued_.free(next.bytes.size());
        take(next);
    }
}

/// Registers and doorbells take whole words only.
void register_window::take(const posted_write& what) {
    for (std::size_t i = 0; i + word_bytes <= what.bytes.size(); i += word_bytes) {
        const auto offset = static_cast<std::uint32_t>(what.offset + i);
        const std::uint32_t value = load_little(what.bytes.data() + i);
        if (is_doorbell(offset))
            doorbells_.ring(page_of(offset), {offset % card::doorbell_page_bytes, value, what.arrived});
        else
            store(offset, value);
    }
    write.report(what.arrived, sim::now(), "write", {{"offset", what.offset}, {"bytes", what.bytes.size()}});
}

}  // namespace vinic::nic
