// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "firmware/abi/wire_format.h"
#include "hw/sim/probe.h"
#include "traces/message_listener.h"
#include "traces/message_path.h"

namespace vinic::traces {

/// Follows each message that is sent and received, from probes alone: calls of VIPL, writes that the card
/// takes, blocks of host DMA, packets in the card's SRAM. What belongs to which message follows from
/// firmware/abi: doorbells name their VI, packets carry connection and sequence number, descriptors have a
/// place in host memory.
class account : public sim::listener {
public:
    /// Attaches to the probes of the current simulation that it needs.
    account();

    void tell(message_listener& who) { listeners_.push_back(&who); }

    /// Messages that were followed to the end, in order of arrival at the program.
    const std::vector<message_path>& messages() const { return finished_; }
    /// Messages posted and not arrived (lost, flushed, RDMA without receive descriptor, still under way).
    std::size_t unfinished() const;

    void on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end, std::string_view what,
                 std::span<const sim::field> fields) override;
    void on_packet(const sim::packet_probe&, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                   std::string_view note, std::span<const sim::field> fields) override;

private:
    enum class source : std::uint8_t { call, card_write, doorbell, dma, sent, received };
    struct path {
        message_path message;
        std::uint64_t slot = 0;          ///< of the send descriptor: address of its status word
        std::uint64_t receive_slot = 0;  ///< likewise at the receiver
        std::uint64_t buffer = 0;        ///< SRAM of the packet, at the receiver
        std::uint64_t buffer_end = 0;
    };
    using path_ptr = std::shared_ptr<path>;
    /// A span that a probe reported.
    struct interval {
        const sim::probe* by;
        sim::picoseconds begin;
        sim::picoseconds end;
    };
    struct block {
        interval when;
        std::uint64_t local;

        /// Into these bytes of the SRAM, not begun before that time.
        bool brought(std::uint64_t address, std::uint64_t bytes, sim::picoseconds since) const {
            return local >= address && local < address + bytes && when.begin >= since;
        }
    };
    struct vi_side {
        std::deque<path_ptr> unrung;              ///< posted, doorbell not seen
        std::deque<path_ptr> unsent;              ///< posted, first packet not seen
        path_ptr sending;                         ///< between its first and last packet
        std::uint64_t next_sequence = 0;          ///< packets below it are sent again
        std::deque<std::uint64_t> receive_slots;  ///< posted and not yet given to a message
    };
    struct card {
        std::map<std::uint32_t, vi_side> vis;
        std::uint64_t posted = 0;         ///< messages
        std::deque<block> to_card;        ///< recent blocks from the host
        std::vector<path_ptr> unfetched;  ///< rung, descriptor not fetched
        std::vector<path_ptr> arrived;    ///< received, not completed or not taken
    };
    struct place {
        source what;
        std::string owner;  ///< the card's name; of a call the node's
        card* at;           ///< null for a call
    };
    /// connection key, source VI, destination VI, sequence
    using packet_name = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

    void called(const std::string& node, const interval& when, std::string_view what,
                std::span<const sim::field> fields);
    void taken(card& at, std::uint64_t slot, const interval& when);
    path_ptr rung(card& at, const interval& when, std::uint32_t vi);
    void written(card& at, const interval& when, std::span<const sim::field> fields);
    void transferred(card& at, const interval& when, bool to_card, std::span<const sim::field> fields);
    void sent(card& at, const interval& when, std::span<const std::uint8_t> bytes, std::uint64_t address);
    void received(const std::string& name, const interval& when, std::span<const std::uint8_t> bytes,
                  std::uint64_t address);
    void tell_more_payload(const card& at, const message_path& m, std::uint64_t address,
                           std::uint64_t bytes) const;
    void tell_step(const path& p, checkpoint what, const interval& when);
    void finish(path& p);

    std::unordered_map<const sim::probe*, place> places_;  // looked up, never walked
    std::map<std::string, card> cards_;
    /// Both directions of a connection may have the same name: VIs of one number, at the same sequence. No VI
    /// is connected to itself, so of two the one that another card sent is meant.
    std::map<packet_name, std::vector<path_ptr>> on_wire_;
    std::vector<message_path> finished_;
    std::size_t posted_ = 0;
    std::vector<message_listener*> listeners_;
};

}  // namespace vinic::traces
