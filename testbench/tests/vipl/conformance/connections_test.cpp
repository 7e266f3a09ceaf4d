// SPDX-License-Identifier: Apache-2.0

// Client/server connections (facts vipl.md 4.4, 5, 8).
#include "testbench/tests/vipl/conformance/pair.h"

namespace vinic::vipl::test {
namespace {

/// A request that VipConnectWait has taken.
struct offer {
    VIP_CONN_HANDLE connection = nullptr;
    address from;
    VIP_VI_ATTRIBUTES attributes{};

    explicit offer(const side& of, const std::string& discriminator = "srv") {
        address here({}, discriminator);
        EXPECT_EQ(VipConnectWait(of.s.nic, here, VIP_INFINITE, from, &attributes, &connection), VIP_SUCCESS);
    }
};

/// Machine 1 serves, machine 0 asks; both stay until both are done.
void play(const part& server, const part& client, VIP_RELIABILITY_LEVEL level = VIP_SERVICE_RELIABLE_DELIVERY,
          unsigned server_node = 1) {
    machines m(2);
    unsigned done = 0;
    const auto program = [&](const part& what) {
        return [&](environment& in) {
            side mine(in, level);
            what(mine);
            ++done;
            in.until([&] { return done == 2; });
        };
    };
    m.program(server_node, program(server));
    m.program(0, program(client));
    m.run();
}

VIP_RETURN request(side& of, unsigned node, const std::string& discriminator, VIP_ULONG timeout = 500) {
    address here(node0, "cli");
    address there(driver::make_node_address(node, 0), discriminator);
    VIP_VI_ATTRIBUTES theirs;
    return connect(of.in.self, of.vi, here, there, &theirs, timeout);
}

TEST(early_adopter_connection, tells_each_side_of_the_other) {
    play(
        [](side& s) {
            s.attributes.EnableRdmaWrite = VIP_FALSE;
            EXPECT_EQ(VipSetViAttributes(s.vi, &s.attributes), VIP_SUCCESS);
            const offer o(s);
            EXPECT_EQ(o.attributes.ReliabilityLevel, VIP_SERVICE_RELIABLE_DELIVERY);
            EXPECT_EQ(o.attributes.MaxTransferSize, 32'768u);
            EXPECT_EQ(o.attributes.EnableRdmaWrite, VIP_TRUE);
            EXPECT_EQ(o.attributes.EnableRdmaRead, VIP_FALSE);
            EXPECT_EQ(o.from.host(), node0);
            EXPECT_EQ(o.from.discriminator(), "cli");
            EXPECT_EQ(VipConnectAccept(o.connection, s.vi), VIP_SUCCESS);
            EXPECT_EQ(s.state(), VIP_STATE_CONNECTED);
            EXPECT_EQ(VipConnectAccept(o.connection, s.another()), VIP_INVALID_PARAMETER);
        },
        [](side& s) {
            address here(node0, "cli");
            address there(node1, "srv");
            VIP_VI_ATTRIBUTES theirs{};
            ASSERT_EQ(connect(s.in.self, s.vi, here, there, &theirs), VIP_SUCCESS);
            EXPECT_EQ(s.state(), VIP_STATE_CONNECTED);
            EXPECT_EQ(theirs.ReliabilityLevel, VIP_SERVICE_RELIABLE_DELIVERY);
            EXPECT_EQ(theirs.MaxTransferSize, 32'768u);
            EXPECT_EQ(theirs.EnableRdmaWrite, VIP_FALSE);
        });
}

// A failure leaves the VI idle and its receives posted: programs ask again in a loop (facts 5).
TEST(early_adopter_connection, is_made_after_rejection_time_out_and_no_match) {
    play(
        [](side& s) {
            const offer first(s);
            EXPECT_EQ(VipConnectReject(first.connection), VIP_SUCCESS);
            EXPECT_EQ(VipConnectReject(first.connection), VIP_INVALID_PARAMETER);
            const offer second(s);
            s.pause(60 * ms);  // the client gives up after 50
            EXPECT_EQ(VipConnectAccept(second.connection, s.vi), VIP_TIMEOUT);
            EXPECT_EQ(s.state(), VIP_STATE_IDLE);
            const offer third(s);
            EXPECT_EQ(VipConnectAccept(third.connection, s.vi), VIP_SUCCESS);
            s.post_send(s.with(0, s.s.buffer(0), 8));
            EXPECT_EQ(s.sent(), VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
        },
        [](side& s) {
            s.post_receive(s.with(0, s.s.buffer(0), 64));
            EXPECT_EQ(request(s, 1, "srv"), VIP_REJECT);
            EXPECT_EQ(s.state(), VIP_STATE_IDLE);
            const sim::picoseconds before = sim::now();
            EXPECT_EQ(request(s, 1, "srv", 50), VIP_TIMEOUT);
            EXPECT_GE(sim::now(), before + 50 * ms);
            EXPECT_LT(sim::now(), before + 60 * ms);
            EXPECT_EQ(s.state(), VIP_STATE_IDLE);
            EXPECT_EQ(VipRecvDone(s.vi, &s.last), VIP_NOT_DONE);
            EXPECT_EQ(request(s, 1, "srv"), VIP_SUCCESS);
            EXPECT_EQ(s.received(), VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE);
            EXPECT_EQ(s.last, s.s.descriptor(0));
        });
}

TEST(early_adopter_connection, finds_no_match_promptly) {
    play([](side& s) { s.pause(20 * ms); },
         [](side& s) {
             address here(node0, "cli");
             address there(node1, "srv");
             VIP_VI_ATTRIBUTES theirs;
             EXPECT_EQ(request(s, 0, "warm", 0), VIP_INVALID_PARAMETER);
             s.pause(5 * ms);  // the other card has started
             const sim::picoseconds before = sim::now();
             EXPECT_EQ(VipConnectRequest(s.vi, here, there, 10'000, &theirs), VIP_NO_MATCH);
             EXPECT_LT(sim::now(), before + ms);
             EXPECT_EQ(s.state(), VIP_STATE_IDLE);
         });
}

TEST(early_adopter_connection, to_nowhere_is_not_reachable) {
    alone([](environment& in) {
        side s(in, VIP_SERVICE_UNRELIABLE);
        address here(node0, "cli");
        address there(driver::make_node_address(77, 0), "srv");
        VIP_VI_ATTRIBUTES theirs;
        EXPECT_EQ(VipConnectRequest(s.vi, here, there, 10, &theirs), VIP_NOT_REACHABLE);
        EXPECT_EQ(s.state(), VIP_STATE_IDLE);
    });
}

TEST(early_adopter_connection, wait_times_out) {
    alone([](environment& in) {
        side s(in, VIP_SERVICE_UNRELIABLE);
        address here(node0, "srv");
        address from;
        VIP_VI_ATTRIBUTES theirs;
        VIP_CONN_HANDLE connection = nullptr;
        sim::picoseconds before = sim::now();
        EXPECT_EQ(VipConnectWait(s.s.nic, here, 7, from, &theirs, &connection), VIP_TIMEOUT);
        EXPECT_GE(sim::now(), before + 7 * ms);
        EXPECT_LT(sim::now(), before + 8 * ms);
        before = sim::now();
        EXPECT_EQ(VipConnectWait(s.s.nic, here, 0, from, &theirs, &connection), VIP_TIMEOUT);
        EXPECT_LT(sim::now(), before + ms);
        EXPECT_EQ(connection, nullptr);
    });
}

// The level and the maximum transfer size must be equal; the request stands until it is accepted or rejected.
TEST(early_adopter_connection, with_other_attributes_is_not_accepted) {
    play(
        [](side& s) {
            const offer o(s);
            const auto accept_as = [&](VIP_RELIABILITY_LEVEL level, VIP_ULONG size) {
                VIP_VI_ATTRIBUTES a = s.attributes;
                a.ReliabilityLevel = level;
                a.MaxTransferSize = size;
                EXPECT_EQ(VipSetViAttributes(s.vi, &a), VIP_SUCCESS);
                return VipConnectAccept(o.connection, s.vi);
            };
            EXPECT_EQ(accept_as(VIP_SERVICE_UNRELIABLE, 32'768), VIP_INVALID_RELIABILITY_LEVEL);
            EXPECT_EQ(s.state(), VIP_STATE_IDLE);
            EXPECT_EQ(accept_as(VIP_SERVICE_RELIABLE_RECEPTION, 32'768), VIP_INVALID_RELIABILITY_LEVEL);
            EXPECT_EQ(accept_as(VIP_SERVICE_RELIABLE_DELIVERY, 32'767), VIP_INVALID_MTU);
            EXPECT_EQ(s.state(), VIP_STATE_IDLE);
            s.pause();
            EXPECT_EQ(accept_as(VIP_SERVICE_RELIABLE_DELIVERY, 32'768), VIP_SUCCESS);
        },
        [](side& s) { EXPECT_EQ(request(s, 1, "srv"), VIP_SUCCESS); });
}

TEST(early_adopter_connection, matches_by_discriminator) {
    play(
        [](side& s) {
            unsigned taken = 0;
            for (const std::string name : {"a", "b", "ab", "any"}) {
                s.in.thread([&s, &taken, name](host::process&) {
                    address here({}, name == "any" ? "" : name);
                    address from;
                    VIP_VI_ATTRIBUTES theirs;
                    VIP_CONN_HANDLE connection = nullptr;
                    EXPECT_EQ(VipConnectWait(s.s.nic, here, 500, from, &theirs, &connection), VIP_SUCCESS);
                    EXPECT_EQ(from.discriminator(), "for " + name);
                    EXPECT_EQ(VipConnectAccept(connection, s.another()), VIP_SUCCESS);
                    ++taken;
                });
                s.pause(500 * us);
            }
            s.in.join();
            EXPECT_EQ(taken, 4u);
        },
        [](side& s) {
            s.pause(5 * ms);
            // The one that takes any would take the others, too: it is the last to wait.
            for (const std::string name : {"ab", "b", "a", "any"}) {
                address here(node0, "for " + name);
                address there(node1, name == "any" ? "something else" : name);
                VIP_VI_ATTRIBUTES theirs;
                EXPECT_EQ(VipConnectRequest(s.another(), here, there, 500, &theirs), VIP_SUCCESS) << name;
            }
        });
}

// Several VIs may use the same addresses (facts 4.4).
TEST(early_adopter_connection, of_equal_addresses_is_not_refused) {
    static constexpr unsigned count = 4;
    play(
        [](side& s) {
            for (unsigned i = 0; i != count; ++i) {
                const offer o(s, "same");
                EXPECT_EQ(VipConnectAccept(o.connection, s.another()), VIP_SUCCESS);
            }
        },
        [](side& s) {
            for (unsigned i = 0; i != count; ++i) {
                address here(node0, "same");
                address there(node1, "same");
                VIP_VI_ATTRIBUTES theirs;
                EXPECT_EQ(connect(s.in.self, s.another(), here, there, &theirs), VIP_SUCCESS);
            }
        });
}

// Facts 8: two processes on one card, by its own address; at every level.
class early_adopter_connection_to_the_own_card : public testing::TestWithParam<VIP_RELIABILITY_LEVEL> {};

TEST_P(early_adopter_connection_to_the_own_card, carries_messages) {
    scene sc;
    sc.level = GetParam();
    sc.loopback = true;
    sc.target_before = [](side& t) { t.post_receive(t.with(0, t.s.buffer(0), 4096)); };
    sc.target = [](side& t) {
        EXPECT_EQ(t.received(), VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE);
        EXPECT_EQ(t.last->CS.Length, 4096u);
        for (unsigned i = 0; i != 4096; ++i) ASSERT_EQ(t.s.buffer(0)[i], std::byte(i * 7)) << i;
        EXPECT_EQ(t.settles_in(VIP_STATE_ERROR), VIP_STATE_ERROR);
        EXPECT_EQ(t.codes(), std::vector{VIP_ERROR_CONN_LOST});
    };
    sc.source = [](side& s) {
        for (unsigned i = 0; i != 4096; ++i) s.s.buffer(0)[i] = std::byte(i * 7);
        s.post_send(s.with(0, s.s.buffer(0), 4096));
        EXPECT_EQ(s.sent(), VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
        s.pause();
        EXPECT_EQ(VipDisconnect(s.vi), VIP_SUCCESS);
    };
    sc.play();
}

TEST(early_adopter_connection, of_a_program_with_itself) {
    alone([](environment& in) {
        side s(in, VIP_SERVICE_RELIABLE_DELIVERY);
        const VIP_VI_HANDLE client = s.another();
        s.post_receive(s.with(0, s.s.buffer(0), 8));
        in.thread([&](host::process& on) {
            address here({}, "cli");
            address there(node0, "srv");
            VIP_VI_ATTRIBUTES theirs;
            EXPECT_EQ(connect(on, client, here, there, &theirs), VIP_SUCCESS);
        });
        s.listen("srv");
        in.join();
        std::memcpy(s.s.buffer(1), "to me", 6);
        EXPECT_EQ(VipPostSend(client, s.with(1, s.s.buffer(1), 6), s.s.handle), VIP_SUCCESS);
        EXPECT_EQ(s.received(), VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE);
        EXPECT_STREQ(reinterpret_cast<const char*>(s.s.buffer(0)), "to me");
    });
}

// Another connection of the same VIs, whose packets are not those of the first.
TEST(early_adopter_connection, is_made_again_after_disconnection) {
    static constexpr unsigned times = 3;
    play(
        [](side& s) {
            for (unsigned i = 0; i != times; ++i) {
                s.post_receive(s.with(0, s.s.buffer(0), 8));
                s.listen("srv");
                EXPECT_EQ(s.received(), VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE);
                EXPECT_EQ(s.s.buffer(0)[0], std::byte(i));
                EXPECT_EQ(s.settles_in(VIP_STATE_ERROR), VIP_STATE_ERROR);
                EXPECT_EQ(VipDisconnect(s.vi), VIP_SUCCESS);
                EXPECT_EQ(s.state(), VIP_STATE_IDLE);
            }
            EXPECT_EQ(s.codes().size(), times);
        },
        [](side& s) {
            for (unsigned i = 0; i != times; ++i) {
                EXPECT_EQ(request(s, 1, "srv"), VIP_SUCCESS);
                s.s.buffer(0)[0] = std::byte(i);
                s.post_send(s.with(0, s.s.buffer(0), 8));
                EXPECT_EQ(s.sent(), VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
                EXPECT_EQ(VipDisconnect(s.vi), VIP_SUCCESS);
                EXPECT_EQ(VipDisconnect(s.vi), VIP_SUCCESS);
            }
            EXPECT_TRUE(s.errors.empty());
        });
}

// A thread waits for the answer while another disconnects the VI (facts 5: request cancelled).
TEST(functional_connection, request_is_cancelled_by_disconnection) {
    play(
        [](side& s) {
            const offer o(s);
            s.pause(20 * ms);
            EXPECT_EQ(VipConnectAccept(o.connection, s.vi), VIP_TIMEOUT);
            EXPECT_EQ(s.state(), VIP_STATE_IDLE);
        },
        [](side& s) {
            VIP_RETURN code{};
            s.in.thread([&](host::process&) { code = request(s, 1, "srv", 5'000); });
            s.pause(10 * ms);
            EXPECT_EQ(s.state(), VIP_STATE_CONNECT_PENDING);
            EXPECT_EQ(VipDisconnect(s.vi), VIP_SUCCESS);
            EXPECT_EQ(s.state(), VIP_STATE_IDLE);
            s.in.join();
            EXPECT_NE(code, VIP_SUCCESS);
            EXPECT_NE(code, VIP_TIMEOUT);
        });
}

class functional_connection_lost : public testing::TestWithParam<VIP_RELIABILITY_LEVEL> {};

// Facts 5: process exit and VipCloseNic act as a disconnection of every VI.
TEST_P(functional_connection_lost, when_the_peer_closes_its_nic) {
    scene sc;
    sc.level = GetParam();
    sc.target_before = [](side& t) { t.post_receive(t.with(0, t.s.buffer(0), 8)); };
    sc.target = [](side& t) {
        EXPECT_EQ(t.settles_in(VIP_STATE_ERROR), VIP_STATE_ERROR);
        EXPECT_EQ(t.received(), VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE | VIP_STATUS_DESC_FLUSHED_ERROR);
        EXPECT_EQ(t.codes(), std::vector{VIP_ERROR_CONN_LOST});
    };
    sc.source = [](side& s) {
        EXPECT_EQ(VipCloseNic(s.s.nic), VIP_SUCCESS);
        VIP_DESCRIPTOR* d = nullptr;
        EXPECT_EQ(VipSendDone(s.vi, &d), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipDisconnect(s.vi), VIP_INVALID_PARAMETER);
    };
    sc.play();
}

TEST_P(functional_connection_lost, when_the_peer_dies) {
    machines m(2);
    m.program(1, [](environment& in) {
        side t(in, GetParam());
        t.post_receive(t.with(0, t.s.buffer(0), 8));
        t.listen();
        EXPECT_EQ(t.settles_in(VIP_STATE_ERROR), VIP_STATE_ERROR);
        t.pause();
        EXPECT_EQ(t.received(), VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE | VIP_STATUS_DESC_FLUSHED_ERROR);
        EXPECT_EQ(t.codes(), std::vector{VIP_ERROR_CONN_LOST});
    });
    m.program(0, [](environment& in) {
        side s(in, GetParam());
        s.call(1);
    });
    m.run();
}

const auto by_level = [](const auto& of) { return level_name(of.param); };
INSTANTIATE_TEST_SUITE_P(at, early_adopter_connection_to_the_own_card, testing::ValuesIn(all_levels),
                         by_level);
INSTANTIATE_TEST_SUITE_P(at, functional_connection_lost, testing::ValuesIn(all_levels), by_level);

// --- Peer to peer (facts 4.5)
// -------------------------------------------------------------------------------

VIP_RETURN peer_request(VIP_VI_HANDLE vi, unsigned node, const std::string& own, const std::string& other,
                        VIP_ULONG timeout = 200) {
    address here({}, own);
    address there(driver::make_node_address(node, 0), other);
    return VipConnectPeerRequest(vi, here, there, timeout);
}

VIP_RETURN peer_wait(VIP_VI_HANDLE vi, VIP_VI_ATTRIBUTES* theirs = nullptr) {
    VIP_VI_ATTRIBUTES local{};
    return VipConnectPeerWait(vi, theirs ? theirs : &local);
}

/// One of the two asks later than the other.
class functional_peer_connection : public testing::TestWithParam<int> {};

TEST_P(functional_peer_connection, is_made_whoever_asks_first) {
    const auto peer = [](unsigned other, sim::picoseconds delay) {
        return [=](side& s) {
            s.post_receive(s.with(0, s.s.buffer(0), 8));
            s.pause(delay);
            EXPECT_EQ(peer_request(s.vi, other, "p", "p"), VIP_SUCCESS);
            VIP_VI_ATTRIBUTES theirs{};
            EXPECT_EQ(peer_wait(s.vi, &theirs), VIP_SUCCESS);
            EXPECT_EQ(theirs.ReliabilityLevel, s.level);
            EXPECT_EQ(theirs.MaxTransferSize, 32'768u);
            EXPECT_EQ(theirs.EnableRdmaWrite, VIP_TRUE);
            EXPECT_EQ(s.state(), VIP_STATE_CONNECTED);
            VIP_VI_ATTRIBUTES none;
            EXPECT_EQ(VipConnectPeerDone(s.vi, &none), VIP_INVALID_STATE);
            s.post_send(s.with(1, s.s.buffer(1), 8));
            EXPECT_EQ(s.sent(), VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
            EXPECT_EQ(s.received(), VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE);
        };
    };
    play(peer(0, GetParam() > 0 ? GetParam() * ms : 0), peer(1, GetParam() < 0 ? -GetParam() * ms : 0));
}
INSTANTIATE_TEST_SUITE_P(delay_ms, functional_peer_connection, testing::Values(-20, -1, 0, 1, 20),
                         [](const auto& of) {
                             return (of.param < 0 ? "minus_" : "plus_") + std::to_string(std::abs(of.param));
                         });

TEST(functional_peer_connection, is_polled_for) {
    const auto peer = [](unsigned other) {
        return [=](side& s) {
            EXPECT_EQ(peer_request(s.vi, other, "p", "p"), VIP_SUCCESS);
            EXPECT_EQ(s.state(), VIP_STATE_CONNECT_PENDING);
            VIP_RETURN code{};
            VIP_VI_ATTRIBUTES theirs{};
            while ((code = VipConnectPeerDone(s.vi, &theirs)) == VIP_NOT_DONE) s.pause(50 * us);
            EXPECT_EQ(code, VIP_SUCCESS);
            EXPECT_EQ(s.state(), VIP_STATE_CONNECTED);
        };
    };
    play(peer(0), peer(1));
}

// All are asked for, then each is waited for, with equal discriminators everywhere (facts 4.5).
TEST(functional_peer_connection, of_many_vis_with_equal_discriminators) {
    const auto peer = [](unsigned other) {
        return [=](side& s) {
            std::vector<VIP_VI_HANDLE> vis;
            for (unsigned i = 0; i != 5; ++i) {
                vis.push_back(s.another());
                EXPECT_EQ(peer_request(vis.back(), other, "all", "all"), VIP_SUCCESS);
            }
            for (const VIP_VI_HANDLE vi : vis) EXPECT_EQ(peer_wait(vi), VIP_SUCCESS);
        };
    };
    play(peer(0), peer(1));
}

TEST(functional_peer_connection, needs_both_addresses_to_match) {
    play(
        [](side& s) {
            EXPECT_EQ(peer_request(s.vi, 0, "a", "b", 20), VIP_SUCCESS);
            EXPECT_EQ(peer_wait(s.vi), VIP_TIMEOUT);
            EXPECT_EQ(s.state(), VIP_STATE_IDLE);
        },
        [](side& s) {
            EXPECT_EQ(peer_request(s.vi, 1, "a", "b", 20), VIP_SUCCESS);
            const sim::picoseconds before = sim::now();
            EXPECT_EQ(peer_wait(s.vi), VIP_TIMEOUT);
            EXPECT_GE(sim::now(), before + 19 * ms);
            EXPECT_LT(sim::now(), before + 22 * ms);
            EXPECT_EQ(s.state(), VIP_STATE_IDLE);
        });
}

TEST(functional_peer_connection, of_another_transfer_size_is_refused_on_both_sides) {
    const auto peer = [](unsigned other, VIP_ULONG size) {
        return [=](side& s) {
            s.post_receive(s.with(0, s.s.buffer(0), 8));
            s.attributes.MaxTransferSize = size;
            EXPECT_EQ(VipSetViAttributes(s.vi, &s.attributes), VIP_SUCCESS);
            EXPECT_EQ(peer_request(s.vi, other, "p", "p"), VIP_SUCCESS);
            EXPECT_EQ(peer_wait(s.vi), VIP_INVALID_MTU);
            EXPECT_EQ(s.state(), VIP_STATE_IDLE);
            EXPECT_EQ(VipRecvDone(s.vi, &s.last), VIP_NOT_DONE);
        };
    };
    play(peer(0, 4096), peer(1, 4095));
}

TEST(functional_peer_connection, of_another_level_is_refused_on_both_sides) {
    const auto peer = [](unsigned other, VIP_RELIABILITY_LEVEL level) {
        return [=](side& s) {
            s.attributes.ReliabilityLevel = level;
            EXPECT_EQ(VipSetViAttributes(s.vi, &s.attributes), VIP_SUCCESS);
            EXPECT_EQ(peer_request(s.vi, other, "p", "p"), VIP_SUCCESS);
            EXPECT_EQ(peer_wait(s.vi), VIP_INVALID_RELIABILITY_LEVEL);
            EXPECT_EQ(s.state(), VIP_STATE_IDLE);
        };
    };
    play(peer(0, VIP_SERVICE_UNRELIABLE), peer(1, VIP_SERVICE_RELIABLE_RECEPTION));
}

TEST(functional_peer_connection, of_two_vis_of_one_card) {
    alone([](environment& in) {
        side s(in, VIP_SERVICE_RELIABLE_RECEPTION);
        const VIP_VI_HANDLE other = s.another();
        EXPECT_EQ(peer_request(s.vi, 0, "a", "b"), VIP_SUCCESS);
        EXPECT_EQ(peer_request(other, 0, "b", "a"), VIP_SUCCESS);
        EXPECT_EQ(peer_wait(s.vi), VIP_SUCCESS);
        EXPECT_EQ(peer_wait(other), VIP_SUCCESS);
        s.post_receive(s.with(0, s.s.buffer(0), 8));
        EXPECT_EQ(VipPostSend(other, s.with(1, s.s.buffer(1), 8), s.s.handle), VIP_SUCCESS);
        EXPECT_EQ(s.received(), VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE);
    });
}

TEST(functional_peer_connection, is_cancelled_by_disconnection) {
    alone([](environment& in) {
        side s(in, VIP_SERVICE_UNRELIABLE);
        EXPECT_EQ(peer_request(s.vi, 0, "a", "nobody", 5'000), VIP_SUCCESS);
        VIP_RETURN code{};
        in.thread([&](host::process&) { code = peer_wait(s.vi); });
        s.pause();
        EXPECT_EQ(VipDisconnect(s.vi), VIP_SUCCESS);
        EXPECT_EQ(s.state(), VIP_STATE_IDLE);
        in.join();
        EXPECT_NE(code, VIP_SUCCESS);
        EXPECT_NE(code, VIP_TIMEOUT);
        EXPECT_EQ(VipDestroyVi(s.vi), VIP_SUCCESS);
    });
}

}  // namespace
}  // namespace vinic::vipl::test
