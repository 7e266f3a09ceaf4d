// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "firmware/abi/connection_packet.h"
#include "testbench/tests/vipl/program.h"

namespace vinic::vipl::test {
namespace {

constexpr sim::picoseconds ms = 1'000'000'000;

/// Both sides connect, exchange one message each way and disconnect.
void exchange(world& w) {
    const auto talk = [](setup& s, VIP_VI_HANDLE vi) {
        VIP_DESCRIPTOR* d = nullptr;
        EXPECT_EQ(VipPostSend(vi, s.with(1, s.buffer(1), 8), s.handle), VIP_SUCCESS);
        EXPECT_EQ(VipSendWait(vi, 1000, &d), VIP_SUCCESS);
        EXPECT_EQ(VipRecvWait(vi, 1000, &d), VIP_SUCCESS);
        EXPECT_EQ(d, s.descriptor(0));
    };
    w.program(1, [talk](host::process& self, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        ASSERT_EQ(VipPostRecv(vi, s.with(0, s.buffer(0), 64), s.handle), VIP_SUCCESS);
        address here(node1, "srv");
        address remote;
        VIP_VI_ATTRIBUTES attributes;
        VIP_CONN_HANDLE connection = nullptr;
        ASSERT_EQ(VipConnectWait(s.nic, here, VIP_INFINITE, remote, &attributes, &connection), VIP_SUCCESS);
        EXPECT_EQ(remote.host(), node0);
        EXPECT_EQ(remote.discriminator(), "cli");
        EXPECT_EQ(attributes.ReliabilityLevel, VIP_SERVICE_RELIABLE_DELIVERY);
        ASSERT_EQ(VipConnectAccept(connection, vi), VIP_SUCCESS);
        EXPECT_EQ(VipConnectAccept(connection, vi), VIP_INVALID_PARAMETER);
        talk(s, vi);
        while (state_of(vi) == VIP_STATE_CONNECTED) self.sleep_for(ms);
        EXPECT_EQ(state_of(vi), VIP_STATE_ERROR);
    });
    w.program(0, [talk](host::process& self, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        ASSERT_EQ(VipPostRecv(vi, s.with(0, s.buffer(0), 64), s.handle), VIP_SUCCESS);
        address here(node0, "cli");
        address there(node1, "srv");
        VIP_VI_ATTRIBUTES remote;
        ASSERT_EQ(connect(self, vi, here, there, &remote, 5000), VIP_SUCCESS);
        EXPECT_EQ(state_of(vi), VIP_STATE_CONNECTED);
        EXPECT_EQ(VipConnectRequest(vi, here, there, 1000, &remote), VIP_INVALID_STATE);
        talk(s, vi);
        EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
        self.sleep_for(50 * ms);
    });
    w.run();
}

TEST(connection, is_made_used_and_ended) {
    world w;
    exchange(w);
}

TEST(connection, survives_the_loss_of_any_control_packet) {
    for (const int lost :
         {abi::connection_request, abi::connection_accept, abi::connection_confirm, abi::connection_no_match,
          abi::connection_disconnect, abi::connection_disconnected}) {
        SCOPED_TRACE(lost);
        world w;
        int losses = 0;
        w.network.filter = [&](const abi::connection_packet& p) {
            return p.kind == lost && losses++ < 2 ? 0u : 1u;
        };
        exchange(w);
    }
}

TEST(connection, survives_doubled_control_packets) {
    world w;
    w.network.filter = [](const abi::connection_packet&) { return 2u; };
    exchange(w);
    EXPECT_EQ(w.machines[0]->agent.connections.value(), 1u);
    EXPECT_EQ(w.machines[1]->agent.connections.value(), 1u);
}

TEST(connection, survives_loss_and_doubling_together) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE(seed);
        world w;
        sim::random_stream random(seed, "network");
        w.network.filter = [&](const abi::connection_packet&) {
            return static_cast<unsigned>(random.below(3));  // lost, once, twice
        };
        exchange(w);
    }
}

TEST(connection, request_without_a_waiter_has_no_match) {
    world w;
    w.program(1, [](host::process& self, host::address_space& space) {
        setup s(space);
        self.sleep_for(20 * ms);
    });
    w.program(0, [](host::process& self, host::address_space& space) {
        setup s(space);
        self.sleep_for(2 * ms);
        const VIP_VI_HANDLE vi = s.vi();
        address here(node0, "a");
        address there(node1, "b");
        VIP_VI_ATTRIBUTES remote;
        const sim::picoseconds before = sim::now();
        EXPECT_EQ(VipConnectRequest(vi, here, there, 1000, &remote), VIP_NO_MATCH);
        EXPECT_LT(sim::now() - before, ms);  // promptly
        EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
        EXPECT_EQ(VipConnectRequest(vi, here, there, 0, &remote), VIP_INVALID_PARAMETER);
        address nowhere(driver::make_node_address(9, 0), "b");
        EXPECT_EQ(VipConnectRequest(vi, here, nowhere, 10, &remote), VIP_NOT_REACHABLE);
    });
    w.run();
}

