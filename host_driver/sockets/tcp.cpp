// SPDX-License-Identifier: Apache-2.0
#include "host_driver/sockets/tcp.h"

#include <algorithm>
#include <utility>

#include "hw/sim/duration.h"

namespace vinic::driver {

using namespace internet;

namespace {

constexpr unsigned duplicates_for_loss = 3;           // RFC 2581
constexpr unsigned segments_for_acknowledgement = 2;  // RFC 1122

/// Sequence numbers wrap.
std::int32_t distance(std::uint32_t from, std::uint32_t to) { return static_cast<std::int32_t>(to - from); }

}  // namespace

tcp_connection::tcp_connection(socket_layer& layer, const internet_address& local,
                               const internet_address& remote, std::uint16_t mss, std::uint64_t send_buffer,
                               std::uint64_t receive_buffer)
    : connected("a connection"),
      readable("data on a connection"),
      writable("room on a connection"),
      reader_done("another reader of a connection"),
      writer_done("another writer of a connection"),
      layer_(layer),
      local_(local),
      remote_(remote),
      mss_(mss),
      send_buffer_bytes_(send_buffer),
      receive_buffer_bytes_(std::min<std::uint64_t>(receive_buffer, 65535)),
      congestion_window_(layer.initial_window_segments * mss) {}

// --- Opening and closing --------------------------------------------------------------------------------

void tcp_connection::open(host::context& on) {
    state_ = state::syn_sent;
    next_ = highest_ = unacknowledged_ + 1;
    arm();
    transmit(on, syn, unacknowledged_, {});
    layer_.plan();
}

void tcp_connection::open_passively(host::context& on, const tcp_header& from) {
    state_ = state::syn_received;
    first_ = expected_ = taken_ = from.sequence + 1;
    if (from.mss != 0) mss_ = std::min<std::uint32_t>(mss_, from.mss);
    peer_window_ = from.window;
    next_ = highest_ = unacknowledged_ + 1;
    arm();
    transmit(on, syn | ack, unacknowledged_, {});
    layer_.plan();
}

void tcp_connection::close(host::context& on) {
    close_wanted_ = true;
    if (state_ != state::established) state_ = state::closed;
    output(on);
    layer_.plan();
}

void tcp_connection::fail(host::context&, socket_error why) {
    state_ = state::closed;
    why_ = why;
    retransmit_at_ = acknowledge_at_ = sim::never;
    connected.wake_all();
    readable.wake_all();
    writable.wake_all();
}

/// Nothing more will be said by either side.
bool tcp_connection::over() const {
    if (state_ == state::closed) return true;
    return fin_sent_ && peer_closed_ && unacknowledged_ == highest_ && !acknowledge_now_;
}

// --- For the calls of programs --------------------------------------------------------------------------

std::uint64_t tcp_connection::send_room() const {
    return send_buffer_bytes_ - std::min<std::uint64_t>(send_buffer_bytes_, to_send_.size());
}

void tcp_connection::begin_message(std::uint64_t number, std::uint64_t count) {
    const auto end = static_cast<std::uint32_t>(unacknowledged_ + to_send_.size() + count);
    messages_.push_back({end, number, count});
}

void tcp_connection::append(std::span<const std::byte> data) {
    to_send_.insert(to_send_.end(), data.begin(), data.end());
}

std::uint32_t tcp_connection::number_of(std::uint64_t count) const {
    const std::uint32_t end = taken_ + static_cast<std::uint32_t>(count);
    const auto last =
        std::ranges::find_if(arrivals_, [&](const arrival& one) { return distance(end, one.end) >= 0; });
    return last == arrivals_.end() ? 0 : last->number;
}

bytes tcp_connection::take(std::uint64_t count) {
    taken_ += static_cast<std::uint32_t>(count);
    while (!arrivals_.empty() && distance(arrivals_.front().end, taken_) >= 0) arrivals_.pop_front();
    const auto end = received_.begin() + static_cast<std::ptrdiff_t>(count);
    bytes taken(received_.begin(), end);
    received_.erase(received_.begin(), end);
    return taken;
}

void tcp_connection::read_done(host::context& on) {
    const std::int32_t news = distance(advertised_, expected_ + window());
    if (state_ != state::established ||
        news < static_cast<std::int32_t>(std::min<std::uint64_t>(2 * mss_, receive_buffer_bytes_ / 2)))
        return;
    acknowledge_now_ = true;
    output(on);
    layer_.plan();
}

// --- Sending --------------------------------------------------------------------------------------------

std::uint16_t tcp_connection::window() const {
    return static_cast<std::uint16_t>(receive_buffer_bytes_ -
                                      std::min<std::uint64_t>(receive_buffer_bytes_, received_.size()));
}

/// Bytes of the next segment, and whether it says that there are no more.
std::uint64_t tcp_connection::sendable(bool& with_fin) const {
    with_fin = false;
    if (state_ != state::established || flight() > to_send_.size()) return 0;
    const std::uint64_t waiting = to_send_.size() - flight();
    const std::uint64_t room = std::min<std::uint64_t>(congestion_window_, peer_window_);
    std::uint64_t count =
        std::min<std::uint64_t>({waiting, mss_, room - std::min<std::uint64_t>(room, flight())});
    if (probe_ && count == 0 && flight() == 0) count = std::min<std::uint64_t>(waiting, 1);
    with_fin = close_wanted_ && count == waiting;
    // Nagle, and no silly windows: less than a whole segment only when it is all there is.
    const bool all = count == waiting && (no_delay_ || flight() == 0 || with_fin);
    if (count < mss_ && !all && !(flight() == 0 && count > 0)) return 0;
    return count;
}

bool tcp_connection::something_to_send() const {
    bool with_fin = false;
    return sendable(with_fin) != 0 || (with_fin && (!fin_sent_ || next_ != highest_));
}

void tcp_connection::output(host::context& on) {
    if (sending_) return;
    sending_ = true;
    while (next_segment(on)) {
    }
    sending_ = false;
}

/// One segment; false when there is none to send, or no room on the ring.
bool tcp_connection::next_segment(host::context& on) {
    if (wants_room_) return false;
    if (!something_to_send()) {
        if (!acknowledge_now_ || state_ != state::established) return false;
        on.compute(layer_.tcp_acknowledge_clocks);
        if (!acknowledge_now_ || state_ != state::established) return true;
        if (!transmit(on, ack, next_, {}).has_value()) return false;
        layer_.acknowledgements_sent.add();
        return true;
    }
    const sim::picoseconds begin = sim::now();
    on.compute(layer_.tcp_send_clocks);
    bool with_fin = false;
    const std::uint64_t count = sendable(with_fin);
    if (count == 0 && !with_fin) return true;  // meanwhile something has changed
    probe_ = false;
    const auto from = to_send_.begin() + static_cast<std::ptrdiff_t>(flight());
    const bytes payload(from, from + static_cast<std::ptrdiff_t>(count));
    const std::uint32_t sequence = next_;
    const std::uint32_t taken = static_cast<std::uint32_t>(count) + (with_fin ? 1 : 0);
    const bool again = distance(sequence, highest_) > 0;
    next_ += taken;
    if (distance(highest_, next_) > 0) highest_ = next_;
    fin_sent_ = fin_sent_ || with_fin;
    arm();
    if (transmit_data(on, begin, with_fin, sequence, payload)) {
        if (again) layer_.segments_sent_again.add();
        return true;
    }
    // It counts as lost on the way: from there on anew when there is room.
    if (distance(sequence, next_) > 0 && distance(unacknowledged_, sequence) >= 0) next_ = sequence;
    return false;
}

/// Calls `use` for each message of which bytes lie between these sequence numbers.
template <typename F>
void tcp_connection::for_each_message(std::uint32_t begin, std::uint32_t end, F use) const {
    auto one = std::ranges::partition_point(
        messages_, [&](const message& earlier) { return distance(earlier.end, begin) >= 0; });
    for (; one != messages_.end(); ++one) {
        use(*one);
        if (distance(end, one->end) >= 0) return;
    }
}

/// A segment with data or the end of them, on which the kernel has worked since `begin`.
bool tcp_connection::transmit_data(host::context& on, sim::picoseconds begin, bool with_fin,
                                   std::uint32_t sequence, std::span<const std::byte> payload) {
    const std::uint32_t end = sequence + static_cast<std::uint32_t>(payload.size());
    for_each_message(sequence, end, [&](const message& one) {
        layer_.send_probe.report(begin, sim::now(), "tcp", {{"message", one.number}});
    });
    const auto flags = static_cast<std::uint8_t>(ack | psh | (with_fin ? fin : 0));
    const auto number = transmit(on, flags, sequence, payload);
    if (!number) return false;
    for_each_message(sequence, end, [&](const message& one) {
        const bool last = distance(one.end, end) >= 0;
        layer_.send_probe.report(
            sim::now(), sim::now(), last ? "queued last" : "queued",
            {{"message", one.number}, {"number", *number}, {"sequence", one.end}, {"bytes", one.bytes}});
    });
    return true;
}

/// The number of the segment's last descriptor; none when the ring has no room.
std::optional<std::uint32_t> tcp_connection::transmit(host::context& on, std::uint8_t flags,
                                                      std::uint32_t sequence,
                                                      std::span<const std::byte> payload) {
    const bool acknowledges = (flags & ack) != 0;
    if (acknowledges) {
        owed_ = 0;
        acknowledge_now_ = false;
        acknowledge_at_ = sim::never;
        advertised_ = expected_ + window();
    }
    const tcp_header h{.source = local_.port,
                       .destination = remote_.port,
                       .sequence = sequence,
                       .acknowledge = acknowledges ? expected_ : 0,
                       .flags = flags,
                       .window = window(),
                       .mss = static_cast<std::uint16_t>((flags & syn) != 0 ? mss_ : 0)};
    const bytes segment = make_segment(local_.host, remote_.host, h, payload);
    const auto sent = layer_.send_packet(on, remote_.host, tcp, ++layer_.identification_, 0, false, segment);
    if (!sent) {
        wants_room_ = true;
        acknowledge_now_ = acknowledge_now_ || (acknowledges && payload.empty());
    }
    return sent;
}

void tcp_connection::room(host::context& on) {
    if (!std::exchange(wants_room_, false)) return;
    output(on);
    layer_.plan();
}

void tcp_connection::arm() {
    if (retransmit_at_ == sim::never)
        retransmit_at_ = sim::now() + (layer_.retransmit_us.get() << std::min(tries_, 8u)) * sim::microsecond;
}

void tcp_connection::on_time(host::context& on) {
    if (acknowledge_at_ <= sim::now()) {
        acknowledge_at_ = sim::never;
        acknowledge_now_ = owed_ != 0;
    }
    if (retransmit_at_ <= sim::now()) {
        retransmit_at_ = sim::never;
        if (++tries_ > layer_.retransmit_tries) return fail(on, socket_error::timed_out);
        if (state_ == state::syn_sent || state_ == state::syn_received) {
            arm();
            transmit(on, static_cast<std::uint8_t>(state_ == state::syn_sent ? syn : syn | ack),
                     unacknowledged_, {});
            return;
        }
        threshold_ = std::max<std::uint64_t>(flight() / 2, 2 * mss_);
        congestion_window_ = mss_;
        recovering_ = false;
        duplicates_ = 0;
        next_ = unacknowledged_;
        probe_ = true;
        if (unacknowledged_ != highest_ || !to_send_.empty()) arm();
    }
    output(on);
}

// --- Acknowledgements -----------------------------------------------------------------------------------

void tcp_connection::acknowledged(host::context& on, const tcp_header& h, bool pure) {
    const std::int32_t count = distance(unacknowledged_, h.acknowledge);
    if (count < 0 || distance(h.acknowledge, highest_) < 0) return;
    const bool same_window = peer_window_ == h.window;
    peer_window_ = h.window;
    if (count == 0) {
        if (!pure || !same_window || unacknowledged_ == highest_) return;
        if (++duplicates_ == duplicates_for_loss && !recovering_) {
            threshold_ = std::max<std::uint64_t>(flight() / 2, 2 * mss_);
            congestion_window_ = threshold_ + duplicates_for_loss * mss_;
            recovering_ = true;
            recover_ = highest_;
            retransmit_first(on);
        } else if (recovering_) {
            congestion_window_ += mss_;
        }
        return;
    }
    const auto gone = std::min<std::uint64_t>(static_cast<std::uint64_t>(count), to_send_.size());
    to_send_.erase(to_send_.begin(), to_send_.begin() + static_cast<std::ptrdiff_t>(gone));
    unacknowledged_ = h.acknowledge;
    while (!messages_.empty() && distance(messages_.front().end, unacknowledged_) >= 0) messages_.pop_front();
    if (distance(next_, unacknowledged_) > 0) next_ = unacknowledged_;
    tries_ = 0;
    duplicates_ = 0;
    retransmit_at_ = sim::never;
    if (unacknowledged_ != highest_) arm();
    if (recovering_ && distance(recover_, unacknowledged_) >= 0) {
        recovering_ = false;
        congestion_window_ = threshold_;
    } else if (recovering_) {
        retransmit_first(on);
    } else if (congestion_window_ < threshold_) {
        congestion_window_ += mss_;
    } else {
        congestion_window_ += std::max<std::uint64_t>(1, std::uint64_t{mss_} * mss_ / congestion_window_);
    }
    if (send_room() >= send_buffer_bytes_ / 3) layer_.wake(on, writable);
}

/// What the peer misses, once more.
void tcp_connection::retransmit_first(host::context& on) {
    const std::uint64_t count = std::min<std::uint64_t>(to_send_.size(), mss_);
    const bool with_fin = count == to_send_.size() && fin_sent_;
    if (count == 0 && !with_fin) return;
    const bytes payload(to_send_.begin(), to_send_.begin() + static_cast<std::ptrdiff_t>(count));
    const sim::picoseconds begin = sim::now();
    on.compute(layer_.tcp_send_clocks);
    layer_.segments_sent_again.add();
    transmit_data(on, begin, with_fin, unacknowledged_, payload);
}

// --- Receiving ------------------------------------------------------------------------------------------

void tcp_connection::input(host::context& on, const tcp_header& h, std::span<const std::byte> payload,
                           std::uint32_t number, bool& accepted) {
    accepted = false;
    if ((h.flags & rst) != 0)
        return fail(on, state_ == state::syn_sent ? socket_error::refused : socket_error::reset);
    if (state_ == state::syn_sent) {
        if ((h.flags & (syn | ack)) != (syn | ack) || h.acknowledge != next_) return;
        first_ = expected_ = taken_ = h.sequence + 1;
        unacknowledged_ = h.acknowledge;
        if (h.mss != 0) mss_ = std::min<std::uint32_t>(mss_, h.mss);
        peer_window_ = h.window;
        tries_ = 0;
        retransmit_at_ = sim::never;
        state_ = state::established;
        acknowledge_now_ = true;
        output(on);
        return layer_.wake(on, connected);
    }
    if (state_ == state::syn_received) {
        if ((h.flags & syn) != 0) {  // our answer was lost
            transmit(on, syn | ack, unacknowledged_, {});
            return;
        }
        if ((h.flags & ack) == 0 || h.acknowledge != next_) return;
        unacknowledged_ = h.acknowledge;
        peer_window_ = h.window;
        tries_ = 0;
        retransmit_at_ = sim::never;
        state_ = state::established;
        accepted = true;
    }
    if (state_ != state::established) return;
    if ((h.flags & syn) != 0) {  // our last word of the handshake was lost
        acknowledge_now_ = true;
        return output(on);
    }
    if ((h.flags & ack) != 0) acknowledged(on, h, payload.empty() && (h.flags & fin) == 0);
    if (!payload.empty() || (h.flags & fin) != 0)
        accept_data(on, h.sequence, payload, (h.flags & fin) != 0, number);
    output(on);
}

void tcp_connection::accept_data(host::context& on, std::uint32_t sequence,
                                 std::span<const std::byte> payload, bool with_fin, std::uint32_t number) {
    const std::int32_t ahead = distance(expected_, sequence);
    const std::int32_t end = ahead + static_cast<std::int32_t>(payload.size());
    if (ahead > 0 || end > window()) {
        // Something before it is missing, or there is no room for it.
        acknowledge_now_ = true;
        if (ahead > 0 && end <= window() && !with_fin)
            out_of_order_[sequence - first_] = {{payload.begin(), payload.end()}, number};
        return;
    }
    if (end < 0 || (end == 0 && !with_fin) || peer_closed_) {
        acknowledge_now_ = true;
        return;
    }
    const auto append = [this](std::span<const std::byte> fresh, std::uint32_t by) {
        received_.insert(received_.end(), fresh.begin(), fresh.end());
        expected_ += static_cast<std::uint32_t>(fresh.size());
        arrivals_.push_back({expected_, by});
    };
    append(payload.subspan(static_cast<std::size_t>(-ahead)), number);
    bool closed_gap = false;
    while (!out_of_order_.empty() && distance(first_ + out_of_order_.begin()->first, expected_) >= 0) {
        const auto& [from, held] = *out_of_order_.begin();
        const std::int32_t known = distance(first_ + from, expected_);
        if (known < static_cast<std::int32_t>(held.bytes.size()))
            append(std::span(held.bytes).subspan(static_cast<std::size_t>(known)), held.number);
        out_of_order_.erase(out_of_order_.begin());
        closed_gap = true;
    }
    if (with_fin && end >= 0 && sequence + static_cast<std::uint32_t>(payload.size()) == expected_) {
        peer_closed_ = true;
        ++expected_;
    }
    ++owed_;
    if (owed_ >= segments_for_acknowledgement || closed_gap || !out_of_order_.empty() || with_fin)
        acknowledge_now_ = true;
    else
        acknowledge_at_ = std::min(acknowledge_at_, sim::now() + layer_.delayed_ack_us * sim::microsecond);
    layer_.wake_reader(on, readable, number);
}

// --- From the layer -------------------------------------------------------------------------------------

std::shared_ptr<tcp_connection> socket_layer::make_connection(const internet_address& local,
                                                              const internet_address& remote,
                                                              const socket_state& of) {
    const auto mss = static_cast<std::uint16_t>(device_.mtu_bytes - internet::ip_header_bytes -
                                                internet::tcp_header_bytes);
    const auto fresh =
        std::make_shared<tcp_connection>(*this, local, remote, mss, of.send_buffer, of.receive_buffer);
    connections_[{local.port, remote.host, remote.port}] = fresh;
    return fresh;
}

socket_result socket_layer::send_stream(host::process& on, tcp_connection& to, host::virtual_address from,
                                        std::uint64_t bytes, std::uint64_t message) {
    sim::picoseconds begin = sim::now();
    const auto step = [&](const char* what) {
        send_probe.report(begin, sim::now(), what, {{"message", message}});
        begin = sim::now();
    };
    while (to.written_to) on.block(to.writer_done);
    to.written_to = true;
    to.begin_message(message, bytes);
    std::uint64_t done = 0;
    while (done < bytes) {
        while (to.send_room() == 0 && to.at() == tcp_connection::state::established) on.block(to.writable);
        if (to.at() != tcp_connection::state::established) break;
        step("room");
        // A segment's worth at a time, so that the first is on its way while the next is copied.
        const std::uint64_t piece = std::min({bytes - done, to.send_room(), to.piece()});
        on.compute(buffer_clocks);
        step("buffer");
        on.copy(piece);
        step("copy");
        on.compute(checksum_clocks(piece, checksum_bytes_per_clock));
        step("checksum");
        internet::bytes data(piece);
        on.space().read(from + done, data);
        to.append(data);
        done += piece;
        to.output(on);
        begin = sim::now();
    }
    to.written_to = false;
    to.writer_done.wake_one();
    if (done < bytes) return {0, socket_error::reset};
    plan();
    return {static_cast<std::int64_t>(done)};
}

/// The processes that wait for the same bytes are woken one by one: each wakes the next when there is
/// something left for it.
socket_result socket_layer::receive_stream(host::process& on, tcp_connection& from,
                                           host::virtual_address into, std::uint64_t bytes,
                                           sim::picoseconds deadline, taking& taken) {
    while (from.read_from || from.readable_bytes() == 0) {
        if (from.read_from) {
            on.block(from.reader_done);
            continue;
        }
        if (from.at_end()) {
            from.readable.wake_one();
            return {0, from.why()};
        }
        if (sim::now() >= deadline || !on.block(from.readable, deadline)) return {0, socket_error::again};
    }
    from.read_from = true;
    const std::uint64_t count = std::min(bytes, from.readable_bytes());
    taken.number = from.number_of(count);
    sim::picoseconds begin = sim::now();
    const auto step = [&](const char* what) {
        receive_probe.report(begin, sim::now(), what, {{"number", taken.number}});
        begin = sim::now();
    };
    step("taken up");
    on.copy(count);
    step("copy to user");
    on.space().write(into, from.take(count));
    taken.sequence = from.taken();
    on.compute(buffer_clocks);
    step("buffer");
    from.read_done(on);
    step("update");
    from.read_from = false;
    from.reader_done.wake_one();
    if (from.readable_bytes() != 0 || from.at_end()) from.readable.wake_one();
    return {static_cast<std::int64_t>(count)};
}

void socket_layer::receive_tcp(host::context& on, const internet::ip_header& ip,
                               std::span<const std::byte> bytes, std::uint32_t number) {
    sim::picoseconds begin = sim::now();
    std::size_t header = 0;
    const auto h = internet::parse_tcp(bytes, header);
    const std::uint32_t sum = internet::pseudo_header(ip.source, ip.destination, internet::tcp, bytes.size());
    if (!h || internet::checksum_of(internet::add_checksum(bytes, sum)) != 0) return packets_dropped.add();
    const auto payload = bytes.subspan(header);
    const bool only_acknowledges = payload.empty() && h->flags == internet::ack;
    on.compute(checksum_clocks(bytes.size(), checksum_cold_bytes_per_clock));
    receive_probe.report(begin, sim::now(), "verify", {{"number", number}});
    begin = sim::now();
    on.compute(only_acknowledges ? tcp_acknowledge_clocks : tcp_receive_clocks);
    receive_probe.report(begin, sim::now(), "tcp", {{"number", number}});
    const connection_key key{h->destination, ip.source, h->source};
    const auto listener = listeners_.find(h->destination);
    auto known = connections_.find(key);
    if (known != connections_.end() && known->second->over()) {
        connections_.erase(known);
        known = connections_.end();
    }
    if (known == connections_.end()) {
        if (listener == listeners_.end() || (h->flags & (internet::syn | internet::ack)) != internet::syn) {
            if ((h->flags & internet::rst) == 0) send_reset(on, ip, *h);
            return;
        }
        const auto fresh =
            make_connection({host_, h->destination}, {ip.source, h->source}, *listener->second);
        fresh->set_no_delay(listener->second->no_delay);
        return fresh->open_passively(on, *h);
    }
    const std::shared_ptr<tcp_connection> c = known->second;
    bool accepted = false;
    c->input(on, *h, payload, number, accepted);
    if (!accepted) return;
    const auto accepting = listeners_.find(h->destination);  // it may have closed meanwhile
    if (accepting == listeners_.end()) return;
    const socket_ptr by = accepting->second;
    by->accepted.push_back(c);
    wake(on, by->readable);
}

void socket_layer::send_reset(host::context& on, const internet::ip_header& ip,
                              const internet::tcp_header& to) {
    on.compute(tcp_acknowledge_clocks);
    const internet::tcp_header h{.source = to.destination,
                                 .destination = to.source,
                                 .sequence = to.acknowledge,
                                 .acknowledge = to.sequence + ((to.flags & internet::syn) != 0 ? 1 : 0),
                                 .flags = internet::rst | internet::ack,
                                 .window = 0,
                                 .mss = 0};
    const internet::bytes segment = internet::make_segment(host_, ip.source, h, {});
    send_packet(on, ip.source, internet::tcp, ++identification_, 0, false, segment);
}

}  // namespace vinic::driver
