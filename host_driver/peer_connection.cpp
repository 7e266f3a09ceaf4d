// SPDX-License-Identifier: Apache-2.0

// connection_manager: peer to peer (facts vipl.md 4.5).
#include <algorithm>

#include "host_driver/connection_manager.h"
#include "host_driver/kernel_agent.h"

namespace vinic::driver {

namespace {

node_address source_of(const abi::connection_packet& packet) {
    node_address address;
    std::copy(std::begin(packet.source), std::end(packet.source), address.begin());
    return address;
}

}  // namespace

status connection_manager::peer_request(host::process& on, const std::shared_ptr<vi>& from,
                                        const net_address& local, const net_address& remote,
                                        sim::picoseconds deadline) {
    on.compute(agent_.connect_clocks);
    if (from->state != vi_state::idle) return status::invalid_state;
    if (agent_.fabric_.find_route(agent_.address_, remote.host) == nullptr) return status::not_reachable;
    for (auto old = peers_.begin(); old != peers_.end();)  // one whose result nobody asked for
        old = old->second->from == from ? peers_.erase(old) : std::next(old);
    const auto mine = std::make_shared<peer_attempt>("a peer connection of " + std::string(agent_.name()));
    mine->id = new_attempt();
    mine->from = from;
    mine->local = {.host = agent_.address_, .discriminator = local.discriminator};
    mine->remote = remote;
    mine->deadline = deadline;
    mine->interval = first_interval();
    mine->next_send = sim::now() + mine->interval;
    from->enter(vi_state::connect_pending);
    from->link = {.peer = remote.host, .attempt = mine->id};
    peers_[mine->id] = mine;
    send_peer(on, *mine);
    agent_.do_later([](host::process&) {});  // its time-out has changed
    return status::success;
}

status connection_manager::peer_done(host::process& on, const std::shared_ptr<vi>& from, bool wait,
                                     vi_attributes& remote_attributes) {
    const auto found = std::find_if(peers_.begin(), peers_.end(),
                                    [&](const auto& entry) { return entry.second->from == from; });
    if (found == peers_.end()) return status::invalid_state;
    const std::shared_ptr<peer_attempt> mine = found->second;
    while (wait && mine->result == status::not_done) on.block(mine->over, sim::never, mine->deadline);
    if (mine->result == status::not_done) return status::not_done;
    remote_attributes = mine->remote_attributes;
    peers_.erase(mine->id);
    return mine->result;
}

void connection_manager::finish(peer_attempt& which, status result) {
    which.result = result;
    which.at = result == status::success ? peer_attempt::phase::connected : peer_attempt::phase::failed;
    if (result != status::success) which.from->enter(vi_state::idle);
    which.over.wake_all();
}

void connection_manager::send_peer(host::process& on, const peer_attempt& which) {
    if (which.at != peer_attempt::phase::requesting)
        return send_peer_connected(on, *which.from, which.other, which.at == peer_attempt::phase::connected);
    abi::connection_packet packet = make(abi::connection_peer_request, which.remote.host);
    packet.attempt = which.id;
    packet.local_bytes = static_cast<std::uint8_t>(which.local.discriminator.size());
    packet.remote_bytes = static_cast<std::uint8_t>(which.remote.discriminator.size());
    std::copy(which.local.discriminator.begin(), which.local.discriminator.end(), packet.local_discriminator);
    std::copy(which.remote.discriminator.begin(), which.remote.discriminator.end(),
              packet.remote_discriminator);
    add_attributes(packet, *which.from);
    send(on, packet);
}

void connection_manager::send_peer_connected(host::process& on, const vi& from, std::uint32_t to_attempt,
                                             bool answer) {
    abi::connection_packet packet = make(abi::connection_peer_connected, from.link.peer);
    packet.code = answer ? 1 : 0;
    packet.attempt = from.link.attempt;
    packet.other_attempt = to_attempt;
    packet.other_vi = static_cast<std::uint16_t>(from.link.peer_vi);
    packet.key = from.link.key;
    add_attributes(packet, from);
    send(on, packet);
}

// The first attempt that may be the other half: A.local = B.remote and A.remote = B.local. On one card both
// halves get each other's request; the one with the lower attempt leads.
std::shared_ptr<connection_manager::peer_attempt> connection_manager::match(
    const abi::connection_packet& packet) const {
    const net_address theirs = address_in(packet);
    const std::vector<std::uint8_t> wanted(
        packet.remote_discriminator,
        packet.remote_discriminator +
            std::min<std::uint32_t>(packet.remote_bytes, abi::discriminator_bytes_max));
    for (const auto& entry : peers_) {
        const peer_attempt& a = *entry.second;
        if (a.at != peer_attempt::phase::requesting || a.remote != theirs || a.local.discriminator != wanted)
            continue;
        if (theirs.host == agent_.address_ && a.id == packet.attempt) continue;
        return entry.second;
    }
    return nullptr;
}

void connection_manager::on_peer_request(host::process& on, const abi::connection_packet& packet) {
    const node_address source = source_of(packet);
    if (const auto refused = incoming_.find({source, packet.attempt}); refused != incoming_.end())
        return answer_again(on, *refused->second);
    for (const auto& entry : peers_) {  // a doubled one
        const peer_attempt& a = *entry.second;
        if (a.at == peer_attempt::phase::leading && a.other == packet.attempt && a.remote.host == source)
            return send_peer(on, a);
    }
    const std::shared_ptr<peer_attempt> mine = match(packet);
    if (!mine) return;  // nobody here yet: it will come again
    if (std::pair(agent_.address_, mine->id) < std::pair(source, packet.attempt))
        lead(on, *mine, packet);
    else
        send_peer(on, *mine);
}

void connection_manager::lead(host::process& on, peer_attempt& leader, const abi::connection_packet& packet) {
    const node_address source = source_of(packet);
    leader.other = packet.attempt;
    leader.remote_attributes = attributes_in(packet);
    status result = compare(leader.from->attributes, leader.remote_attributes);
    if (result == status::success) {
        leader.at = peer_attempt::phase::leading;
        result =
            connect(on, leader.from,
                    {.peer = source, .peer_vi = packet.vi, .key = key_of(leader.id), .attempt = leader.id},
                    packet.max_transfer_bytes);
    }
    if (result == status::success) return send_peer(on, leader);
    const auto refusal = std::make_shared<incoming_connection>("");
    refusal->client = source;
    refusal->attempt = packet.attempt;
    refusal->client_vi = packet.vi;
    refusal->at = incoming_connection::phase::over;
    refusal->answer = abi::connection_peer_refused;
    refusal->answer_code = static_cast<std::uint8_t>(result);
    remember({source, packet.attempt}, refusal);
    answer_again(on, *refusal);
    finish(leader, result);
}

void connection_manager::on_peer_connected(host::process& on, const abi::connection_packet& packet) {
    const bool answer = packet.code == 1;
    const auto found = peers_.find(packet.other_attempt);
    if (found != peers_.end() && found->second->remote.host == source_of(packet)) {
        peer_attempt& mine = *found->second;
        if (mine.at == peer_attempt::phase::requesting && !answer) return follow(on, mine, packet);
        if (mine.at == peer_attempt::phase::leading && answer) return finish(mine, status::success);
    }
    if (answer) return;
    // Doubled, or too late.
    const std::shared_ptr<vi> ours = agent_.vis_.at_index(packet.other_vi);
    if (ours && ours->state == vi_state::connected && ours->link.attempt == packet.other_attempt &&
        ours->link.key == packet.key)
        return send_peer_connected(on, *ours, packet.attempt, true);
    abi::connection_packet cancel = make(abi::connection_cancel, source_of(packet));
    cancel.attempt = packet.other_attempt;
    cancel.other_attempt = packet.attempt;
    send(on, cancel);
}

void connection_manager::follow(host::process& on, peer_attempt& follower,
                                const abi::connection_packet& packet) {
    follower.other = packet.attempt;
    follower.remote_attributes = attributes_in(packet);
    const status result = connect(
        on, follower.from,
        {.peer = follower.remote.host, .peer_vi = packet.vi, .key = packet.key, .attempt = follower.id},
        packet.max_transfer_bytes);
    finish(follower, result);
    if (result == status::success) send_peer(on, follower);
}

void connection_manager::on_peer_refused(const abi::connection_packet& packet) {
    const auto found = peers_.find(packet.attempt);
    if (found == peers_.end() || found->second->at != peer_attempt::phase::requesting) return;
    finish(*found->second, static_cast<status>(packet.code));
}

}  // namespace vinic::driver
