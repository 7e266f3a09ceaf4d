// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traces/history.h"
#include "traces/stage.h"

namespace vinic::traces {

/// What an account told of a message, step by step.
struct message_events {
    struct span {
        const sim::probe* by = nullptr;  ///< null: the message did not take this step
        sim::picoseconds begin = 0;
        sim::picoseconds end = 0;
    };
    struct packet {
        sim::picoseconds at = 0;
        std::uint64_t address = 0;  ///< in the card's SRAM; of a hardwired card, its number
        std::uint64_t bytes = 0;
    };
    span post, doorbell, descriptor, first_payload, last_payload, data, completion, taken;
    packet sent;                       ///< the last one
    packet received;                   ///< likewise
    std::uint64_t vi = 0;              ///< of the sender
    std::uint64_t receive_status = 0;  ///< bus address of the status word of the receive descriptor
};

/// Lays the path of one message, checkpoint by checkpoint, from what is known of it and what its cards and
/// their nodes did meanwhile.
class path_builder {
public:
    path_builder(const history& all, const history::card& sender, const history::card& receiver,
                 const message_events& events)
        : all_(all), sender_(sender), receiver_(receiver), events_(events), at_(events.post.begin) {}

    void build();
    std::vector<interval> path;
    std::vector<interval> beside;

private:
    /// SRAM that somebody must read to know what has happened.
    struct range {
        std::uint64_t address;
        std::uint64_t bytes;
        bool holds(std::uint64_t a) const { return a >= address && a < address + bytes; }
    };

    void to(sim::picoseconds when, journey part, activity what);
    void off_path(journey part, activity what, sim::picoseconds begin, sim::picoseconds end);

    void doorbell();
    void descriptor();
    void payload();
    void send();
    void wire();
    void delivery();
    void take(sim::picoseconds completed);

    // Hardwired cards (engine_path.cpp)
    void engine_descriptor();
    void engine_payload();
    void engine_send();
    void engine_delivery();
    void on_bus(const history::card& of, journey part, const history::engine_step& s);

    sim::picoseconds notice(const history::card& by, journey part, sim::picoseconds until,
                            std::span<const range> where);
    void block(const history::card& of, journey part, const history::dma_block& b);
    void on_bus(const history::card& of, journey part, const history::dma_block& b);

    const history& all_;
    const history::card& sender_;
    const history::card& receiver_;
    const message_events& events_;
    sim::picoseconds at_;  ///< how far the path goes
};

}  // namespace vinic::traces
