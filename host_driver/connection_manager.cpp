// SPDX-License-Identifier: Apache-2.0
#include "host_driver/connection_manager.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "host_driver/byte_order.h"
#include "host_driver/kernel_agent.h"
#include "hw/sim/duration.h"

namespace vinic::driver {

namespace {

/// How many requests are remembered, so that a doubled one gets the same answer.
constexpr std::size_t history_entries = 4096;

node_address to_address(const std::uint8_t (&bytes)[abi::node_address_bytes]) {
    node_address address;
    std::copy(std::begin(bytes), std::end(bytes), address.begin());
    return address;
}

std::vector<std::uint8_t> discriminator(const std::uint8_t* bytes, std::uint8_t count) {
    return {bytes, bytes + std::min<std::uint32_t>(count, abi::discriminator_bytes_max)};
}

void put(std::uint8_t (&bytes)[abi::discriminator_bytes_max], std::uint8_t& count,
         const std::vector<std::uint8_t>& from) {
    count = static_cast<std::uint8_t>(std::min<std::size_t>(from.size(), abi::discriminator_bytes_max));
    std::copy_n(from.begin(), count, bytes);
}

/// Between the wire's byte order and the machine's; its own inverse.
abi::connection_packet swapped(abi::connection_packet p) {
    p.vi = big_endian(p.vi);
    p.other_vi = big_endian(p.other_vi);
    p.attempt = big_endian(p.attempt);
    p.other_attempt = big_endian(p.other_attempt);
    p.key = big_endian(p.key);
    p.max_transfer_bytes = big_endian(p.max_transfer_bytes);
    return p;
}

}  // namespace

connection_manager::connection_manager(kernel_agent& agent) : agent_(agent) {}

// --- Packets --------------------------------------------------------------------------------------------

abi::connection_packet connection_manager::make(abi::connection_kind kind, const node_address& to) const {
    abi::connection_packet packet{};
    packet.kind = kind;
    std::copy(agent_.address_.begin(), agent_.address_.end(), packet.source);
    std::copy(to.begin(), to.end(), packet.destination);
    return packet;
}

void connection_manager::add_attributes(abi::connection_packet& packet, const vi& of) const {
    packet.vi = static_cast<std::uint16_t>(of.index);
    packet.max_transfer_bytes = static_cast<std::uint32_t>(of.attributes.max_transfer_bytes);
    packet.reliability = static_cast<std::uint8_t>(of.attributes.reliability);
    packet.rdma_enables =
        static_cast<std::uint8_t>((of.attributes.rdma_write ? 1 : 0) | (of.attributes.rdma_read ? 2 : 0));
}

vi_attributes connection_manager::attributes_in(const abi::connection_packet& packet) {
    return {.reliability = packet.reliability,
            .max_transfer_bytes = packet.max_transfer_bytes,
            .rdma_write = (packet.rdma_enables & 1) != 0,
            .rdma_read = (packet.rdma_enables & 2) != 0};
}

net_address connection_manager::address_in(const abi::connection_packet& packet) {
    return {.host = to_address(packet.source),
            .discriminator = discriminator(packet.local_discriminator, packet.local_bytes)};
}

bool connection_manager::send(host::process& on, const abi::connection_packet& packet) {
    const route* path = agent_.fabric_.find_route(agent_.address_, to_address(packet.destination));
    if (path == nullptr) return false;
    const abi::connection_packet wire = swapped(packet);
    agent_.control_packets_sent.add();
    agent_.card_.send_control(on, *path, std::as_bytes(std::span(&wire, 1)));
    return true;
}

void connection_manager::on_packet(host::process& on, const abi::connection_packet& wire) {
    const abi::connection_packet packet = swapped(wire);
    if (to_address(packet.destination) != agent_.address_) return;
    switch (packet.kind) {
        case abi::connection_request:
            return on_request(on, packet);
        case abi::connection_accept:
        case abi::connection_reject:
        case abi::connection_no_match:
            return on_answer(on, packet);
        case abi::connection_confirm:
            return on_confirm(packet);
        case abi::connection_cancel:
            return on_cancel(on, packet);
        case abi::connection_peer_request:
            return on_peer_request(on, packet);
        case abi::connection_peer_connected:
            return on_peer_connected(on, packet);
        case abi::connection_peer_refused:
            return on_peer_refused(packet);
        case abi::connection_disconnect:
            return on_disconnect(on, packet);
        case abi::connection_disconnected:
            farewells_.erase({packet.key, packet.other_vi});
            return;
        default:
            return;  // from a kernel agent of another kind
    }
}

sim::picoseconds connection_manager::first_interval() const {
    return agent_.connect_retry_us * sim::microsecond;
}

sim::picoseconds connection_manager::longer(sim::picoseconds interval) const {
    return std::min(2 * interval, agent_.connect_retry_max_us * sim::microsecond);
}

std::uint32_t connection_manager::new_attempt() { return ++attempts_; }

// Unique on this card for a million attempts, and different from those of its neighbours.
std::uint32_t connection_manager::key_of(std::uint32_t attempt_id) const {
    const std::uint32_t node =
        std::uint32_t{agent_.address_[2]} << 8 ^ agent_.address_[4] << 8 ^ agent_.address_[5];
    return node << 20 | (attempt_id & 0xFFFFF);
}

// --- Both kinds -----------------------------------------------------------------------------------------

// Facts vipl.md 4.4: level and maximum transfer size must be equal on both sides (and QoS, which is null).
status connection_manager::compare(const vi_attributes& ours, const vi_attributes& theirs) {
    if (ours.reliability != theirs.reliability) return status::invalid_reliability_level;
    if (ours.max_transfer_bytes != theirs.max_transfer_bytes) return status::invalid_mtu;
    return status::success;
}

status connection_manager::connect(host::process& on, const std::shared_ptr<vi>& which,
                                   const connection& with, std::uint64_t peer_max_transfer_bytes) {
    const route* path = agent_.fabric_.find_route(agent_.address_, with.peer);
    if (path == nullptr) return status::not_reachable;
    which->link = with;
    const status result = agent_.card_.connect_vi(on, {.vi = which->index,
                                                       .remote_vi = with.peer_vi,
                                                       .key = with.key,
                                                       .path = *path,
                                                       .peer_max_transfer_bytes = peer_max_transfer_bytes});
    if (result != status::success) return status::error_resource;
    which->enter(vi_state::connected);
    agent_.connections.add();
    return status::success;
}

// The connection did not come about after all: posted receives stay posted (facts vipl.md 5). It may have
// broken on the card already.
void connection_manager::give_back(host::process& on, const std::shared_ptr<vi>& which) {
    if (which->state == vi_state::connected || which->state == vi_state::error)
        agent_.card_.disconnect_vi(on, which->index, vi_state::idle, true);
    which->enter(vi_state::idle);
}

// --- Client ---------------------------------------------------------------------------------------------

status connection_manager::request(host::process& on, const std::shared_ptr<vi>& from,
                                   const net_address& local, const net_address& remote,
                                   sim::picoseconds deadline, vi_attributes& remote_attributes) {
    on.compute(agent_.connect_clocks);
    if (from->state != vi_state::idle) return status::invalid_state;
    if (agent_.fabric_.find_route(agent_.address_, remote.host) == nullptr) return status::not_reachable;
    const std::uint32_t id = new_attempt();
    const auto mine =
        std::make_shared<attempt>("the answer to a connection request of " + std::string(agent_.name()));
    mine->from = from;
    clients_[id] = mine;
    from->enter(vi_state::connect_pending);
    from->link = {.peer = remote.host, .attempt = id};

    abi::connection_packet packet = make(abi::connection_request, remote.host);
    packet.attempt = id;
    packet.key = key_of(id);
    add_attributes(packet, *from);
    put(packet.local_discriminator, packet.local_bytes, local.discriminator);
    put(packet.remote_discriminator, packet.remote_bytes, remote.discriminator);

    const auto over = [&] { return mine->answer.kind != 0 || mine->cancelled; };
    sim::picoseconds interval = first_interval();
    while (!over() && sim::now() < deadline) {
        send(on, packet);
        if (!over()) on.block(mine->answered, std::min(deadline, sim::now() + interval), deadline);
        interval = longer(interval);
    }

    status result = status::timeout;
    if (mine->cancelled) {
        result = status::invalid_state;
    } else if (mine->answer.kind == abi::connection_accept) {
        result = connect(on, from,
                         {.peer = remote.host, .peer_vi = mine->answer.vi, .key = packet.key, .attempt = id},
                         mine->answer.max_transfer_bytes);
        remote_attributes = attributes_in(mine->answer);
        if (mine->cancelled && result == status::success) {  // while the card was told
            give_back(on, from);
            result = status::invalid_state;
        }
    } else if (mine->answer.kind != 0) {
        result = mine->answer.kind == abi::connection_reject ? status::reject : status::no_match;
    }
    const bool told = result == status::reject || result == status::no_match;
    if (result != status::success && !mine->cancelled) from->enter(vi_state::idle);
    packet.kind = result == status::success ? abi::connection_confirm : abi::connection_cancel;
    if (!told) send(on, packet);
    clients_.erase(id);
    return result;
}

void connection_manager::on_answer(host::process& on, const abi::connection_packet& packet) {
    if (const auto found = clients_.find(packet.attempt); found != clients_.end()) {
        attempt& mine = *found->second;
        if (mine.answer.kind != 0 || mine.cancelled) return;
        mine.answer = packet;
        mine.answered.wake_all();
        return;
    }
    if (packet.kind != abi::connection_accept) return;
    // Doubled, or too late.
    const std::shared_ptr<vi> mine = agent_.vis_.at_index(packet.other_vi);
    const bool ours = mine && mine->state == vi_state::connected && mine->link.attempt == packet.attempt &&
                      mine->link.key == packet.key;
    abi::connection_packet answer =
        make(ours ? abi::connection_confirm : abi::connection_cancel, to_address(packet.source));
    answer.attempt = packet.attempt;
    answer.key = packet.key;
    send(on, answer);
}

// --- Server ---------------------------------------------------------------------------------------------

status connection_manager::wait(host::process& on, const std::shared_ptr<instance>& nic,
                                const net_address& local, bool any, sim::picoseconds deadline,
                                std::shared_ptr<incoming_connection>& found) {
    on.compute(agent_.connect_clocks);
    waiter here("a connection request at " + std::string(agent_.name()));
    here.nic = nic.get();
    here.discriminator = local.discriminator;
    here.any = any;
    waiters_.push_back(&here);
    if (deadline > sim::now()) on.block(here.arrived, deadline);
    waiters_.remove(&here);
    if (!here.found) return status::timeout;
    found = here.found;
    return status::success;
}

void connection_manager::on_request(host::process& on, const abi::connection_packet& packet) {
    const incoming_key key{to_address(packet.source), packet.attempt};
    if (const auto known = incoming_.find(key); known != incoming_.end())
        return answer_again(on, *known->second);

    const auto made = std::make_shared<incoming_connection>("the confirmation of a connection at " +
                                                            std::string(agent_.name()));
    made->client = key.first;
    made->attempt = packet.attempt;
    made->client_vi = packet.vi;
    made->key = packet.key;
    made->client_address = address_in(packet);
    made->client_attributes = attributes_in(packet);
    remember(key, made);
    const auto wanted = discriminator(packet.remote_discriminator, packet.remote_bytes);
    for (waiter* w : waiters_) {
        if (w->found || (!w->any && w->discriminator != wanted)) continue;
        w->found = made;
        w->arrived.wake_all();
        return;
    }
    made->at = incoming_connection::phase::over;
    made->answer = abi::connection_no_match;
    answer_again(on, *made);
}

void connection_manager::remember(const incoming_key& key, std::shared_ptr<incoming_connection> which) {
    incoming_[key] = std::move(which);
    incoming_order_.push_back(key);
    while (incoming_order_.size() > history_entries) {
        const auto oldest = incoming_.find(incoming_order_.front());
        if (oldest->second->at == incoming_connection::phase::offered ||
            oldest->second->at == incoming_connection::phase::accepting)
            return;
        incoming_.erase(oldest);
        incoming_order_.pop_front();
    }
}

void connection_manager::answer_again(host::process& on, const incoming_connection& which) {
    if (which.answer == 0) return;
    abi::connection_packet packet = make(static_cast<abi::connection_kind>(which.answer), which.client);
    packet.code = which.answer_code;
    packet.attempt = packet.other_attempt = which.attempt;
    packet.key = which.key;
    packet.other_vi = static_cast<std::uint16_t>(which.client_vi);
    if (which.server) add_attributes(packet, *which.server);
    send(on, packet);
}

status connection_manager::accept(host::process& on, const std::shared_ptr<incoming_connection>& which,
                                  const std::shared_ptr<vi>& with) {
    on.compute(agent_.connect_clocks);
    using phase = incoming_connection::phase;
    if (which->at == phase::over) return status::timeout;
    if (which->at != phase::offered) return status::invalid_parameter;
    if (with->state != vi_state::idle) return status::invalid_state;
    if (const status s = compare(with->attributes, which->client_attributes); s != status::success) return s;
    which->at = phase::accepting;
    which->server = with;
    with->enter(vi_state::connect_pending);
    status result = connect(
        on, with,
        {.peer = which->client, .peer_vi = which->client_vi, .key = which->key, .attempt = which->attempt},
        which->client_attributes.max_transfer_bytes);
    if (result == status::success) {
        result = await_confirm(on, *which);
    } else {
        which->at = phase::offered;
    }
    which->server.reset();
    which->answer = 0;
    if (result != status::success) give_back(on, with);
    return result;
}

status connection_manager::await_confirm(host::process& on, incoming_connection& which) {
    using phase = incoming_connection::phase;
    which.answer = abi::connection_accept;
    const sim::picoseconds limit = sim::now() + agent_.accept_limit_us * sim::microsecond;
    sim::picoseconds interval = first_interval();
    while (which.at == phase::accepting && sim::now() < limit) {
        answer_again(on, which);
        if (which.at == phase::accepting)
            on.block(which.answered, std::min(limit, sim::now() + interval), limit);
        interval = longer(interval);
    }
    if (which.at == phase::confirmed) return status::success;
    which.at = phase::over;
    return status::timeout;
}

void connection_manager::on_confirm(const abi::connection_packet& packet) {
    const auto found = incoming_.find({to_address(packet.source), packet.attempt});
    if (found == incoming_.end() || found->second->at != incoming_connection::phase::accepting) return;
    found->second->at = incoming_connection::phase::confirmed;
    found->second->answered.wake_all();
}

status connection_manager::reject(host::process& on, const std::shared_ptr<incoming_connection>& which) {
    on.compute(agent_.connect_clocks);
    if (which->at != incoming_connection::phase::offered) return status::success;
    which->at = incoming_connection::phase::over;
    which->answer = abi::connection_reject;
    answer_again(on, *which);
    return status::success;
}

void connection_manager::on_cancel(host::process& on, const abi::connection_packet& packet) {
    if (const auto leader = peers_.find(packet.other_attempt);
        leader != peers_.end() && leader->second->at == peer_attempt::phase::leading) {
        give_back(on, leader->second->from);
        finish(*leader->second, status::timeout);
        return;
    }
    const auto found = incoming_.find({to_address(packet.source), packet.attempt});
    if (found == incoming_.end()) return;
    incoming_connection& which = *found->second;
    if (which.at == incoming_connection::phase::confirmed) return;
    which.at = incoming_connection::phase::over;
    which.answer = 0;
    which.answered.wake_all();
}

void connection_manager::forget(host::process& on, const std::shared_ptr<instance>& nic) {
    std::vector<waiter*> gone;
    for (waiter* w : waiters_)
        if (w->nic == nic.get()) gone.push_back(w);
    for (waiter* w : gone) {
        if (w->found) reject(on, w->found);
        w->found.reset();
        w->arrived.wake_all();
    }
}

// --- Disconnection --------------------------------------------------------------------------------------

status connection_manager::disconnect(host::process& on, const std::shared_ptr<vi>& which) {
    on.compute(agent_.connect_clocks);
    const vi_state before = which->state;
    switch (before) {
        case vi_state::idle:
            break;
        case vi_state::connect_pending:
            cancel(on, which);
            break;
        case vi_state::connected:
        case vi_state::error:
            which->enter(vi_state::idle);
            agent_.card_.disconnect_vi(on, which->index, vi_state::idle, false);
            if (before == vi_state::connected) tell_peer(on, *which);
            agent_.wake(*which);
            break;
    }
    return status::success;
}

void connection_manager::tell_peer(host::process& on, const vi& which) {
    abi::connection_packet packet = make(abi::connection_disconnect, which.link.peer);
    packet.vi = static_cast<std::uint16_t>(which.index);
    packet.other_vi = static_cast<std::uint16_t>(which.link.peer_vi);
    packet.attempt = which.link.attempt;
    packet.key = which.link.key;
    farewells_[{packet.key, packet.vi}] = {.packet = packet,
                                           .next_send = sim::now() + first_interval(),
                                           .interval = first_interval(),
                                           .tries_left = agent_.disconnect_tries};
    if (!send(on, packet)) farewells_.erase({packet.key, packet.vi});
    agent_.do_later([](host::process&) {});  // its time-out has changed
}

void connection_manager::on_disconnect(host::process& on, const abi::connection_packet& packet) {
    const std::shared_ptr<vi> mine = agent_.vis_.at_index(packet.other_vi);
    if (mine && mine->state == vi_state::connected && mine->link.key == packet.key &&
        mine->link.peer == to_address(packet.source) && mine->link.peer_vi == packet.vi) {
        // Who ends a connection has had it: as good as a confirmation that was lost.
        for (const auto& entry : incoming_) {
            incoming_connection& which = *entry.second;
            if (which.server != mine || which.at != incoming_connection::phase::accepting) continue;
            which.at = incoming_connection::phase::confirmed;
            which.answered.wake_all();
        }
        mine->enter(vi_state::error);
        agent_.card_.disconnect_vi(on, mine->index, vi_state::error, false);
        agent_.raise(mine, error_code::connection_lost, 0);
        agent_.wake(*mine);
    }
    abi::connection_packet answer = make(abi::connection_disconnected, to_address(packet.source));
    answer.vi = packet.other_vi;
    answer.other_vi = packet.vi;
    answer.key = packet.key;
    send(on, answer);
}

void connection_manager::cancel(host::process& on, const std::shared_ptr<vi>& which) {
    for (const auto& entry : clients_) {
        if (entry.second->from != which) continue;
        entry.second->cancelled = true;
        entry.second->answered.wake_all();
        which->enter(vi_state::idle);  // now, though its caller wakes later
    }
    for (const auto& entry : incoming_) {
        incoming_connection& accepting = *entry.second;
        if (accepting.server != which) continue;
        accepting.at = incoming_connection::phase::over;
        accepting.answered.wake_all();
    }
    for (const auto& entry : peers_) {
        peer_attempt& pending = *entry.second;
        if (pending.from != which || pending.result != status::not_done) continue;
        give_back(on, which);
        finish(pending, status::invalid_state);
    }
}

// --- Time-outs ------------------------------------------------------------------------------------------

sim::picoseconds connection_manager::next_time() const {
    sim::picoseconds next = sim::never;
    for (const auto& entry : farewells_) next = std::min(next, entry.second.next_send);
    for (const auto& entry : peers_)
        if (entry.second->result == status::not_done)
            next = std::min({next, entry.second->next_send, entry.second->deadline});
    return next;
}

void connection_manager::on_time(host::process& on) {
    std::vector<std::pair<std::uint32_t, std::uint16_t>> late;
    for (const auto& entry : farewells_)
        if (entry.second.next_send <= sim::now()) late.push_back(entry.first);
    for (const auto& key : late) {
        const auto found = farewells_.find(key);
        if (found == farewells_.end()) continue;
        farewell& f = found->second;
        if (f.tries_left == 0) {
            farewells_.erase(found);
            continue;
        }
        --f.tries_left;
        f.interval = longer(f.interval);
        f.next_send = sim::now() + f.interval;
        send(on, f.packet);
    }
    std::vector<std::shared_ptr<peer_attempt>> due;
    for (const auto& entry : peers_)
        if (entry.second->result == status::not_done &&
            std::min(entry.second->next_send, entry.second->deadline) <= sim::now())
            due.push_back(entry.second);
    for (const auto& a : due) {
        if (a->result != status::not_done) continue;
        if (a->deadline <= sim::now()) {
            give_back(on, a->from);
            finish(*a, status::timeout);
            continue;
        }
        a->interval = longer(a->interval);
        a->next_send = sim::now() + a->interval;
        send_peer(on, *a);
    }
}

}  // namespace vinic::driver
