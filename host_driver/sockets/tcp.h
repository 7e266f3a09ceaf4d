// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "host_driver/sockets/internet.h"
#include "host_driver/sockets/socket_layer.h"
#include "hw/host/process.h"
#include "hw/sim/time.h"

namespace vinic::driver {

/// A connection of TCP (RFC 793, 1122, 2581): sliding window, segments of at most the MSS, cumulative and
/// delayed acknowledgements, slow start and congestion avoidance, fast retransmission, time-outs that double.
/// No window scaling, time stamps or selective acknowledgements.
class tcp_connection : public std::enable_shared_from_this<tcp_connection> {
public:
    enum class state { syn_sent, syn_received, established, closed };

    tcp_connection(socket_layer& layer, const internet_address& local, const internet_address& remote,
                   std::uint16_t mss, std::uint64_t send_buffer, std::uint64_t receive_buffer);

    const internet_address& local() const { return local_; }
    const internet_address& remote() const { return remote_; }
    state at() const { return state_; }
    socket_error why() const { return why_; }
    void set_no_delay(bool yes) { no_delay_ = yes; }

    /// From the client's connect, and from a listener that has a SYN.
    void open(host::context& on);
    void open_passively(host::context& on, const internet::tcp_header& syn);
    /// A segment for this connection has come; `accepted`: the handshake is over with it.
    void input(host::context& on, const internet::tcp_header& h, std::span<const std::byte> payload,
               std::uint32_t number, bool& accepted);
    /// Sends what may be sent, an acknowledgement that is due included.
    void output(host::context& on);
    void close(host::context& on);

    std::uint64_t send_room() const;
    /// Bytes of a whole segment.
    std::uint64_t piece() const { return mss_; }
    /// The next so many bytes that are appended are that message, for those who watch.
    void begin_message(std::uint64_t message, std::uint64_t bytes);
    void append(std::span<const std::byte> bytes);
    std::uint64_t readable_bytes() const { return received_.size(); }
    bool at_end() const { return peer_closed_ || state_ == state::closed; }
    /// The receive descriptor that brought the last of the next so many bytes.
    std::uint32_t number_of(std::uint64_t bytes) const;
    internet::bytes take(std::uint64_t bytes);
    /// Sequence number of the byte that the program reads next.
    std::uint32_t taken() const { return taken_; }
    /// After a program has read: tells the peer of the room, if that is news.
    void read_done(host::context& on);

    sim::picoseconds due() const { return std::min(retransmit_at_, acknowledge_at_); }
    void on_time(host::context& on);
    void room(host::context& on);
    bool over() const;

    host::wait_queue connected;
    host::wait_queue readable;
    host::wait_queue writable;
    /// One process at a time takes bytes, and one brings some: the others wait for their turn.
    host::wait_queue reader_done;
    host::wait_queue writer_done;
    bool read_from = false;
    bool written_to = false;

private:
    /// A message of the program, up to the sequence number `end`.
    struct message {
        std::uint32_t end;
        std::uint64_t number;
        std::uint64_t bytes;
    };
    /// What came in one frame, up to the sequence number `end`.
    struct arrival {
        std::uint32_t end;
        std::uint32_t number;
    };
    struct held_segment {
        internet::bytes bytes;
        std::uint32_t number;
    };

    bool next_segment(host::context& on);
    bool something_to_send() const;
    std::uint64_t sendable(bool& fin) const;
    std::optional<std::uint32_t> transmit(host::context& on, std::uint8_t flags, std::uint32_t sequence,
                                          std::span<const std::byte> payload);
    bool transmit_data(host::context& on, sim::picoseconds begin, bool with_fin, std::uint32_t sequence,
                       std::span<const std::byte> payload);
    template <typename F>
    void for_each_message(std::uint32_t begin, std::uint32_t end, F use) const;
    void acknowledged(host::context& on, const internet::tcp_header& h, bool pure);
    void retransmit_first(host::context& on);
    void accept_data(host::context& on, std::uint32_t sequence, std::span<const std::byte> payload, bool fin,
                     std::uint32_t number);
    void fail(host::context& on, socket_error why);
    std::uint32_t flight() const { return next_ - unacknowledged_; }
    std::uint16_t window() const;
    void arm();

    socket_layer& layer_;
    internet_address local_;
    internet_address remote_;
    state state_ = state::closed;
    socket_error why_ = socket_error::none;
    std::uint32_t mss_;
    std::uint64_t send_buffer_bytes_;
    std::uint64_t receive_buffer_bytes_;
    bool no_delay_ = false;

    // Sending.
    internet::bytes to_send_;       ///< from `unacknowledged_` on
    std::deque<message> messages_;  ///< of which bytes are there
    std::uint32_t unacknowledged_ = 0;
    std::uint32_t next_ = 0;
    std::uint32_t highest_ = 0;  ///< one beyond the highest ever sent
    std::uint32_t peer_window_ = 0;
    std::uint64_t congestion_window_;
    std::uint64_t threshold_ = 65535;
    unsigned duplicates_ = 0;
    bool recovering_ = false;
    std::uint32_t recover_ = 0;
    bool close_wanted_ = false;
    bool fin_sent_ = false;
    bool probe_ = false;  ///< one byte goes out although the peer has no room
    bool sending_ = false;
    bool wants_room_ = false;
    unsigned tries_ = 0;
    sim::picoseconds retransmit_at_ = sim::never;

    // Receiving.
    internet::bytes received_;      ///< from `taken_` on
    std::deque<arrival> arrivals_;  ///< that brought it
    std::uint32_t taken_ = 0;
    std::map<std::uint32_t, held_segment> out_of_order_;  ///< by distance from the first byte of all
    std::uint32_t first_ = 0;                             ///< the peer's first sequence number
    std::uint32_t expected_ = 0;
    std::uint32_t advertised_ = 0;  ///< end of the window that the peer knows
    bool peer_closed_ = false;
    unsigned owed_ = 0;  ///< segments not acknowledged
    bool acknowledge_now_ = false;
    sim::picoseconds acknowledge_at_ = sim::never;
};

}  // namespace vinic::driver
