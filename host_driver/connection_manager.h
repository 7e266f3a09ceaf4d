// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "firmware/abi/connection_packet.h"
#include "host_driver/objects.h"
#include "host_driver/status.h"
#include "host_driver/types.h"
#include "hw/host/process.h"
#include "hw/sim/time.h"

namespace vinic::driver {

class kernel_agent;

/// A request that reached this node: what VipConnectWait hands out.
struct incoming_connection {
    enum class phase {
        offered,    ///< a waiter has it
        accepting,  ///< the answer is on its way
        confirmed,  ///< the client is connected
        over        ///< rejected, cancelled or given up
    };

    explicit incoming_connection(const std::string& what) : answered(what) {}

    node_address client{};
    std::uint32_t attempt = 0;
    std::uint32_t client_vi = 0;
    std::uint32_t key = 0;
    net_address client_address;
    vi_attributes client_attributes;  ///< without a tag
    phase at = phase::offered;
    std::uint8_t answer = 0;  ///< abi::connection_kind with which a doubled request is answered; 0: none
    std::uint8_t answer_code = 0;
    std::shared_ptr<vi> server;  ///< while accepting
    host::wait_queue answered;
};

/// Connections, by control packets between kernel agents (firmware/abi/connection_packet.h). Packets may be
/// lost or doubled: what is not answered is sent again, what is doubled is answered again.
///
/// Client and server: request -> accept -> confirm. The server's VI is connected on its card before the
/// accept leaves, the client's before the confirm does, so neither side can send to a VI that is not ready.
///
/// Peer to peer: of two matching requests the one with the lower (address, attempt) leads. The other repeats
/// its peer_request; the leader answers with peer_connected once its VI is connected on the card; the
/// follower connects and answers with peer_connected, code 1, which the leader awaits.
class connection_manager {
public:
    explicit connection_manager(kernel_agent& agent);

    // --- Client and server. Blocking, in kernel mode.
    /// Waits for a request whose remote address has the discriminator of `local`, or for `any`.
    status wait(host::process& on, const std::shared_ptr<instance>& nic, const net_address& local, bool any,
                sim::picoseconds deadline, std::shared_ptr<incoming_connection>& found);
    status accept(host::process& on, const std::shared_ptr<incoming_connection>& which,
                  const std::shared_ptr<vi>& with);
    status reject(host::process& on, const std::shared_ptr<incoming_connection>& which);
    status request(host::process& on, const std::shared_ptr<vi>& from, const net_address& local,
                   const net_address& remote, sim::picoseconds deadline, vi_attributes& remote_attributes);
    status disconnect(host::process& on, const std::shared_ptr<vi>& which);

    // --- Peer to peer.
    status peer_request(host::process& on, const std::shared_ptr<vi>& from, const net_address& local,
                        const net_address& remote, sim::picoseconds deadline);
    /// not_done while the attempt lasts; with `wait`, blocks until it is over.
    status peer_done(host::process& on, const std::shared_ptr<vi>& from, bool wait,
                     vi_attributes& remote_attributes);

    // --- From the kernel agent's thread.
    void on_packet(host::process& on, const abi::connection_packet& packet);
    void on_time(host::process& on);
    sim::picoseconds next_time() const;

    /// The VI's connection is over; the peer is told until it answers.
    void tell_peer(host::process& on, const vi& which);
    /// Attempts of a VI that goes away end.
    void cancel(host::process& on, const std::shared_ptr<vi>& which);
    /// Offers that nobody has taken when their NIC is closed are rejected.
    void forget(host::process& on, const std::shared_ptr<instance>& nic);

private:
    using incoming_key = std::pair<node_address, std::uint32_t>;

    struct waiter {
        explicit waiter(const std::string& what) : arrived(what) {}
        const instance* nic = nullptr;
        std::vector<std::uint8_t> discriminator;
        bool any = false;
        std::shared_ptr<incoming_connection> found;
        host::wait_queue arrived;
    };