// Dead server: TIMEOUT at its time, and posted receives stay posted.
TEST(connection, request_times_out) {
    world w;
    w.network.filter = [](const abi::connection_packet&) { return 0u; };
    w.program(0, [](host::process&, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        ASSERT_EQ(VipPostRecv(vi, s.with(0, s.buffer(0), 8), s.handle), VIP_SUCCESS);
        address here(node0, "a");
        address there(node1, "b");
        VIP_VI_ATTRIBUTES remote;
        const sim::picoseconds before = sim::now();
        EXPECT_EQ(VipConnectRequest(vi, here, there, 20, &remote), VIP_TIMEOUT);
        EXPECT_GE(sim::now(), before + 20 * ms);
        EXPECT_LT(sim::now(), before + 21 * ms);
        EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
        VIP_DESCRIPTOR* d = nullptr;
        EXPECT_EQ(VipRecvDone(vi, &d), VIP_NOT_DONE);
    });
    w.run();
}

TEST(connection, wait_times_out) {
    world w(1);
    w.program(0, [](host::process&, host::address_space& space) {
        setup s(space);
        address here(node0, "a");
        address remote;
        VIP_VI_ATTRIBUTES attributes;
        VIP_CONN_HANDLE connection = nullptr;
        for (const VIP_ULONG timeout : {0u, 7u}) {
            const sim::picoseconds before = sim::now();
            EXPECT_EQ(VipConnectWait(s.nic, here, timeout, remote, &attributes, &connection), VIP_TIMEOUT);
            EXPECT_GE(sim::now(), before + timeout * ms);
            EXPECT_LT(sim::now(), before + (timeout + 1) * ms);
        }
    });
    w.run();
}

TEST(connection, reject_and_mismatch_are_told_apart) {
    world w;
    w.program(1, [](host::process&, host::address_space& space) {
        setup s(space);
        address here(node1);  // an empty discriminator takes any request
        address remote;
        VIP_VI_ATTRIBUTES attributes;
        VIP_CONN_HANDLE connection = nullptr;
        ASSERT_EQ(VipConnectWait(s.nic, here, VIP_INFINITE, remote, &attributes, &connection), VIP_SUCCESS);
        VIP_VI_ATTRIBUTES other = s.attributes(VIP_SERVICE_UNRELIABLE);
        VIP_VI_HANDLE vi = nullptr;
        ASSERT_EQ(VipCreateVi(s.nic, &other, nullptr, nullptr, &vi), VIP_SUCCESS);
        EXPECT_EQ(VipConnectAccept(connection, vi), VIP_INVALID_RELIABILITY_LEVEL);
        other = s.attributes();
        other.MaxTransferSize = 1000;
        ASSERT_EQ(VipSetViAttributes(vi, &other), VIP_SUCCESS);
        EXPECT_EQ(VipConnectAccept(connection, vi), VIP_INVALID_MTU);
        EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
        EXPECT_EQ(VipConnectReject(connection), VIP_SUCCESS);
        EXPECT_EQ(VipConnectReject(connection), VIP_INVALID_PARAMETER);
        // The next one: changed attributes make it.
        ASSERT_EQ(VipConnectWait(s.nic, here, VIP_INFINITE, remote, &attributes, &connection), VIP_SUCCESS);
        EXPECT_EQ(VipConnectAccept(connection, vi), VIP_INVALID_MTU);
        other.MaxTransferSize = attributes.MaxTransferSize;
        ASSERT_EQ(VipSetViAttributes(vi, &other), VIP_SUCCESS);
        EXPECT_EQ(VipConnectAccept(connection, vi), VIP_SUCCESS);
        EXPECT_EQ(VipSetViAttributes(vi, &other), VIP_INVALID_STATE);
    });
    w.program(0, [](host::process& self, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        address here(node0, "a");
        address there(node1, "b");
        VIP_VI_ATTRIBUTES remote;
        EXPECT_EQ(connect(self, vi, here, there, &remote), VIP_REJECT);
        EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
        EXPECT_EQ(connect(self, vi, here, there, &remote), VIP_SUCCESS);
        self.sleep_for(5 * ms);
    });
    w.run();
}

