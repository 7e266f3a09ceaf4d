// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hw/link/fabric.h"
#include "hw/link/port.h"
#include "hw/sim/simulation.h"

namespace vinic::link {

/// A card of the tests: records what its port tells it, with times, and takes what comes as it is told to.
struct station : port_client {
    struct arrival {
        sim::picoseconds head;
        sim::picoseconds tail;
        std::vector<std::uint8_t> bytes;  ///< without CRC-8
        std::uint8_t remainder;
        std::uint32_t crc32_remainder;
    };

    explicit station(const char* name) : nic(name, *this) {}

    void on_head(const packet_ptr&) override {
        heads.push_back(sim::now());
        if (when_head)
            when_head();
        else
            nic.take(never, spacing);
    }
    void on_take_limit() override {
        limits.push_back(sim::now());
        if (when_limit) when_limit();
    }
    void on_tail(const reception& came) override {
        received.push_back({heads[received.size()],
                            sim::now(),
                            {came.bytes.begin(), came.bytes.end()},
                            came.remainder,
                            came.crc32_remainder});
        if (when_tail) when_tail();
    }
    void on_part_sent() override {
        parts.push_back(sim::now());
        if (when_part) when_part();
    }
    void on_sent() override {
        sent.push_back(sim::now());
        if (when_sent) when_sent();
    }
    void on_blocked() override { blocked.push_back(sim::now()); }

    port nic;
    sim::picoseconds spacing = 0;
    std::vector<sim::picoseconds> heads, limits, parts, sent, blocked;
    std::vector<arrival> received;
    std::function<void()> when_head, when_limit, when_tail, when_part, when_sent;
};

/// Does something at a time, or several times.
struct actor : sim::module {
    actor() : sim::module(sc_core::sc_gen_unique_name("actor")) {
        SC_HAS_PROCESS(actor);
        SC_METHOD(act);
        sensitive << event_;
        dont_initialize();
    }
    void at(sim::picoseconds when, std::function<void()> what) {
        todo_.emplace(when, std::move(what));
        event_.notify(sim::delay_until(todo_.begin()->first));
    }

private:
    void act() {
        while (!todo_.empty() && todo_.begin()->first <= sim::now()) {
            const auto what = std::move(todo_.begin()->second);
            todo_.erase(todo_.begin());
            what();
        }
        if (!todo_.empty()) event_.notify(sim::delay_until(todo_.begin()->first));
    }
    std::multimap<sim::picoseconds, std::function<void()>> todo_;
    sc_core::sc_event event_;
};

/// A simulation with a network and a station at each node.
struct bench {
    using settings = std::vector<std::pair<std::string, std::string>>;

    explicit bench(const topology& t, const settings& given = {}, std::uint64_t seed = 1)
        : simulation(configured(given), seed), net("fabric", t) {
        for (unsigned i = 0; i < t.nodes; ++i) {
            stations.push_back(std::make_unique<station>(("node" + std::to_string(i)).c_str()));
            net.attach(i, stations[i]->nic.out, stations[i]->nic.in);
        }
    }
    static sim::configuration configured(const settings& given) {
        sim::configuration config;
        for (const auto& [name, value] : given) config.set(name, {value, "test", ""});
        return config;
    }
    station& operator[](unsigned node) { return *stations[node]; }
    /// The bytes of a packet: route, a type whose first bit is clear, then `length` bytes that depend on
    /// `tag`.
    std::vector<std::uint8_t> make(unsigned from, unsigned to, std::size_t length, unsigned tag = 0) const {
        std::vector<std::uint8_t> bytes = net.route(from, to);
        for (std::size_t i = 0; i < length; ++i)
            bytes.push_back(static_cast<std::uint8_t>(i == 0 ? tag & 0x7F : tag * 31 + i * 7));
        return bytes;
    }
    /// What of it arrives.
    static std::vector<std::uint8_t> without_route(const std::vector<std::uint8_t>& bytes, std::size_t hops) {
        return {bytes.begin() + static_cast<std::ptrdiff_t>(hops), bytes.end()};
    }
    void run() { sc_core::sc_start(); }
    void run(sim::picoseconds until) { sc_core::sc_start(sim::to_sc_time(until - sim::now())); }

    sim::simulation simulation;
    fabric net;
    actor script;
    std::vector<std::unique_ptr<station>> stations;
};

}  // namespace vinic::link