    /// A client's attempt.
    struct attempt {
        explicit attempt(const std::string& what) : answered(what) {}
        std::shared_ptr<vi> from;
        abi::connection_packet answer{};  ///< kind 0: none yet
        bool cancelled = false;
        host::wait_queue answered;
    };

    struct peer_attempt {
        enum class phase { requesting, leading, connected, failed };
        explicit peer_attempt(const std::string& what) : over(what) {}
        std::uint32_t id = 0;
        std::shared_ptr<vi> from;
        net_address local;
        net_address remote;
        sim::picoseconds deadline = sim::never;
        sim::picoseconds next_send = 0;
        sim::picoseconds interval = 0;
        phase at = phase::requesting;
        status result = status::not_done;
        std::uint32_t other = 0;  ///< the peer's attempt
        vi_attributes remote_attributes;
        host::wait_queue over;
    };

    struct farewell {
        abi::connection_packet packet{};
        sim::picoseconds next_send = 0;
        sim::picoseconds interval = 0;
        std::uint64_t tries_left = 0;
    };

    abi::connection_packet make(abi::connection_kind kind, const node_address& to) const;
    void add_attributes(abi::connection_packet& packet, const vi& of) const;
    /// False when there is no route.
    bool send(host::process& on, const abi::connection_packet& packet);
    sim::picoseconds first_interval() const;
    sim::picoseconds longer(sim::picoseconds interval) const;
    std::uint32_t new_attempt();
    std::uint32_t key_of(std::uint32_t attempt_id) const;
    static net_address address_in(const abi::connection_packet& packet);
    static vi_attributes attributes_in(const abi::connection_packet& packet);
    static status compare(const vi_attributes& ours, const vi_attributes& theirs);
    status connect(host::process& on, const std::shared_ptr<vi>& which, const connection& with,
                   std::uint64_t peer_max_transfer_bytes);
    void give_back(host::process& on, const std::shared_ptr<vi>& which);

    void on_request(host::process& on, const abi::connection_packet& packet);
    void on_answer(host::process& on, const abi::connection_packet& packet);
    void on_confirm(const abi::connection_packet& packet);
    void on_cancel(host::process& on, const abi::connection_packet& packet);
    void on_peer_request(host::process& on, const abi::connection_packet& packet);
    void on_peer_connected(host::process& on, const abi::connection_packet& packet);
    void follow(host::process& on, peer_attempt& follower, const abi::connection_packet& packet);
    void on_peer_refused(const abi::connection_packet& packet);
    void on_disconnect(host::process& on, const abi::connection_packet& packet);
    void answer_again(host::process& on, const incoming_connection& which);
    void remember(const incoming_key& key, std::shared_ptr<incoming_connection> which);
    status await_confirm(host::process& on, incoming_connection& which);
    std::shared_ptr<peer_attempt> match(const abi::connection_packet& packet) const;
    void lead(host::process& on, peer_attempt& leader, const abi::connection_packet& packet);
    void send_peer(host::process& on, const peer_attempt& which);
    void send_peer_connected(host::process& on, const vi& from, std::uint32_t to_attempt, bool answer);
    void finish(peer_attempt& which, status result);

    kernel_agent& agent_;
    std::uint32_t attempts_ = 0;
    std::list<waiter*> waiters_;  ///< in order of arrival
    std::map<std::uint32_t, std::shared_ptr<attempt>> clients_;
    std::map<incoming_key, std::shared_ptr<incoming_connection>> incoming_;
    std::deque<incoming_key> incoming_order_;
    std::map<std::uint32_t, std::shared_ptr<peer_attempt>> peers_;  ///< by attempt; in order of their start
    std::map<std::pair<std::uint32_t, std::uint16_t>, farewell> farewells_;  ///< by key and own VI
};

}  // namespace vinic::driver
