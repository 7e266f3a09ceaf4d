// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hw/bus/delayed_reads.h"
#include "hw/bus/master.h"
#include "hw/bus/pci_bus.h"
#include "hw/bus/target_port.h"
#include "hw/host/combining.h"
#include "hw/host/context.h"
#include "hw/host/memory.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"
#include "hw/sim/unit.h"

namespace vinic::host {

/// An address on the node's PCI bus.
using pci_address = std::uint64_t;

/// Between processors, memory and the I/O bus.
///
/// Processor side: loads and stores of PCI addresses, made on the calling context's thread, which takes the
/// time that they take. Uncached stores are posted and go out in order; a load waits until all posted ones
/// before it are done, and brings no data before the DMA writes that passed it are visible in memory (PCI: a
/// read pushes the posted writes that go its way). Write-combined stores gather in line buffers that leave
/// whole or, when flushed early, in pieces of up to 8 bytes; they leave on a fence, before an uncached access
/// of the same context, and the oldest when another line needs its buffer. No order of lines is promised, so
/// a doorbell needs `fence` or an uncached store.
///
/// Bus side: the target for RAM. A read waits for the host: as wait states or by retries of a delayed read
/// (PCI), or by a split response and completions (PCI-X).
class bridge : public sim::module, private bus::target_device, private bus::job_client {
public:
    bus::master initiator;
    bus::target_port target;

    sim::parameter<std::uint64_t> store_ns;
    sim::parameter<std::uint64_t> load_request_ns;
    sim::parameter<std::uint64_t> load_return_ns;
    sim::parameter<std::uint64_t> posting_entries;
    sim::parameter<std::uint64_t> combining_line_bytes;
    sim::parameter<std::uint64_t> combining_buffers;
    sim::parameter<std::uint64_t> combining_store_clocks;
    sim::parameter<std::uint64_t> combining_flush_ns;
    sim::parameter<std::uint64_t> decode_clocks;
    sim::parameter<std::string> read_mode;
    sim::parameter<std::uint64_t> read_latency_clocks;
    sim::parameter<std::uint64_t> read_boundary_bytes;
    sim::parameter<std::uint64_t> delayed_reads;
    sim::parameter<std::uint64_t> discard_clocks;
    sim::parameter<std::uint64_t> split_reads;
    sim::parameter<std::uint64_t> completion_bytes;
    sim::parameter<std::uint64_t> write_wait_clocks;
    sim::parameter<std::uint64_t> write_boundary_bytes;
    sim::parameter<std::uint64_t> visibility_ns;

    sim::counter<sim::unit::transactions> stores;
    sim::counter<sim::unit::transactions> loads;
    sim::counter<sim::unit::bytes> bytes_stored;
    sim::counter<sim::unit::events> combined_lines;
    sim::counter<sim::unit::events> combined_pieces;
    sim::counter<sim::unit::ps> posting_full;
    sim::histogram<sim::unit::ps> load_time;
    sim::counter<sim::unit::events> delayed_retries;
    sim::counter<sim::unit::events> discarded;
    sim::counter<sim::unit::events> aborted;

    sim::span_probe store_probe;
    sim::span_probe load_probe;
    sim::span_probe write_probe;
    sim::value_probe posted_probe;

    /// Takes its place on the bus, with RAM mapped from address 0. `free`: the what-if in which the host
    /// costs nothing.
    bridge(const sc_core::sc_module_name& name, memory& ram, bus::pci_bus& bus, bus::requester_id id,
           std::uint64_t processors, bool free);
    ~bridge() override;

    // Uncached. The bytes lie as in memory; 1, 2, 4 or 8 of them, aligned.
    void store(context& on, pci_address at, std::span<const std::byte> from);
    /// All ones where nobody answers.
    void load(context& on, pci_address at, std::span<std::byte> into);

