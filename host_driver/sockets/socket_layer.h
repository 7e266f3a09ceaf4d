// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "host_driver/ethernet_device.h"
#include "host_driver/sockets/internet.h"
#include "hw/host/cpu.h"
#include "hw/host/process.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"
#include "hw/sim/unit.h"

namespace vinic::driver {

class tcp_connection;

struct internet_address {
    std::uint32_t host = 0;  ///< 10.0.0.1 is node 0
    std::uint16_t port = 0;
    auto operator<=>(const internet_address&) const = default;
};

constexpr std::uint32_t host_of_node(unsigned node) { return 0x0A00'0001u + node; }

enum class socket_type { datagram, stream };

/// What a call answers instead of a result: the names of errno.
enum class socket_error {
    none = 0,
    again,          ///< EAGAIN: nothing there, and the caller does not wait; or the time is over
    bad_file,       ///< EBADF
    fault,          ///< EFAULT: not the process's memory
    in_use,         ///< EADDRINUSE
    invalid,        ///< EINVAL
    refused,        ///< ECONNREFUSED
    reset,          ///< ECONNRESET
    not_connected,  ///< ENOTCONN
    too_long,       ///< EMSGSIZE
    timed_out,      ///< ETIMEDOUT
    unreachable,    ///< ENETUNREACH
    no_port         ///< EADDRNOTAVAIL: none is free
};
const char* name_of(socket_error e);

/// Bytes or a descriptor, or why not.
struct socket_result {
    std::int64_t value = 0;
    socket_error error = socket_error::none;
};

enum class socket_option { receive_buffer, send_buffer, no_delay, receive_timeout_us };

/// UDP and TCP over IPv4 in the kernel of a node, for the Ethernet device: each thing that software does is a
/// parameter. Sockets are numbered for the whole node. All calls are system calls.
///
/// Out: a process's call goes down to the transmit ring, with a copy from its memory and a checksum over it.
/// In: the interrupt handler only queues what came; protocols run after it (softirq), up to the socket's
/// queue; a waiting process is woken and copies.
class socket_layer : public sim::module {
public:
    sim::parameter<std::uint64_t> socket_clocks;
    sim::parameter<double> checksum_bytes_per_clock;
    sim::parameter<double> checksum_cold_bytes_per_clock;
    sim::parameter<std::uint64_t> buffer_clocks;
    sim::parameter<std::uint64_t> udp_send_clocks;
    sim::parameter<std::uint64_t> udp_receive_clocks;
    sim::parameter<std::uint64_t> tcp_send_clocks;
    sim::parameter<std::uint64_t> tcp_receive_clocks;
    sim::parameter<std::uint64_t> tcp_acknowledge_clocks;
    sim::parameter<std::uint64_t> ip_send_clocks;
    sim::parameter<std::uint64_t> ip_receive_clocks;
    sim::parameter<std::uint64_t> fragment_clocks;
    sim::parameter<std::uint64_t> backlog_clocks;
    sim::parameter<std::uint64_t> softirq_clocks;
    sim::parameter<std::uint64_t> wake_clocks;
    sim::parameter<std::uint64_t> receive_buffer_bytes;
    sim::parameter<std::uint64_t> send_buffer_bytes;
    sim::parameter<std::uint64_t> reassembly_datagrams;
    sim::parameter<std::uint64_t> initial_window_segments;
    sim::parameter<std::uint64_t> delayed_ack_us;
    sim::parameter<std::uint64_t> retransmit_us;
    sim::parameter<std::uint64_t> retransmit_tries;
    sim::parameter<std::uint64_t> start_poll_us;

    sim::counter<sim::unit::messages> messages;
    sim::counter<sim::unit::packets> packets_sent;
    sim::counter<sim::unit::packets> packets_received;
    sim::counter<sim::unit::packets> packets_dropped;
    sim::counter<sim::unit::messages> datagrams_sent;
    sim::counter<sim::unit::messages> datagrams_received;
    sim::counter<sim::unit::messages> datagrams_dropped;
    sim::counter<sim::unit::packets> segments_sent_again;
    sim::counter<sim::unit::packets> acknowledgements_sent;
    sim::counter<sim::unit::events> softirqs;

    /// Calls of programs, and what the kernel does for a message, step by step: `message` is the layer's
    /// count of calls that sent something, `number` that of the transmit or receive descriptor, `sequence` of
    /// a stream the number behind the last byte (0 for datagrams).
    sim::span_probe call_probe;
    sim::span_probe send_probe;
    sim::span_probe receive_probe;

    socket_layer(const sc_core::sc_module_name& name, host::cpu& cpu, ethernet_device& device);
    ~socket_layer() override;

    socket_result socket(host::process& on, socket_type type);
    socket_result bind(host::process& on, int fd, std::uint16_t port);
    socket_result listen(host::process& on, int fd);
    socket_result accept(host::process& on, int fd, internet_address& peer);
    socket_result connect(host::process& on, int fd, const internet_address& to);
    socket_result send(host::process& on, int fd, host::virtual_address from, std::uint64_t bytes);
    socket_result sendto(host::process& on, int fd, host::virtual_address from, std::uint64_t bytes,
                         const internet_address& to);
    socket_result recv(host::process& on, int fd, host::virtual_address into, std::uint64_t bytes, bool wait);
    socket_result recvfrom(host::process& on, int fd, host::virtual_address into, std::uint64_t bytes,
                           bool wait, internet_address& from);
    socket_result setsockopt(host::process& on, int fd, socket_option what, std::uint64_t value);
    socket_result close(host::process& on, int fd);

    std::uint32_t own_host() const { return host_; }

private:
    friend class tcp_connection;

    struct datagram {
        internet::bytes bytes;
        internet_address from;
        std::uint32_t number = 0;
    };
    struct socket_state {
        explicit socket_state(const std::string& what) : readable("data on " + what) {}
        socket_type type = socket_type::datagram;
        std::optional<internet_address> local;
        std::optional<internet_address> remote;
        std::uint64_t receive_buffer = 0;
        std::uint64_t send_buffer = 0;
        bool no_delay = false;
        std::uint64_t receive_timeout_us = 0;
        // Datagrams.
        std::deque<datagram> queue;
        std::uint64_t queued_bytes = 0;
        // Streams.
        bool listening = false;
        std::shared_ptr<tcp_connection> connection;
        std::deque<std::shared_ptr<tcp_connection>> accepted;
        host::wait_queue readable;
    };
    using socket_ptr = std::shared_ptr<socket_state>;
    using connection_key = std::tuple<std::uint16_t, std::uint32_t, std::uint16_t>;
    struct arrival {
        internet::bytes packet;
        std::uint32_t number;
    };
    struct partial {
        std::map<std::uint16_t, internet::bytes> pieces;  ///< by offset
        std::optional<std::size_t> total;
    };
    using partial_key = std::tuple<std::uint32_t, std::uint16_t, std::uint8_t>;

    /// What a call has taken from the socket: up to where, and the frame that brought the last of it.
    struct taking {
        std::uint32_t number = 0;
        std::uint32_t sequence = 0;
    };

    template <typename F>
    socket_result call(host::process& on, const char* what, F&& in_kernel);
    socket_ptr find(int fd) const;
    /// None when all are taken.
    std::optional<std::uint16_t> free_port();
    /// Gives a socket an address of its own, if it has none; false when no port is free.
    bool give_address(socket_state& s);
    sim::picoseconds deadline_of(const socket_state& s, bool wait) const;
    static host::clocks checksum_clocks(std::uint64_t bytes, double bytes_per_clock);
    void wake(host::context& on, host::wait_queue& queue);
    void wake_reader(host::context& on, host::wait_queue& queue, std::uint32_t number);
    void wait_for_device(host::process& on);

    // --- IP.
    std::optional<std::uint32_t> send_packet(host::context& on, std::uint32_t to, internet::protocol protocol,
                                             std::uint16_t identification, std::uint16_t offset, bool more,
                                             std::span<const std::byte> payload);
    void softirq(host::context& on);
    void receive_packet(host::context& on, const arrival& what);
    std::optional<internet::bytes> reassemble(host::context& on, const internet::ip_header& h,
                                              std::span<const std::byte> piece);

    // --- UDP.
    socket_result send_datagram(host::process& on, const socket_ptr& from, host::virtual_address at,
                                std::uint64_t bytes, const internet_address& to, std::uint64_t message);
    socket_result receive_datagram(host::process& on, const socket_ptr& to, host::virtual_address at,
                                   std::uint64_t bytes, bool wait, internet_address& from,
                                   std::uint32_t& number);
    void receive_udp(host::context& on, const internet::ip_header& h, std::span<const std::byte> bytes,
                     std::uint32_t number);

    // --- TCP.
    socket_result send_stream(host::process& on, tcp_connection& to, host::virtual_address from,
                              std::uint64_t bytes, std::uint64_t message);
    socket_result receive_stream(host::process& on, tcp_connection& from, host::virtual_address into,
                                 std::uint64_t bytes, sim::picoseconds deadline, taking& taken);
    void receive_tcp(host::context& on, const internet::ip_header& h, std::span<const std::byte> bytes,
                     std::uint32_t number);
    void send_reset(host::context& on, const internet::ip_header& h, const internet::tcp_header& to);
    std::shared_ptr<tcp_connection> make_connection(const internet_address& local,
                                                    const internet_address& remote, const socket_state& of);
    void room(host::context& on);
    void plan();
    void expired(host::context& on);

    host::cpu& cpu_;
    ethernet_device& device_;
    std::uint32_t host_;
    host::wait_queue room_;
    std::uint64_t messages_ = 0;
    std::uint16_t identification_ = 0;
    int next_fd_ = 3;
    std::uint16_t next_port_ = 32768;
    std::map<int, socket_ptr> sockets_;
    std::map<std::uint16_t, socket_ptr> datagram_ports_;
    std::map<std::uint16_t, socket_ptr> listeners_;
    std::map<connection_key, std::shared_ptr<tcp_connection>> connections_;
    std::deque<arrival> backlog_;
    bool in_softirq_ = false;
    std::map<partial_key, partial> partials_;
    std::deque<partial_key> partial_order_;
    sim::timer timer_;
    bool timer_posted_ = false;
};

}  // namespace vinic::driver
