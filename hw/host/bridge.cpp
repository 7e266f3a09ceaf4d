// SPDX-License-Identifier: Apache-2.0
#include "hw/host/bridge.h"

#include <algorithm>

#include "hw/sim/error.h"
#include "hw/sim/simulation.h"

namespace vinic::host {

namespace {

const std::vector<std::uint64_t> boundaries{0, 32, 64, 128, 256, 512, 1024, 2048, 4096};

std::span<std::byte> as_bytes(std::span<std::uint8_t> bytes) { return std::as_writable_bytes(bytes); }

}  // namespace

bridge::bridge(const sc_core::sc_module_name& name, memory& ram, bus::pci_bus& bus, bus::requester_id id,
               std::uint64_t processors, bool free)
    : sim::module(name),
      initiator("initiator", bus.properties(), id),
      target("target", bus.properties(), *this, &initiator),
      store_ns(*this,
               {.name = "store_ns",
                .unit = "ns",
                .value = 60,
                .min = 0,
                .max = 10000,
                .help = "uncached store: the processor goes on after it when the posting buffer has room",
                .source = "facts/lanai_pcix.md C3: 40-150 ns [B~]"}),
      load_request_ns(*this,
                      {.name = "load_request_ns",
                       .unit = "ns",
                       .value = 100,
                       .min = 0,
                       .max = 10000,
                       .help = "uncached load: from the processor to the bridge",
                       .source = "facts/lanai_pcix.md C3: front side bus and bridge 150-300 ns in all [B~]"}),
      load_return_ns(*this,
                     {.name = "load_return_ns",
                      .unit = "ns",
                      .value = 100,
                      .min = 0,
                      .max = 10000,
                      .help = "uncached load: from the bridge back to the processor",
                      .source = "facts/lanai_pcix.md C3: front side bus and bridge 150-300 ns in all [B~]"}),
      posting_entries(*this,
                      {.name = "posting_entries",
                       .unit = "writes",
                       .value = 8,
                       .min = 1,
                       .max = 256,
                       .help = "posted writes that wait for the bus; the processor stalls for the next"}),
      combining_line_bytes(*this, {.name = "combining_line_bytes",
                                   .unit = "bytes",
                                   .value = 32,
                                   .choices = {32, 64},
                                   .help = "write-combining: line",
                                   .source = "facts/lanai_pcix.md C3: 32 PII/PIII, 64 P4/Xeon"}),
      combining_buffers(*this, {.name = "combining_buffers",
                                .unit = "lines",
                                .value = 4,
                                .min = 1,
                                .max = 64,
                                .help = "write-combining: lines open at a time"}),
      combining_store_clocks(*this, {.name = "combining_store_clocks",
                                     .unit = "clocks",
                                     .value = 1,
                                     .min = 0,
                                     .max = 1000,
                                     .help = "write-combining: a store of up to 8 bytes into an open line"}),
      combining_flush_ns(*this, {.name = "combining_flush_ns",
                                 .unit = "ns",
                                 .value = 40,
                                 .min = 0,
                                 .max = 10000,
                                 .help = "write-combining: each transfer of a line or piece to the bridge"}),
      decode_clocks(*this, {.name = "decode_clocks",
                            .unit = "clocks",
                            .value = 2,
                            .min = 1,
                            .max = 5,
                            .help = "DEVSEL# of the bridge after the address (PCI-X: attribute) phase",
                            .source = "facts/lanai_pcix.md C1, C2"}),
      read_mode(*this, {.name = "read_mode",
                        .value = "delayed",
                        .choices = {"wait", "delayed"},
                        .help = "PCI: a DMA read gets wait states (if the bus allows that many) or retries",
                        .source = "facts/lanai_pcix.md C4: both forms exist"}),
      read_latency_clocks(*this,
                          {.name = "read_latency_clocks",
                           .unit = "bus clocks",
                           .value = 60,
                           .min = 0,
                           .max = 1000,
                           .help = "DMA read: from its address phase until the host has the first word",
                           .source = "facts/lanai_pcix.md C2, C4: about 60 PCI-X clocks"}),
      read_boundary_bytes(*this, {.name = "read_boundary_bytes",
                                  .unit = "bytes",
                                  .value = 4096,
                                  .choices = boundaries,
                                  .help = "DMA read: disconnected at multiples of this; 0: nowhere",
                                  .source = "facts/lanai_pcix.md C1: a page; many chipsets a cache line"}),
      delayed_reads(*this, {.name = "delayed_reads",
                            .unit = "reads",
                            .value = 2,
                            .min = 1,
                            .max = 32,
                            .help = "PCI: delayed reads held at a time",
                            .source = "facts/lanai_pcix.md C1: typically 1-4"}),
      discard_clocks(*this, {.name = "discard_clocks",
                             .unit = "bus clocks",
                             .value = 32768,
                             .choices = {1024, 32768},
                             .help = "PCI: a delayed read that nobody comes for is dropped",
                             .source = "facts/lanai_pcix.md C1"}),
      split_reads(*this, {.name = "split_reads",
                          .unit = "reads",
                          .value = 8,
                          .min = 1,
                          .max = 32,
                          .help = "PCI-X: split reads accepted at a time; more are retried"}),
      completion_bytes(*this, {.name = "completion_bytes",
                               .unit = "bytes",
                               .value = 4096,
                               .choices = {128, 256, 512, 1024, 2048, 4096},
                               .help = "PCI-X: a split completion ends at multiples of this"}),
      write_wait_clocks(*this, {.name = "write_wait_clocks",
                                .unit = "bus clocks",
                                .value = 0,
                                .min = 0,
                                .max = 32,
                                .help = "DMA write: wait states before the first data phase"}),
      write_boundary_bytes(*this, {.name = "write_boundary_bytes",
                                   .unit = "bytes",
                                   .value = 4096,
                                   .choices = boundaries,
                                   .help = "DMA write: disconnected at multiples of this; 0: nowhere",
                                   .source = "facts/lanai_pcix.md C1"}),
      visibility_ns(*this, {.name = "visibility_ns",
                            .unit = "ns",
                            .value = 100,
                            .min = 1,
                            .max = 10000,
                            .help = "DMA write: from its last data phase until a processor's look sees it"}),
      stores(*this, "stores", "writes that processors sent to the bus"),
      loads(*this, "loads", "loads from the bus"),
      bytes_stored(*this, "bytes_stored", "bytes in `stores`"),
      combined_lines(*this, "combined_lines", "write-combining lines that left whole"),
      combined_pieces(*this, "combined_pieces", "pieces of lines that left early"),
      posting_full(*this, "posting_full", "time that processors stood before a full posting buffer"),
      load_time(*this, "load_time", "of a load, processor to processor"),
      delayed_retries(*this, "delayed_retries", "DMA reads told to come again"),
      discarded(*this, "discarded", "delayed reads that nobody came for"),
      aborted(*this, "aborted", "loads, stores and split completions that nobody answered"),
      store_probe(*this, "store", "a write of a processor, from the bridge to the card"),
      load_probe(*this, "load", "a load, processor to processor"),
      write_probe(*this, "write", "a write of a device: from its last data phase until processors see it"),
      posted_probe(*this, "posted", 8, "writes in the posting buffer"),
      memory_(ram),
      bus_(bus.properties()),
      processors_(processors),
      free_(free),
      delayed_(delayed_reads, discard_clocks) {
    bus.attach(initiator);
    const unsigned number =
        bus.attach(target, {.id = id, .decode_clocks = static_cast<std::uint32_t>(decode_clocks)});
    bus.map(number, 0, ram.size_bytes());
    const auto most = bus_.max_initial_waits(static_cast<std::uint32_t>(decode_clocks));
    if (write_wait_clocks > most)
        throw sim::input_error("{}.write_wait_clocks: this bus allows {} at most", this->name(), most);
    sim::simulation::current().on_settle([this] { return reported_until(); });
}

bridge::~bridge() = default;

// --- Writes

bus::target_answer bridge::on_address(const tlm::tlm_generic_payload& payload,
                                      const bus::pci_extension& pci) {
    if (payload.is_read()) return answer_read(payload, pci);
    return {.initial_wait_clocks = free_ ? 0 : static_cast<std::uint32_t>(write_wait_clocks),
            .boundary_bytes = static_cast<std::uint32_t>(write_boundary_bytes)};
}

void bridge::on_write(const bus::pci_extension&, std::uint64_t address, std::span<const std::uint8_t> bytes) {
    const sim::picoseconds visible = free_ ? 1 : visibility_ns * 1000;
    dma_visible_ = sim::now() + visible;
    memory_.write_at(address, std::as_bytes(bytes), dma_visible_);
    write_probe.report(sim::now(), sim::now() + visible, "write",
                       {{"address", address}, {"bytes", bytes.size()}});
}

// --- Reads

bus::target_answer bridge::answer_read(const tlm::tlm_generic_payload& payload,
                                       const bus::pci_extension& pci) {
    if (bus_.kind == bus::bus_kind::pcix) return answer_split(payload, pci);
    // Clocks that the bus needs before the first data phase anyway are part of the latency.
    const std::uint64_t unhurried = pci.schedule.first_data - pci.schedule.address;
    const std::uint64_t waits = read_latency() > unhurried ? read_latency() - unhurried : 0;
    const bool fits = waits <= bus_.max_initial_waits(static_cast<std::uint32_t>(decode_clocks));
    if (waits == 0 || (read_mode.get() == "wait" && fits))
        return {.initial_wait_clocks = static_cast<std::uint32_t>(waits),
                .boundary_bytes = static_cast<std::uint32_t>(read_boundary_bytes)};
    return answer_delayed(payload, pci);
}

/// The first attempt is remembered and its data are fetched; until they are there, it and its repetitions are
/// retried.
bus::target_answer bridge::answer_delayed(const tlm::tlm_generic_payload& payload,
                                          const bus::pci_extension& pci) {
    const bool there = delayed_.there(payload, pci, read_latency());
    discarded.add(delayed_.discarded() - discarded.value());
    if (there) return {.boundary_bytes = static_cast<std::uint32_t>(read_boundary_bytes)};
    delayed_retries.add();
    return {.kind = bus::answer_kind::retry, .retry_before = delayed_.retried_before(payload, pci)};
}

bus::target_answer bridge::answer_split(const tlm::tlm_generic_payload& payload,
                                        const bus::pci_extension& pci) {
    if (splits_.size() >= split_reads) return {.kind = bus::answer_kind::retry};
    split_read& s = splits_.emplace_back();
    s.address = payload.get_address();
    s.bytes.resize(payload.get_data_length());
    s.ready = pci.schedule.address_at + bus_.clock.span(read_latency());
    std::span<std::uint8_t> rest(s.bytes);
    for (std::uint64_t at = s.address; !rest.empty();) {
        const auto piece =
            rest.first(std::min<std::size_t>(rest.size(), completion_bytes - at % completion_bytes));
        bus::job& job = s.completions.emplace_back();
        job.what = bus::job::kind::completion;
        job.address = at;
        job.bytes = piece;
        job.client = this;
        job.requester = pci.requester;
        job.tag = pci.tag;
        at += piece.size();
        rest = rest.subspan(piece.size());
    }
    s.left = s.completions.size();
    split_ready_.no_later_than(s.ready);
    return {.kind = bus::answer_kind::split};
}

/// The host has the first words of the reads whose time has come.
void bridge::complete() {
    sim::picoseconds next = sim::never;
    for (split_read& s : splits_) {
        if (s.ready == sim::never) continue;
        if (s.ready > sim::now()) {
            next = std::min(next, s.ready);
            continue;
        }
        s.ready = sim::never;
        for (bus::job& job : s.completions) initiator.start(job);
    }
    split_ready_.no_later_than(next);
}

void bridge::on_supply(bus::job& job, std::uint64_t offset, std::uint64_t count) {
    if (job.what == bus::job::kind::completion)
        memory_.dma_read(job.address + offset, as_bytes(job.bytes.subspan(offset, count)));
}

void bridge::on_read(const bus::pci_extension&, std::uint64_t address, std::span<std::uint8_t> bytes) {
    memory_.dma_read(address, as_bytes(bytes));
}

// --- Tools

std::size_t bridge::debug_read(std::uint64_t address, std::span<std::uint8_t> bytes) {
    if (!memory_.contains({address, bytes.size()})) return 0;
    memory_.read(address, as_bytes(bytes));
    return bytes.size();
}

std::size_t bridge::debug_write(std::uint64_t address, std::span<const std::uint8_t> bytes) {
    if (!memory_.contains({address, bytes.size()})) return 0;
    memory_.write(address, std::as_bytes(bytes));
    return bytes.size();
}

}  // namespace vinic::host
