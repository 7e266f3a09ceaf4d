// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hw/sim/probe.h"
#include "hw/sim/time.h"
#include "traces/anatomy.h"
#include "traces/stage.h"

namespace vinic::traces {

/// Follows the messages that a kernel carries over Ethernet cards (M-VIA, UDP, TCP) from the call that sends
/// to the call that receives, and gives each to an anatomy: every stage from the probes of the software and
/// blocks that it passes, each beginning where the one before ends. Of a message of several frames the last
/// one is followed.
class kernel_path : public sim::listener {
public:
    explicit kernel_path(anatomy& to);

    void on_value(const sim::value_probe&, sim::picoseconds at, std::uint64_t bits,
                  std::uint64_t floating) override;
    void on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end, std::string_view what,
                 std::span<const sim::field> fields) override;
    void on_packet(const sim::packet_probe&, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                   std::string_view note, std::span<const sim::field> fields) override;

private:
    enum class source : std::uint8_t {
        vi_call,
        vi_send,
        vi_receive,
        socket_call,
        socket_send,
        socket_receive,
        driver_transmit,
        driver_receive,
        driver_handler,
        register_write,
        interrupt,
        ring_fetch,
        ring_status,
        part,
        frame_sent,
        frame_received,
        fifo_wait,
        data
    };
    struct span {
        sim::picoseconds begin = 0;
        sim::picoseconds end = 0;
    };
    struct step {
        journey part;
        activity what;
        sim::picoseconds end;
    };
    /// A message on its sender: what the software did, from its last but one frame on.
    struct outgoing {
        sim::picoseconds begin = 0;
        sim::picoseconds earlier = 0;  ///< when its last but one frame was on the ring
        std::vector<step> steps;
        std::uint64_t bytes = 0;
        std::uint64_t frames = 0;
        std::uint32_t end = 0;  ///< of a stream: sequence number behind its last byte
    };
    using outgoing_ptr = std::shared_ptr<outgoing>;
    /// A frame on its way, as far as it has come.
    struct frame {
        std::vector<outgoing_ptr> messages;  ///< whose last frame it is
        std::string sender;
        std::uint64_t first = 0, last = 0;  ///< descriptors
        span software;                      ///< of the sender's driver
        sim::picoseconds doorbell = 0;
        span fetch, gather;
        sim::picoseconds sent = 0;
        std::vector<std::uint8_t> bytes;
        sim::picoseconds arrived = 0;
        span scatter;
        sim::picoseconds noted = 0;
        sim::picoseconds asserted = 0;
        span handler;
        std::vector<step> steps;  ///< of the receiver's software
        bool woken = false;
    };
    using message_map = std::map<std::uint64_t, outgoing_ptr>;
    /// What a card's kernel and the card itself do; sockets belong to the first one of a node.
    struct card {
        std::string name;
        message_map vi_messages, socket_messages;
        std::map<std::uint64_t, std::uint64_t> last_of_vi;    ///< the message that was posted last
        std::map<std::uint64_t, frame> transmit;              ///< by number of the last descriptor
        std::map<std::uint64_t, span> fetches, parts;         ///< by descriptor
        std::map<std::uint64_t, sim::picoseconds> doorbells;  ///< by descriptors posted
        std::deque<frame> flying;
        std::deque<frame> arrivals;  ///< in the FIFO
        std::map<std::uint64_t, frame> receive;
        std::map<std::uint64_t, std::uint64_t> number_of_slot;
        std::deque<sim::picoseconds> assertions;
        span handler;
    };
    struct place {
        source what;
        card* at;  ///< of a call of VIPL, the first one of the node
    };

    void sending(message_map& messages, card& on, std::string_view what, const span& when,
                 std::span<const sim::field> fields);
    static void sent(card& on, std::uint64_t first, sim::picoseconds at, std::span<const std::uint8_t> bytes);
    void arrived(card& on, sim::picoseconds at, std::span<const std::uint8_t> bytes);
    static void receiving(card& on, std::string_view what, const span& when,
                          std::span<const sim::field> fields);
    void finish(card& on, std::uint64_t number, std::uint64_t sequence, const span& call, bool by_library);
    void account(const frame& f, const outgoing& m, const std::string& receiver, const span& call,
                 bool by_library);

    anatomy& to_;
    card& called(card& first, std::uint64_t number);

    std::map<std::string, card> cards_;                    ///< by name: "node0.nic1"
    std::unordered_map<const sim::probe*, place> places_;  // looked up, never walked
};

}  // namespace vinic::traces
