// SPDX-License-Identifier: Apache-2.0

// Parameters, calls, and what UDP and TCP share: IP, the softirq, time. udp.cpp and tcp.cpp have the
// protocols.
#include "host_driver/sockets/socket_layer.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "host_driver/sockets/tcp.h"
#include "hw/sim/duration.h"
#include "hw/sim/time.h"

namespace vinic::driver {

namespace {

using number_spec = sim::parameter_spec<std::uint64_t>;

number_spec cost(const char* name, std::uint64_t clocks, const char* help) {
    return {.name = name, .unit = "clocks", .value = clocks, .min = 0, .max = 1'000'000, .help = help};
}

number_spec buffer(const char* name, const char* help) {
    return {.name = name, .unit = "bytes", .value = 65535, .min = 2048, .max = 16'777'216, .help = help};
}

number_spec microseconds(const char* name, std::uint64_t value, const char* help) {
    return {.name = name, .unit = "us", .value = value, .min = 1, .max = 100'000'000, .help = help};
}

/// As its administrator gave them out: node n has card address ...n and host 10.0.0.1 + n.
node_address card_of(std::uint32_t host) { return make_node_address(host - host_of_node(0), 0); }
std::uint32_t host_of(const node_address& card) {
    return host_of_node(unsigned{card[3]} << 16 | unsigned{card[4]} << 8 | card[5]);
}

}  // namespace

const char* name_of(socket_error e) {
    static constexpr std::array<const char*, 13> names{
        "",           "EAGAIN",   "EBADF",    "EFAULT",    "EADDRINUSE",  "EINVAL",       "ECONNREFUSED",
        "ECONNRESET", "ENOTCONN", "EMSGSIZE", "ETIMEDOUT", "ENETUNREACH", "EADDRNOTAVAIL"};
    return names[static_cast<std::size_t>(e)];
}

socket_layer::socket_layer(const sc_core::sc_module_name& name, host::cpu& cpu, ethernet_device& device)
    : sim::module(name),
      socket_clocks(*this, cost("socket_clocks", 450, "a call on a socket: file, lock, checks")),
      checksum_bytes_per_clock(*this,
                               {.name = "checksum_bytes_per_clock",
                                .unit = "bytes/clock",
                                .value = 1.5,
                                .min = 0.01,
                                .max = 1e6,
                                .help = "checksum over data that has just been copied; very fast: the card "
                                        "does it"}),
      checksum_cold_bytes_per_clock(
          *this, {.name = "checksum_cold_bytes_per_clock",
                  .unit = "bytes/clock",
                  .value = 0.45,
                  .min = 0.01,
                  .max = 1e6,
                  .help = "checksum over data that the card has just written, which no cache holds (TCP "
                          "checks a segment before anybody copies it); very fast: the card does it"}),
      buffer_clocks(*this, cost("buffer_clocks", 300, "a packet's buffer: allocated, or given back")),
      udp_send_clocks(*this, cost("udp_send_clocks", 400, "UDP: header and route of a datagram")),
      udp_receive_clocks(*this, cost("udp_receive_clocks", 400, "UDP: header, socket, its queue")),
      tcp_send_clocks(*this, cost("tcp_send_clocks", 900, "TCP: a segment out")),
      tcp_receive_clocks(*this,
                         cost("tcp_receive_clocks", 1000, "TCP: a segment in: connection, state, queue")),
      tcp_acknowledge_clocks(*this,
                             cost("tcp_acknowledge_clocks", 400, "TCP: an acknowledgement made or read")),
      ip_send_clocks(
          *this, cost("ip_send_clocks", 500, "IP: a packet out: route, header, filter, queue of the device")),
      ip_receive_clocks(*this,
                        cost("ip_receive_clocks", 500, "IP: a packet in: header, filter, route, protocol")),
      fragment_clocks(*this, cost("fragment_clocks", 300, "IP: a fragment made or put in its place")),
      backlog_clocks(*this,
                     cost("backlog_clocks", 150, "interrupt handler: a packet is queued for the softirq")),
      softirq_clocks(*this,
                     cost("softirq_clocks", 300, "from the interrupt handler's end to the first packet")),
      wake_clocks(*this, cost("wake_clocks", 400, "waking a process, for the one who wakes")),
      receive_buffer_bytes(*this, buffer("receive_buffer_bytes",
                                         "a socket's receive buffer, unless it asks for more; "
                                         "the window of TCP, at most 65535")),
      send_buffer_bytes(
          *this, buffer("send_buffer_bytes", "a stream socket's send buffer, unless it asks for more")),
      reassembly_datagrams(*this, {.name = "reassembly_datagrams",
                                   .unit = "datagrams",
                                   .value = 64,
                                   .min = 1,
                                   .max = 4096,
                                   .help = "datagrams in pieces; the oldest is given up for one more"}),
      initial_window_segments(*this, {.name = "initial_window_segments",
                                      .unit = "segments",
                                      .value = 2,
                                      .min = 1,
                                      .max = 64,
                                      .help = "TCP: congestion window of a new connection",
                                      .source = "RFC 2581"}),
      delayed_ack_us(
          *this, microseconds("delayed_ack_us", 40'000, "TCP: the longest that an acknowledgement waits")),
      retransmit_us(*this, microseconds("retransmit_us", 200'000, "TCP: least retransmission time")),
      retransmit_tries(*this, {.name = "retransmit_tries",
                               .unit = "tries",
                               .value = 15,
                               .min = 1,
                               .max = 100,
                               .help = "TCP: time-outs without progress before a connection is lost"}),
      start_poll_us(*this, microseconds("start_poll_us", 20,
                                        "pause of a program that wants a socket before the kernel agent has "
                                        "switched the card on")),
      messages(*this, "messages", "calls of programs that sent something"),
      packets_sent(*this, "packets_sent", "IP packets sent"),
      packets_received(*this, "packets_received", "IP packets received"),
      packets_dropped(*this, "packets_dropped", "IP packets of no use, or damaged"),
      datagrams_sent(*this, "datagrams_sent", "UDP datagrams sent"),
      datagrams_received(*this, "datagrams_received", "UDP datagrams that a socket took"),
      datagrams_dropped(*this, "datagrams_dropped",
                        "UDP datagrams without a socket, or for which it had no room"),
      segments_sent_again(*this, "segments_sent_again", "TCP segments sent more than once"),
      acknowledgements_sent(*this, "acknowledgements_sent", "TCP segments that only acknowledge"),
      softirqs(*this, "softirqs", "times that protocols ran after an interrupt"),
      call_probe(*this, "call", "a call of a program, from its trap to its return"),
      send_probe(*this, "send", "the kernel sends a datagram, step by step"),
      receive_probe(*this, "receive", "the kernel receives a packet, step by step"),
      cpu_(cpu),
      device_(device),
      host_(host_of(device.address())),
      room_("room on the transmit ring of " + std::string(this->name())),
      timer_([this] {
          timer_posted_ = true;
          cpu_.post_interrupt([this](host::context& on) { expired(on); });
      }) {
    device_.listen(internet::ethertype, [this](host::context& on, const ethernet_device::frame& f) {
        const sim::picoseconds begin = sim::now();
        on.compute(backlog_clocks);
        backlog_.push_back({{f.payload.begin(), f.payload.end()}, f.number});
        receive_probe.report(begin, sim::now(), "backlog", {{"number", f.number}});
    });
    device_.after_interrupt([this](host::context& on) { softirq(on); });
    device_.on_room([this](host::context& on) { room(on); });
}

socket_layer::~socket_layer() = default;

// --- Calls ----------------------------------------------------------------------------------------------

template <typename F>
socket_result socket_layer::call(host::process& on, const char* what, F&& in_kernel) {
    const sim::picoseconds begin = sim::now();
    std::uint64_t message = 0, bytes = 0;
    taking taken;
    const socket_result result = on.trap([&] {
        on.compute(socket_clocks);
        return in_kernel(begin, message, taken);
    });
    if (result.error == socket_error::none) bytes = static_cast<std::uint64_t>(result.value);
    call_probe.report(begin, sim::now(), what,
                      {{"message", message},
                       {"number", taken.number},
                       {"sequence", taken.sequence},
                       {"bytes", bytes},
                       {"process", on.number()}});
    return result;
}

socket_layer::socket_ptr socket_layer::find(int fd) const {
    const auto found = sockets_.find(fd);
    return found == sockets_.end() ? nullptr : found->second;
}

/// A socket needs its card, which the kernel agent switches on.
void socket_layer::wait_for_device(host::process& on) {
    while (!device_.started()) on.sleep_for(start_poll_us * sim::microsecond);
}

socket_result socket_layer::socket(host::process& on, socket_type type) {
    return call(on, "socket", [&](auto...) {
        wait_for_device(on);
        const int fd = next_fd_++;
        const auto fresh = std::make_shared<socket_state>("socket " + std::to_string(fd));
        fresh->type = type;
        fresh->receive_buffer = receive_buffer_bytes;
        fresh->send_buffer = send_buffer_bytes;
        sockets_[fd] = fresh;
        return socket_result{fd};
    });
}

std::optional<std::uint16_t> socket_layer::free_port() {
    constexpr std::uint16_t first = 32768, last = 60999;
    for (unsigned tries = first; tries <= last; ++tries) {
        const std::uint16_t port = next_port_;
        next_port_ = port == last ? first : static_cast<std::uint16_t>(port + 1);
        const auto connection = connections_.lower_bound({port, 0, 0});
        const bool connected = connection != connections_.end() && std::get<0>(connection->first) == port;
        if (!connected && !datagram_ports_.contains(port) && !listeners_.contains(port)) return port;
    }
    return {};
}

bool socket_layer::give_address(socket_state& s) {
    if (s.local) return true;
    const auto port = free_port();
    if (port) s.local = {host_, *port};
    return port.has_value();
}

socket_result socket_layer::bind(host::process& on, int fd, std::uint16_t port) {
    return call(on, "bind", [&](auto...) -> socket_result {
        const socket_ptr s = find(fd);
        if (!s) return {0, socket_error::bad_file};
        if (s->local) return {0, socket_error::invalid};
        if (port == 0) port = free_port().value_or(0);
        if (port == 0) return {0, socket_error::in_use};
        auto& ports = s->type == socket_type::datagram ? datagram_ports_ : listeners_;
        if (ports.contains(port)) return {0, socket_error::in_use};
        s->local = {host_, port};
        if (s->type == socket_type::datagram) ports[port] = s;
        return {};
    });
}

socket_result socket_layer::listen(host::process& on, int fd) {
    return call(on, "listen", [&](auto...) -> socket_result {
        const socket_ptr s = find(fd);
        if (!s) return {0, socket_error::bad_file};
        if (s->type != socket_type::stream || !s->local) return {0, socket_error::invalid};
        if (!listeners_.emplace(s->local->port, s).second) return {0, socket_error::in_use};
        s->listening = true;
        return {};
    });
}

socket_result socket_layer::accept(host::process& on, int fd, internet_address& peer) {
    return call(on, "accept", [&](auto...) -> socket_result {
        const socket_ptr s = find(fd);
        if (!s) return {0, socket_error::bad_file};
        if (!s->listening) return {0, socket_error::invalid};
        while (s->accepted.empty()) on.block(s->readable);
        const int made = next_fd_++;
        const auto fresh = std::make_shared<socket_state>("socket " + std::to_string(made));
        fresh->type = socket_type::stream;
        fresh->connection = s->accepted.front();
        s->accepted.pop_front();
        fresh->local = fresh->connection->local();
        fresh->remote = peer = fresh->connection->remote();
        fresh->receive_timeout_us = s->receive_timeout_us;
        sockets_[made] = fresh;
        return {made};
    });
}

socket_result socket_layer::connect(host::process& on, int fd, const internet_address& to) {
    return call(on, "connect", [&](auto...) -> socket_result {
        const socket_ptr s = find(fd);
        if (!s) return {0, socket_error::bad_file};
        if (!give_address(*s)) return {0, socket_error::no_port};
        if (s->type == socket_type::datagram) {
            datagram_ports_[s->local->port] = s;
            s->remote = to;
            return {};
        }
        if (s->connection) return {0, socket_error::invalid};
        const auto c = s->connection = make_connection(*s->local, to, *s);
        c->set_no_delay(s->no_delay);
        c->open(on);
        while (c->at() == tcp_connection::state::syn_sent) on.block(c->connected);
        if (c->at() == tcp_connection::state::established) {
            s->remote = to;
            return {};
        }
        s->connection.reset();
        s->local.reset();
        return {0, c->why()};
    });
}

socket_result socket_layer::send(host::process& on, int fd, host::virtual_address from, std::uint64_t bytes) {
    return call(on, "send", [&](sim::picoseconds begin, std::uint64_t& message, taking&) -> socket_result {
        const socket_ptr s = find(fd);
        if (!s) return {0, socket_error::bad_file};
        if (!s->remote) return {0, socket_error::not_connected};
        if (bytes != 0 && !on.space().valid(from, bytes)) return {0, socket_error::fault};
        messages.add();
        send_probe.report(begin, sim::now(), "call", {{"message", message = ++messages_}});
        if (s->type == socket_type::datagram) return send_datagram(on, s, from, bytes, *s->remote, message);
        return send_stream(on, *std::shared_ptr(s->connection), from, bytes, message);
    });
}

socket_result socket_layer::sendto(host::process& on, int fd, host::virtual_address from, std::uint64_t bytes,
                                   const internet_address& to) {
    return call(on, "sendto", [&](sim::picoseconds begin, std::uint64_t& message, taking&) -> socket_result {
        const socket_ptr s = find(fd);
        if (!s) return {0, socket_error::bad_file};
        if (s->type != socket_type::datagram) return {0, socket_error::invalid};
        if (bytes != 0 && !on.space().valid(from, bytes)) return {0, socket_error::fault};
        messages.add();
        send_probe.report(begin, sim::now(), "call", {{"message", message = ++messages_}});
        return send_datagram(on, s, from, bytes, to, message);
    });
}

sim::picoseconds socket_layer::deadline_of(const socket_state& s, bool wait) const {
    if (!wait) return sim::now();
    const std::uint64_t longest_us = (sim::never - sim::now()) / sim::microsecond;
    const bool for_ever = s.receive_timeout_us == 0 || s.receive_timeout_us >= longest_us;
    return for_ever ? sim::never : sim::now() + s.receive_timeout_us * sim::microsecond;
}

socket_result socket_layer::recv(host::process& on, int fd, host::virtual_address into, std::uint64_t bytes,
                                 bool wait) {
    internet_address from;
    return recvfrom(on, fd, into, bytes, wait, from);
}

socket_result socket_layer::recvfrom(host::process& on, int fd, host::virtual_address into,
                                     std::uint64_t bytes, bool wait, internet_address& from) {
    return call(on, "recv", [&](sim::picoseconds, std::uint64_t&, taking& taken) -> socket_result {
        const socket_ptr s = find(fd);
        if (!s) return {0, socket_error::bad_file};
        if (bytes != 0 && !on.space().valid(into, bytes)) return {0, socket_error::fault};
        if (s->type == socket_type::datagram)
            return receive_datagram(on, s, into, bytes, wait, from, taken.number);
        const auto c = s->connection;
        if (!c) return {0, socket_error::not_connected};
        from = c->remote();
        return receive_stream(on, *c, into, bytes, deadline_of(*s, wait), taken);
    });
}

socket_result socket_layer::setsockopt(host::process& on, int fd, socket_option what, std::uint64_t value) {
    return call(on, "setsockopt", [&](auto...) -> socket_result {
        const socket_ptr s = find(fd);
        if (!s) return {0, socket_error::bad_file};
        switch (what) {
            case socket_option::receive_buffer:
                s->receive_buffer = value;
                break;
            case socket_option::send_buffer:
                s->send_buffer = value;
                break;
            case socket_option::no_delay:
                s->no_delay = value != 0;
                if (s->connection) s->connection->set_no_delay(s->no_delay);
                break;
            case socket_option::receive_timeout_us:
                s->receive_timeout_us = value;
                break;
        }
        return {};
    });
}

socket_result socket_layer::close(host::process& on, int fd) {
    return call(on, "close", [&](auto...) -> socket_result {
        const socket_ptr s = find(fd);
        if (!s) return {0, socket_error::bad_file};
        sockets_.erase(fd);
        if (s->local && s->type == socket_type::datagram) datagram_ports_.erase(s->local->port);
        if (s->listening) listeners_.erase(s->local->port);
        if (s->connection) s->connection->close(on);
        return {};
    });
}

// --- IP -------------------------------------------------------------------------------------------------

host::clocks socket_layer::checksum_clocks(std::uint64_t bytes, double bytes_per_clock) {
    const auto rate = static_cast<std::uint64_t>(bytes_per_clock * 1000 + 0.5);
    return (bytes * 1000 + rate - 1) / rate;
}

void socket_layer::wake(host::context& on, host::wait_queue& queue) {
    if (queue.empty()) return;
    on.compute(wake_clocks);
    queue.wake_one();
}

/// Whoever waits for what that frame has brought.
void socket_layer::wake_reader(host::context& on, host::wait_queue& queue, std::uint32_t number) {
    if (queue.empty()) return;
    const sim::picoseconds begin = sim::now();
    wake(on, queue);
    receive_probe.report(begin, sim::now(), "wake", {{"number", number}});
}

/// The number of the packet's last descriptor; none when the ring has no room. A packet to this node goes to
/// the backlog.
std::optional<std::uint32_t> socket_layer::send_packet(host::context& on, std::uint32_t to,
                                                       internet::protocol protocol,
                                                       std::uint16_t identification, std::uint16_t offset,
                                                       bool more, std::span<const std::byte> payload) {
    on.compute(ip_send_clocks);
    internet::bytes packet = internet::make(internet::ip_header{
        .source = host_,
        .destination = to,
        .protocol = protocol,
        .identification = identification,
        .offset = offset,
        .more = more,
        .length = static_cast<std::uint16_t>(internet::ip_header_bytes + payload.size())});
    packet.insert(packet.end(), payload.begin(), payload.end());
    if (to == host_) {
        packets_sent.add();
        cpu_.post_interrupt([this, packet = std::move(packet)](host::context& handler) {
            backlog_.push_back({packet, 0});
            softirq(handler);
        });
        return 0;
    }
    const auto number = device_.transmit(on, card_of(to), internet::ethertype, packet, {}, nullptr);
    if (number) packets_sent.add();
    return number;
}

void socket_layer::softirq(host::context& on) {
    if (in_softirq_ || backlog_.empty()) return;
    in_softirq_ = true;
    softirqs.add();
    const sim::picoseconds begin = sim::now();
    on.compute(softirq_clocks);
    receive_probe.report(begin, sim::now(), "softirq", {{"number", backlog_.front().number}});
    while (!backlog_.empty()) {
        const arrival first = std::move(backlog_.front());
        backlog_.pop_front();
        receive_packet(on, first);
    }
    in_softirq_ = false;
    plan();
}

void socket_layer::receive_packet(host::context& on, const arrival& what) {
    const sim::picoseconds begin = sim::now();
    packets_received.add();
    on.compute(ip_receive_clocks);
    const auto h = internet::parse_ip(what.packet);
    if (!h || h->destination != host_) return packets_dropped.add();
    receive_probe.report(begin, sim::now(), "ip", {{"number", what.number}});
    std::span<const std::byte> payload = std::span(what.packet).subspan(internet::ip_header_bytes);
    payload = payload.first(h->length - internet::ip_header_bytes);
    std::optional<internet::bytes> whole;
    if (h->more || h->offset != 0) {
        whole = reassemble(on, *h, payload);
        if (!whole) return;
        payload = *whole;
    }
    if (h->protocol == internet::udp) return receive_udp(on, *h, payload, what.number);
    if (h->protocol == internet::tcp) return receive_tcp(on, *h, payload, what.number);
    packets_dropped.add();
}

/// The datagram, when that was its last piece to come.
std::optional<internet::bytes> socket_layer::reassemble(host::context& on, const internet::ip_header& h,
                                                        std::span<const std::byte> piece) {
    on.compute(fragment_clocks);
    const partial_key key{h.source, h.identification, h.protocol};
    if (!partials_.contains(key)) {
        partial_order_.push_back(key);
        if (partial_order_.size() > reassembly_datagrams) {
            partials_.erase(partial_order_.front());
            partial_order_.pop_front();
            packets_dropped.add();
        }
    }
    partial& p = partials_[key];
    p.pieces[h.offset].assign(piece.begin(), piece.end());
    if (!h.more) p.total = h.offset + piece.size();
    if (!p.total) return std::nullopt;
    internet::bytes whole;
    for (const auto& [offset, bytes] : p.pieces) {
        if (offset != whole.size()) return std::nullopt;
        whole.insert(whole.end(), bytes.begin(), bytes.end());
    }
    if (whole.size() != *p.total) return std::nullopt;
    partials_.erase(key);
    std::erase(partial_order_, key);
    return whole;
}

void socket_layer::room(host::context& on) {
    room_.wake_all();
    std::vector<std::shared_ptr<tcp_connection>> all;
    for (const auto& [key, c] : connections_) all.push_back(c);
    for (const auto& c : all) c->room(on);
}

// --- Time -----------------------------------------------------------------------------------------------

void socket_layer::plan() {
    std::erase_if(connections_, [](const auto& c) { return c.second->over(); });
    if (timer_posted_) return;  // it plans anew when it has been served
    sim::picoseconds next = sim::never;
    for (const auto& [key, c] : connections_) next = std::min(next, c->due());
    if (next == sim::never)
        timer_.cancel();
    else
        timer_.set(std::max(next, sim::now() + 1));
}

void socket_layer::expired(host::context& on) {
    timer_posted_ = false;
    std::vector<std::shared_ptr<tcp_connection>> all;
    for (const auto& [key, c] : connections_)
        if (c->due() <= sim::now()) all.push_back(c);
    for (const auto& c : all) c->on_time(on);
    plan();
}

}  // namespace vinic::driver
