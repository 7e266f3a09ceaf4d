// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "host_driver/sockets/socket_layer.h"

namespace vinic::driver {

/// Fragments are made and sent from the last to the first, as Linux did: the checksum, in the first one, is
/// over all that has been copied by then.
socket_result socket_layer::send_datagram(host::process& on, const socket_ptr& from, host::virtual_address at,
                                          std::uint64_t bytes, const internet_address& to,
                                          std::uint64_t message) {
    if (bytes > internet::datagram_max_bytes) return {0, socket_error::too_long};
    sim::picoseconds begin = sim::now();
    const auto step = [&](const char* what) {
        send_probe.report(begin, sim::now(), what, {{"message", message}});
        begin = sim::now();
    };
    if (!from->local) {
        if (!give_address(*from)) return {0, socket_error::again};
        datagram_ports_[from->local->port] = from;
    }
    on.compute(udp_send_clocks);
    step("udp");
    const std::size_t length = internet::udp_header_bytes + bytes;
    internet::udp_header h{.source = from->local->port,
                           .destination = to.port,
                           .length = static_cast<std::uint16_t>(length),
                           .checksum = 0};
    internet::bytes whole = internet::make(h);
    whole.resize(length);
    const std::size_t most = (device_.mtu_bytes - internet::ip_header_bytes) / 8 * 8;
    const std::size_t pieces =
        length <= device_.mtu_bytes - internet::ip_header_bytes ? 1 : (length + most - 1) / most;
    const std::uint16_t identification = ++identification_;
    std::size_t end = length;
    for (std::size_t i = pieces; i-- > 0;) {
        const std::size_t first = i * most;
        const std::size_t data_first = std::max(first, internet::udp_header_bytes);
        on.compute(buffer_clocks + (pieces > 1 ? fragment_clocks.get() : 0));
        step("buffer");
        if (end > data_first) {
            on.copy(end - data_first);
            on.space().read(at + (data_first - internet::udp_header_bytes),
                            std::span(whole).subspan(data_first, end - data_first));
            step("copy");
        }
        on.compute(checksum_clocks(end - first, checksum_bytes_per_clock));
        step("checksum");
        if (i == 0) {
            const std::uint32_t sum = internet::pseudo_header(host_, to.host, internet::udp, length);
            h.checksum = internet::checksum_of(internet::add_checksum(whole, sum));
            if (h.checksum == 0) h.checksum = 0xFFFF;
            const internet::bytes header = internet::make(h);
            std::ranges::copy(header, whole.begin());
        }
        const auto piece = std::span(whole).subspan(first, end - first);
        for (;;) {
            const auto number = send_packet(on, to.host, internet::udp, identification,
                                            static_cast<std::uint16_t>(first), i + 1 < pieces, piece);
            if (number) {
                send_probe.report(sim::now(), sim::now(), i == 0 ? "queued last" : "queued",
                                  {{"message", message}, {"number", *number}, {"bytes", bytes}});
                break;
            }
            on.block(room_);
        }
        begin = sim::now();
        end = first;
    }
    datagrams_sent.add();
    return {static_cast<std::int64_t>(bytes)};
}

void socket_layer::receive_udp(host::context& on, const internet::ip_header& ip,
                               std::span<const std::byte> bytes, std::uint32_t number) {
    const sim::picoseconds begin = sim::now();
    on.compute(udp_receive_clocks);
    const auto h = internet::parse_udp(bytes);
    const auto to = h ? datagram_ports_.find(h->destination) : datagram_ports_.end();
    if (to == datagram_ports_.end()) return datagrams_dropped.add();
    const socket_ptr held = to->second;  // somebody may close it while this takes its time
    socket_state& s = *held;
    const internet_address from{ip.source, h->source};
    const std::uint32_t sum = internet::pseudo_header(ip.source, ip.destination, internet::udp, bytes.size());
    const bool whole = h->checksum == 0 || internet::checksum_of(internet::add_checksum(bytes, sum)) == 0;
    const bool wanted = !s.remote || *s.remote == from;
    // What the buffers of packets take beside their data counts too.
    constexpr std::uint64_t overhead = 256;
    const std::uint64_t size = bytes.size() + overhead;
    if (!whole || !wanted || s.queued_bytes + size > s.receive_buffer) return datagrams_dropped.add();
    s.queue.push_back({{bytes.begin() + internet::udp_header_bytes, bytes.end()}, from, number});
    s.queued_bytes += size;
    datagrams_received.add();
    receive_probe.report(begin, sim::now(), "udp", {{"number", number}});
    wake_reader(on, s.readable, number);
}

/// Copy and checksum over what was copied; the datagram is longer than the buffer: the rest is lost.
socket_result socket_layer::receive_datagram(host::process& on, const socket_ptr& to,
                                             host::virtual_address at, std::uint64_t bytes, bool wait,
                                             internet_address& from, std::uint32_t& number) {
    const sim::picoseconds deadline = deadline_of(*to, wait);
    while (to->queue.empty())
        if (sim::now() >= deadline || !on.block(to->readable, deadline)) return {0, socket_error::again};
    const datagram first = std::move(to->queue.front());
    to->queue.pop_front();
    constexpr std::uint64_t overhead = 256 + internet::udp_header_bytes;
    to->queued_bytes -= first.bytes.size() + overhead;
    number = first.number;
    from = first.from;
    const std::uint64_t count = std::min<std::uint64_t>(bytes, first.bytes.size());
    sim::picoseconds begin = sim::now();
    const auto step = [&](const char* what) {
        receive_probe.report(begin, sim::now(), what, {{"number", number}});
        begin = sim::now();
    };
    step("taken up");
    if (count != 0) {
        on.copy(count);
        step("copy to user");
        on.compute(checksum_clocks(first.bytes.size(), checksum_bytes_per_clock));
        step("checksum");
        on.space().write(at, std::span(first.bytes).first(count));
    }
    on.compute(buffer_clocks);
    step("buffer");
    return {static_cast<std::int64_t>(count)};
}

}  // namespace vinic::driver
