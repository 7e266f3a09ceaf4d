// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "firmware/abi/connection_packet.h"
#include "firmware/abi/myvia_card.h"
#include "host_driver/card_image.h"
#include "host_driver/card_window.h"
#include "hw/host/cpu.h"
#include "hw/host/memory.h"

namespace vinic::driver::test {

class fake_card;

/// The wire between fake cards: a route of one byte is the number of the card that it leads to, an empty one
/// leads back. Control packets pass through `filter`, which says how many copies arrive.
class fake_network {
public:
    std::function<unsigned(const abi::connection_packet&)> filter = [](const abi::connection_packet&) {
        return 1u;
    };
    std::vector<abi::connection_packet> control_packets;  ///< all that were sent, in the machine's byte order

    unsigned attach(fake_card& card) {
        cards_.push_back(&card);
        return static_cast<unsigned>(cards_.size() - 1);
    }
    void send_control(std::optional<unsigned> to, unsigned from, std::vector<std::byte> payload);
    fake_card& at(unsigned number) { return *cards_[number]; }

private:
    std::vector<fake_card*> cards_;
};

/// The smallest card that obeys firmware/abi/myvia_card.h: commands are done at once, messages of up to two
/// segments arrive after a fixed time, completions and events are written like the card's. It trusts its
/// driver where the real one checks, and records what it was told.
class fake_card {
public:
    static constexpr std::uint32_t interface_at = 0x1000;
    static constexpr std::uint32_t doorbells_at = 0x10000;
    static constexpr std::uint32_t max_vis = 8;
    static constexpr std::uint32_t max_regions = 6;
    static constexpr std::uint32_t max_queues = 4;
    static constexpr std::uint32_t max_processes = 2;

    fake_card(host::cpu& cpu, fake_network& network)
        : cpu_(cpu), network_(network), number_(network.attach(*this)) {}

    static card_image image();
    std::unique_ptr<card_window> window();

    // --- What a test may look at or change.
    struct ring_state {
        host::physical_address ring = 0;
        std::uint32_t posted = 0;
        std::uint32_t completed = 0;
        std::uint32_t queue = abi::myvia::no_queue;
        bool armed = false;
    };
    struct vi_state {
        std::uint32_t state = abi::myvia::vi_unused;
        abi::myvia::create_vi_arguments created{};
        abi::myvia::connect_vi_arguments connected{};
        ring_state send;
        ring_state receive;
    };
    struct queue_state {
        host::physical_address ring = 0;
        std::uint32_t entries = 0;
        std::uint32_t produced = 0;
        std::uint32_t index = 0;
        std::uint32_t pass = 1;
        bool armed = false;
    };
    std::array<vi_state, max_vis> vis;
    std::array<queue_state, max_queues> queues;
    std::map<std::uint32_t, abi::myvia::region_arguments> regions;
    std::array<bool, max_processes> open{};
    std::vector<std::uint32_t> commands;  ///< every command_op
    bool takes_doorbells = true;          ///< false: they stay in the page
    std::array<std::uint32_t, max_processes> doorbells_taken{};
    void take_doorbells();
    std::vector<abi::myvia::doorbell> doorbell_log;

    host::physical_address page_entry(std::uint32_t index);
    std::uint32_t interface_word(std::size_t offset) { return sram_[interface_at + offset]; }
    void event(abi::myvia::event_kind kind, std::uint32_t vi, std::uint32_t argument,
               std::span<const std::byte> payload = {});
    void complete(std::uint32_t vi, bool receive, std::uint32_t immediate, std::uint32_t length,
                  std::uint32_t status);

private:
    friend class fake_network;
    class fake_window;

    void store(std::uint32_t offset, std::uint32_t word);
    std::uint32_t load(std::uint32_t offset);
    void start();
    std::uint32_t execute();
    std::uint32_t disconnect(std::uint32_t vi, std::uint32_t next, bool keep);
    void flush(std::uint32_t vi);
    void take_doorbells(std::uint32_t process);
    void ring(const abi::myvia::doorbell& what);
    void arm(ring_state& of, std::uint32_t vi, bool receive, std::uint32_t seen);
    void run_sends(std::uint32_t vi);
    void deliver(std::uint32_t vi, std::uint32_t key, const std::vector<std::byte>& payload,
                 std::uint32_t immediate, bool has_immediate);
    abi::myvia::slot read_slot(host::physical_address at);
    std::uint32_t move(host::physical_address slot, std::vector<std::byte>& bytes, bool into_memory);
    void write(host::physical_address at, std::span<const std::byte> bytes);
    void write_big(host::physical_address at, std::uint32_t word);
    std::uint32_t argument(unsigned index);

    host::cpu& cpu_;
    fake_network& network_;
    unsigned number_;
    std::map<std::uint32_t, std::uint32_t> sram_;  ///< words, in the machine's byte order
    std::array<host::physical_address, max_processes> host_pages_{};
    std::uint32_t events_ = 0;
    bool host_signal_ = false;
};

}  // namespace vinic::driver::test
