// SPDX-License-Identifier: Apache-2.0
// The host DMA of the card: four channels that walk chains of blocks in SRAM (facts lanai_pcix.md B5; layout
// and meaning in firmware/abi/card_map.h, dma_block), and the register-driven transfer of the LANai 4 (B3).
//
// A block: fetch of its 24 bytes from SRAM, set-up, transfer, write-back of the checksum, WAKE. Host to
// LANai: the bus brings the bytes burst by burst, each burst takes SRAM slots at the pace of its data phases
// and is in the SRAM when its last slot is over. LANai to host: the engine reads the SRAM ahead into its FIFO
// in pieces of half the FIFO and writes each to the bus while it reads the next.
//
// The checksum is the ones-complement sum of the block's 16-bit big-endian words: in the upper half of the
// result those at even places, in the lower half those at odd places; an odd last byte is padded with zero. A
// sum of zero is written as 0xFFFF, so that a result is never zero.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "firmware/abi/card_map.h"
#include "hw/bus/master.h"
#include "hw/nic/card_clock.h"
#include "hw/nic/dma_controller.h"
#include "hw/nic/special_registers.h"
#include "hw/nic/sram.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

/// Running ones-complement checksum over the bytes of a block.
class block_checksum {
public:
    void add(std::span<const std::uint8_t> bytes);
    std::uint32_t result() const;

private:
    std::uint64_t sums_[2] = {0, 0};
    std::uint64_t position_ = 0;
};

class host_dma;

/// One channel: its data and what is seen of it; its controller says what is done with them.
class dma_channel : public sim::module, private bus::job_client {
public:
    using activity = dma_controller::activity;

    dma_channel(const sc_core::sc_module_name& name, host_dma& dma, unsigned number);

    sim::counter<sim::unit::transactions> blocks{*this, "blocks", "blocks done"};
    sim::counter<sim::unit::bytes> bytes_to_card{*this, "bytes_to_card", "bytes moved from the host"};
    sim::counter<sim::unit::bytes> bytes_to_host{*this, "bytes_to_host", "bytes moved to the host"};
    sim::counter<sim::unit::events> bus_errors{*this, "bus_errors", "blocks that the bus aborted"};

    sim::value_probe state;
    sim::span_probe pulse_probe{*this, "pulse", "a start (PULSE) of the chain"};
    sim::value_probe host_address{*this, "host_address", 64, "host address of the block at hand"};
    sim::value_probe left{*this, "left", 32, "bytes of the block at hand that are still to move"};
    sim::span_probe fetch{*this, "fetch", "descriptor of a block read from SRAM"};
    sim::span_probe payload{*this, "payload",
                            "data of a block: from its first request to its last byte in place"};
    sim::span_probe block{*this, "block", "a whole block: from its fetch to its WAKE"};

    /// The chain starts here (pointer bank).
    void set_base(std::uint32_t address);
    std::uint32_t base() const { return base_; }
    /// PULSE or trigger bit: execute up to and including the next terminal block.
    void pulse();
    /// LANai 4: one transfer by registers.
    void start(std::uint32_t host, std::uint32_t local, std::uint32_t bytes, bool to_card);
    bool busy() const { return activity_ != activity::idle && activity_ != activity::failed; }
    std::uint32_t checksum() const { return last_checksum_; }

private:
    friend class host_dma;
    struct piece {  // of a LANai-to-host block
        std::vector<std::uint8_t> bytes;
        bus::job job;
    };

    // What the controller has done.
    void entered(activity next);
    void fetch_block(std::uint32_t address);
    void check_block() const;
    void begin_transfer();
    void load(std::uint64_t host, std::uint32_t local, std::uint32_t bytes);
    void load_for_free(std::uint64_t host);
    void read_piece(unsigned half, std::uint32_t local, std::uint32_t bytes);
    void send_piece(unsigned half, std::uint64_t host);
    void transferred(bool by_registers);
    void finished(bool by_registers);

    void fetched();
    void count_moved(std::uint64_t bytes);
    void fail_bus();
    void abandon();
    bool to_card() const { return (block_.next_and_flags & abi::dma_flag_host_to_lanai) != 0; }

