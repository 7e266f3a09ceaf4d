// SPDX-License-Identifier: Apache-2.0
// The engine's DMA: reads and posted writes of host memory through the card's bus master. Who wants to move
// bytes first takes a channel, then makes sure that it may (translation, state of the VI), then starts: what
// is between the two counts as under way.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "hw/bus/master.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::nic {

class host_transfers;

/// A read that its owner keeps until it is done.
class host_read : private bus::job_client {
public:
    explicit host_read(host_transfers& by);

    bool done() const { return done_; }
    /// So many bytes from the start are here.
    std::uint64_t arrived() const { return arrived_; }
    /// When the transfer was started, and its last byte came.
    sim::picoseconds began() const { return began_; }
    sim::picoseconds ended() const { return ended_; }
    /// More bytes, or all.
    condition progress;

private:
    friend class host_transfers;
    void on_arrival(bus::job&, std::uint64_t offset, std::uint64_t count) override;
    void on_done(bus::job&, bus::job_status status) override;
    void add(std::uint64_t offset, std::uint64_t count);

    host_transfers& by_;
    bus::job job_;
    std::uint64_t ticket_ = 0;
    bool shared_ = true;  ///< it took a channel
    bool watched_ = false;
    bool done_ = false;
    std::uint64_t arrived_ = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ahead_;  ///< offset, end: behind a gap
    const char* what_ = "";
    sim::picoseconds began_ = 0;
    sim::picoseconds ended_ = 0;
};

class host_transfers : public sim::module {
public:
    host_transfers(const sc_core::sc_module_name& name, sequencer& order, bus::master& master);

    sim::parameter<std::uint64_t> read_channels;
    sim::parameter<std::uint64_t> write_channels;
    sim::parameter<std::uint64_t> start_clocks;

    sim::counter<sim::unit::transactions> reads{*this, "reads", "reads done"};
    sim::counter<sim::unit::transactions> writes{*this, "writes", "writes done"};
    sim::counter<sim::unit::bytes> bytes_read{*this, "bytes_read", "bytes read from the host"};
    sim::counter<sim::unit::bytes> bytes_written{*this, "bytes_written", "bytes written to the host"};
    sim::counter<sim::unit::events> bus_errors{*this, "bus_errors", "transfers that the bus aborted"};

    sim::span_probe read{*this, "read", "a read: from the start of its bus job to its last byte"};
    sim::span_probe written{*this, "write", "a write: from the start of its bus job to its last byte"};

    /// Takes a channel; its ticket is to be handed to one of the next two, or back.
    step<std::uint64_t> read_channel();
    step<std::uint64_t> write_channel();
    void give_back_read(std::uint64_t ticket);
    void give_back_write(std::uint64_t ticket);

    /// Starts `what`: bytes at a physical address, to `into`. `watched`: its progress is told, not only its
    /// end.
    void start_read(std::uint64_t ticket, host_read& what, std::uint64_t address,
                    std::span<std::uint8_t> into, const char* note, bool watched = false);
    /// Starts a write; `then` when it is done. Writes arrive in the order in which they are started.
    void start_write(std::uint64_t ticket, std::uint64_t address, std::vector<std::uint8_t> bytes,
                     const char* note, std::function<void()> then = {});
    /// A whole read with a channel of its own, for a unit that has one read at a time.
    step<bool> read_alone(std::uint64_t address, std::span<std::uint8_t> into, const char* note);

    /// The same without time, for a what-if.
    void look(std::uint64_t address, std::span<std::uint8_t> into) { master_.debug_read(address, into); }

    /// What is under way at this moment has ended.
    step<bool> quiet();

private:
    friend class host_read;
    struct host_write : bus::job_client {
        host_transfers* by = nullptr;
        bus::job job;
        std::vector<std::uint8_t> bytes;
        std::uint64_t ticket = 0;
        std::function<void()> then;
        const char* note = "";
        sim::picoseconds began = 0;
        std::list<host_write>::iterator self;
        void on_done(bus::job&, bus::job_status status) override;
    };
    std::uint64_t open();
    void close(std::uint64_t ticket);
    void read_done(host_read& what, bus::job_status status, sim::picoseconds at);
    void write_done(host_write& what, bus::job_status status, sim::picoseconds at);

    sequencer& sequencer_;
    bus::master& master_;
    pool free_reads_;
    pool free_writes_;
    std::list<host_write> started_writes_;
    std::uint64_t tickets_ = 0;
    std::set<std::uint64_t> under_way_;
    condition closed_;
};

}  // namespace vinic::nic
