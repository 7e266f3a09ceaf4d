// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "hw/sim/probe.h"
#include "hw/sim/time.h"

namespace vinic::traces {

/// What cores, DMA channels, buses and bridges did lately, as far as the path of a message can depend on it:
/// from the oldest message under way on.
class history {
public:
    struct core_event {
        enum class kind : std::uint8_t { look, store, seen };
        sim::picoseconds at;
        kind what;
        std::uint32_t address;
    };
    struct dma_block {
        sim::picoseconds pulse = 0;    ///< the firmware starts it
        sim::picoseconds asked = 0;    ///< the channel turns to it
        sim::picoseconds fetch = 0;    ///< its block is read from the SRAM
        sim::picoseconds fetched = 0;  ///< ... has been read; it may wait for an engine now
        sim::picoseconds setup = 0;
        sim::picoseconds transfer = 0;
        sim::picoseconds placed = 0;  ///< its last byte is where it belongs
        sim::picoseconds finish = 0;  ///< checksum written, WAKE set
        std::uint64_t host = 0;
        std::uint64_t local = 0;
        std::uint64_t bytes = 0;
        std::uint64_t descriptor = 0;  ///< address of its block in the SRAM
        bool to_card = false;
        bool behind = false;  ///< at its PULSE the channel was busy with the block before
    };
    struct tenure {
        sim::picoseconds asked = 0;  ///< REQ# is asserted
        sim::picoseconds begin = 0;  ///< first address phase
        sim::picoseconds first_data = 0;
        sim::picoseconds end = 0;
        std::uint64_t address = 0;
        std::uint64_t bytes = 0;
    };
    struct access {  ///< a store of a processor, or a write of a device that becomes visible at its end
        sim::picoseconds begin = 0;
        sim::picoseconds end = 0;
        std::uint64_t address = 0;
    };
    struct channel {
        std::deque<sim::picoseconds> pulses;
        std::deque<dma_block> blocks;
        dma_block now;
        bool fetching = false;
    };
    struct node {
        std::deque<tenure> tenures;
        std::deque<access> stores;
        std::deque<access> writes;
        struct requests {
            sim::picoseconds asserted = 0, asked = 0, begin = 0;
        };
        std::vector<requests> masters;
    };
    struct card {
        const node* on = nullptr;
        std::deque<core_event> core;
        std::array<channel, 4> channels;
        std::deque<access> writes;      ///< posted writes, until they are in the SRAM at `address`
        access doorbell;                ///< the last that the doorbell FIFO took; address: of its entry
        std::deque<access> parts;       ///< of the send engine; address: of its bytes
        std::deque<access> receptions;  ///< likewise
    };

    history();

    const card& of(const std::string& name) const { return cards_.at(name); }
    /// The block of that channel whose data were in place at `placed`; null when there is none.
    const dma_block* block(const sim::probe& payload, sim::picoseconds placed) const;
    void forget(sim::picoseconds before);

private:
    enum class source : std::uint8_t {
        request,
        transaction,
        store,
        write,
        card_write,
        doorbell,
        exchange,
        dma_state,
        dma_pulse,
        dma_payload,
        dma_block,
        part,
        reception
    };
    /// Listens to one probe.
    struct watcher : sim::listener {
        source what{};
        unsigned number = 0;  ///< of the channel or the master
        node* on = nullptr;
        card* in = nullptr;

        void on_value(const sim::value_probe&, sim::picoseconds at, std::uint64_t bits,
                      std::uint64_t floating) override;
        void on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end,
                     std::string_view what, std::span<const sim::field> fields) override;
    };
    void watch(const std::string& name, sim::probe& probe);
    static void entered(channel& c, sim::picoseconds at, std::string_view state);
    static void granted(node& on, sim::picoseconds begin, sim::picoseconds end,
                        std::span<const sim::field> fields);
    static void finished(channel& c, sim::picoseconds end, std::string_view what,
                         std::span<const sim::field> fields);

    std::map<std::string, node> nodes_;
    std::map<std::string, card> cards_;
    std::deque<watcher> watchers_;
    std::unordered_map<const sim::probe*, const channel*> channels_;  // by payload; looked up, never walked
};

}  // namespace vinic::traces