    void on_burst(bus::job&, std::uint64_t offset, std::uint64_t count, const bus::tenure_schedule&) override;
    void on_cut(bus::job&, std::uint64_t offset, std::uint64_t count, const bus::tenure_schedule&) override;
    void on_arrival(bus::job&, std::uint64_t offset, std::uint64_t count) override;
    void on_done(bus::job&, bus::job_status) override;

    host_dma& dma_;
    unsigned number_;
    activity activity_ = activity::idle;
    std::uint32_t base_ = 0;
    std::uint32_t at_ = 0;  // descriptor of the block at hand
    abi::dma_block block_{};
    std::array<std::uint8_t, sizeof(abi::dma_block)> raw_{};
    std::array<std::uint8_t, 4> written_back_{};
    block_checksum checksum_;
    std::uint32_t last_checksum_ = 0;
    sim::picoseconds block_began_ = 0;
    sim::picoseconds payload_began_ = 0;

    std::vector<std::uint8_t> buffer_;  // of a host-to-LANai block
    std::uint32_t local_ = 0;           // and where it goes
    bus::job read_job_;
    std::uint64_t moved_ = 0;  // bytes of the block that the bus has moved
    unsigned storing_ = 0;     // bursts on their way to the SRAM
    unsigned jobs_ = 0;        // that the bus has
    std::array<piece, 2> pieces_;
    bool dropping_ = false;    // reset or bus error: what the bus still brings is dropped
    bool waiting_ = false;     // a transfer begins when that is over
    std::uint64_t epoch_ = 0;  // counts these
};

class host_dma : public sim::module, private dma_controller::surroundings {
public:
    static constexpr unsigned channel_count = dma_controller::channel_count;

    host_dma(const sc_core::sc_module_name& name, const card_clock& clock, sram& memory,
             special_registers& registers, bus::master& master,
             bus::implementation how = bus::implementation::model);

    sim::parameter<std::uint64_t> engines;
    sim::parameter<std::string> arbitration;
    sim::parameter<std::uint64_t> fifo_bytes;
    sim::parameter<std::uint64_t> trigger_clocks;
    sim::parameter<std::uint64_t> setup_clocks;
    sim::parameter<std::uint64_t> finish_clocks;

    dma_channel channel0;
    dma_channel channel1;
    dma_channel channel2;
    dma_channel channel3;

    dma_channel& channel(unsigned n) { return *channels_[n]; }
    /// Each bit set starts its channel (PULSE, trigger bits).
    void pulse(std::uint32_t channels);
    void reset();
    /// What-if: reads of these bytes of host memory take no time before the SRAM.
    void set_free_reads(std::uint64_t address, std::uint64_t bytes) {
        free_begin_ = address;
        free_end_ = address + bytes;
    }

private:
    friend class dma_channel;
    bool reads_for_free(std::uint64_t address, std::uint64_t bytes) const {
        return address >= free_begin_ && address + bytes <= free_end_;
    }
    dma_controller::settings how() const override;
    void entered(unsigned n, dma_controller::activity next) override { channels_[n]->entered(next); }
    void fetch(unsigned n, std::uint32_t address) override { channels_[n]->fetch_block(address); }
    void check(unsigned n) override { channels_[n]->check_block(); }
    void begin(unsigned n) override { channels_[n]->begin_transfer(); }
    void load(unsigned n, std::uint64_t host, std::uint32_t local, std::uint32_t count) override {
        channels_[n]->load(host, local, count);
    }
    void read_piece(unsigned n, unsigned half, std::uint32_t local, std::uint32_t count) override {
        channels_[n]->read_piece(half, local, count);
    }
    void send_piece(unsigned n, unsigned half, std::uint64_t host) override {
        channels_[n]->send_piece(half, host);
    }
    void moved(unsigned n, bool by_registers) override { channels_[n]->transferred(by_registers); }
    void finished(unsigned n, bool by_registers) override { channels_[n]->finished(by_registers); }

    const card_clock& clock_;
    sram& memory_;
    special_registers& registers_;
    bus::master& master_;
    std::array<dma_channel*, channel_count> channels_;
    std::uint64_t free_begin_ = 0;
    std::uint64_t free_end_ = 0;
    std::unique_ptr<dma_controller> controller_;
};

}  // namespace vinic::nic