// The client has gone before the server makes up its mind.
TEST(connection, accept_of_a_cancelled_request_times_out) {
    world w;
    w.program(1, [](host::process& self, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        ASSERT_EQ(VipPostRecv(vi, s.with(0, s.buffer(0), 8), s.handle), VIP_SUCCESS);
        address here(node1, "b");
        address remote;
        VIP_VI_ATTRIBUTES attributes;
        VIP_CONN_HANDLE connection = nullptr;
        ASSERT_EQ(VipConnectWait(s.nic, here, VIP_INFINITE, remote, &attributes, &connection), VIP_SUCCESS);
        self.sleep_for(30 * ms);
        EXPECT_EQ(VipConnectAccept(connection, vi), VIP_TIMEOUT);
        EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
        VIP_DESCRIPTOR* d = nullptr;
        EXPECT_EQ(VipRecvDone(vi, &d), VIP_NOT_DONE);  // still posted
    });
    w.program(0, [](host::process& self, host::address_space& space) {
        setup s(space);
        address here(node0, "a");
        address there(node1, "b");
        VIP_VI_ATTRIBUTES remote;
        EXPECT_EQ(connect(self, s.vi(), here, there, &remote, 10), VIP_TIMEOUT);
    });
    w.run();
}

/// Peer to peer: `first` asks 3 ms before the other; returns both results.
std::map<unsigned, VIP_RETURN> peers(world& w, unsigned first, bool equal_levels, VIP_ULONG timeout) {
    auto results = std::make_shared<std::map<unsigned, VIP_RETURN>>();
    for (const unsigned me : {0u, 1u})
        w.program(me, [=](host::process& self, host::address_space& space) {
            setup s(space);
            VIP_VI_ATTRIBUTES a = s.attributes(me == 1 && !equal_levels ? VIP_SERVICE_UNRELIABLE
                                                                        : VIP_SERVICE_RELIABLE_DELIVERY);
            VIP_VI_HANDLE vi = nullptr;
            ASSERT_EQ(VipCreateVi(s.nic, &a, nullptr, nullptr, &vi), VIP_SUCCESS);
            VIP_VI_ATTRIBUTES remote{};
            EXPECT_EQ(VipConnectPeerDone(vi, &remote), VIP_INVALID_STATE);
            if (me != first) self.sleep_for(3 * ms);
            address here(me == 0 ? node0 : node1, "same");
            address there(me == 0 ? node1 : node0, "same");
            ASSERT_EQ(VipConnectPeerRequest(vi, here, there, timeout), VIP_SUCCESS);
            EXPECT_EQ(VipConnectPeerDone(vi, &remote), VIP_NOT_DONE);
            EXPECT_EQ(state_of(vi), VIP_STATE_CONNECT_PENDING);
            (*results)[me] = VipConnectPeerWait(vi, &remote);
            const bool connected = (*results)[me] == VIP_SUCCESS;
            EXPECT_EQ(state_of(vi), connected ? VIP_STATE_CONNECTED : VIP_STATE_IDLE);
            if (connected) {
                EXPECT_EQ(remote.MaxTransferSize, 32768u);
            }
            self.sleep_for(100 * ms);
        });
    w.run();
    return *results;
}

TEST(peer_connection, is_made_in_both_orders_over_lossy_networks) {
    for (const unsigned first : {0u, 1u})
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            SCOPED_TRACE(seed);
            world w;
            sim::random_stream random(seed, "network");
            if (seed > 0)
                w.network.filter = [&](const abi::connection_packet& p) {
                    return p.kind == abi::connection_disconnect ? 1u : static_cast<unsigned>(random.below(3));
                };
            const auto results = peers(w, first, true, 2000);
            EXPECT_EQ(results.at(0), VIP_SUCCESS);
            EXPECT_EQ(results.at(1), VIP_SUCCESS);
        }
}

TEST(peer_connection, needs_equal_attributes) {
    world w;
    const auto results = peers(w, 0, false, 2000);
    EXPECT_EQ(results.at(0), VIP_INVALID_RELIABILITY_LEVEL);
    EXPECT_EQ(results.at(1), VIP_INVALID_RELIABILITY_LEVEL);
}

TEST(peer_connection, times_out_without_its_other_half) {
    world w;
    w.network.filter = [](const abi::connection_packet&) { return 0u; };
    const auto results = peers(w, 0, true, 20);
    EXPECT_EQ(results.at(0), VIP_TIMEOUT);
    EXPECT_EQ(results.at(1), VIP_TIMEOUT);
}

TEST(connection, process_that_ends_takes_its_connections_along) {
    world w;
    w.program(1, [](host::process& self, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        address here(node1, "b");
        ASSERT_EQ(serve(s.nic, vi, here), VIP_SUCCESS);
        self.sleep_for(20 * ms);
        EXPECT_EQ(state_of(vi), VIP_STATE_ERROR);
    });
    w.program(0, [](host::process& self, host::address_space& space) {
        setup s(space);
        address here(node0, "a");
        address there(node1, "b");
        VIP_VI_ATTRIBUTES remote;
        EXPECT_EQ(connect(self, s.vi(), here, there, &remote), VIP_SUCCESS);
    });
    w.run();
    EXPECT_FALSE(w.machines[0]->card.open[0]);
    EXPECT_TRUE(w.machines[0]->card.regions.empty());
}

}  // namespace
}  // namespace vinic::vipl::test