    template <typename Word>
    void store(context& on, pci_address at, Word value) {
        const auto bytes = std::bit_cast<std::array<std::byte, sizeof(Word)>>(value);
        store(on, at, std::span<const std::byte>(bytes));
    }
    template <typename Word>
    Word load(context& on, pci_address at) {
        std::array<std::byte, sizeof(Word)> bytes;
        load(on, at, std::span<std::byte>(bytes));
        return std::bit_cast<Word>(bytes);
    }

    /// Write-combining: any address and length.
    void store_combined(context& on, pci_address at, std::span<const std::byte> from);
    /// Flushes the context's write-combining buffers into the posting buffer (sfence); does not wait for the
    /// bus.
    void fence(context& on);

private:
    /// A context that stands still until its access is accepted (a store) or answered (a load).
    struct waiter {
        std::span<std::byte> into;
        sim::picoseconds not_before = 0;
        bool done = false;
        sc_core::sc_event changed;

        void wait() {
            while (!done) sc_core::wait(changed);
        }
        void go() {
            done = true;
            changed.notify(sc_core::SC_ZERO_TIME);
        }
    };
    /// What a processor asked of the bus: a posted write, or a load.
    struct access {
        bus::job job;
        std::vector<std::uint8_t> bytes;
        sim::picoseconds arrived = 0;
        unsigned by = 0;  ///< number of the context
        bool is_load = false;
        bridge::waiter* waiter = nullptr;
    };
    /// A read of RAM that the bridge has accepted and not yet answered.
    struct split_read {
        std::uint64_t address;
        sim::picoseconds ready;
        std::vector<std::uint8_t> bytes;
        std::vector<bus::job> completions;
        std::size_t left = 0;
    };

    // --- Processor side (bridge_pio.cpp).
    access& arrive(context& on, pci_address at, std::uint64_t bytes);
    void post(context& on, pci_address at, std::span<const std::byte> from);
    void flush(context& on, const combining_buffer& buffer);
    void flush_all(context& on);
    void admit();
    void finish(access& a, bus::job_status status);
    sim::picoseconds reported_until() const;
    void on_supply(bus::job&, std::uint64_t offset, std::uint64_t count) override;
    void on_done(bus::job&, bus::job_status) override;
    sim::picoseconds host_time(std::uint64_t ns) const { return free_ ? 0 : ns * 1000; }
    clocks processor_clocks(context& on, std::uint64_t ns) const;

    // --- Bus side.
    bus::target_answer on_address(const tlm::tlm_generic_payload&, const bus::pci_extension&) override;
    void on_write(const bus::pci_extension&, std::uint64_t address, std::span<const std::uint8_t>) override;
    void on_read(const bus::pci_extension&, std::uint64_t address, std::span<std::uint8_t>) override;
    void on_repeated(std::uint64_t n) override { delayed_retries.add(n); }
    std::size_t debug_read(std::uint64_t address, std::span<std::uint8_t>) override;
    std::size_t debug_write(std::uint64_t address, std::span<const std::uint8_t>) override;
    bus::target_answer answer_read(const tlm::tlm_generic_payload&, const bus::pci_extension&);
    bus::target_answer answer_delayed(const tlm::tlm_generic_payload&, const bus::pci_extension&);
    bus::target_answer answer_split(const tlm::tlm_generic_payload&, const bus::pci_extension&);
    void complete();
    std::uint64_t read_latency() const { return free_ ? 0 : read_latency_clocks.get(); }

    memory& memory_;
    const bus::bus_properties& bus_;
    std::uint64_t processors_;
    bool free_;

    std::list<access> arrivals_;               ///< waiting for room; by time, then number
    std::list<access> accesses_;               ///< given to `initiator`
    std::uint64_t posted_ = 0;                 ///< writes among them
    sim::picoseconds dma_visible_ = 0;         ///< from then on, all that DMA has written
    std::multiset<sim::picoseconds> loading_;  ///< begins of the loads under way
    sim::timer arrival_{[this] { admit(); }};
    std::map<unsigned, std::vector<combining_buffer>> combining_;  ///< by context, oldest first

    bus::delayed_reads delayed_;
    std::list<split_read> splits_;
    sim::timer split_ready_{[this] { complete(); }};
};

}  // namespace vinic::host
