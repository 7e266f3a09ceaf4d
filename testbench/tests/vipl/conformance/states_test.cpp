// SPDX-License-Identifier: Apache-2.0

// The state machine of a VI: each call in each state, at each level of reliability (facts vipl.md 5).
#include <fmt/format.h>

#include "testbench/tests/vipl/conformance/pair.h"

namespace vinic::vipl::test {
namespace {

constexpr VIP_VI_STATE states[] = {VIP_STATE_IDLE, VIP_STATE_CONNECT_PENDING, VIP_STATE_CONNECTED,
                                   VIP_STATE_ERROR};
constexpr const char* state_names[] = {"idle", "connect_pending", "connected", "error"};

constexpr VIP_UINT32 flushed = VIP_STATUS_DESC_FLUSHED_ERROR;

/// A call in some state: what it must return there, and the state afterwards.
struct transition {
    const char* call;
    std::function<VIP_RETURN(side&)> make;
    struct {
        VIP_RETURN code;
        VIP_VI_STATE after;
    } in[4];  ///< by state, as in `states`
    part then = [](side&) {};
};

VIP_RETURN accept_own_request(side& of) {
    // A second VI of the program asks, so that there is something to accept.
    const VIP_VI_HANDLE asking = of.another();
    of.in.thread([&of, asking](host::process& on) {
        VIP_VI_ATTRIBUTES theirs;
        address here({}, "asking");
        address there(node0, "own");
        connect(on, asking, here, there, &theirs, 500);
    });
    address here({}, "own");
    address remote;
    VIP_VI_ATTRIBUTES theirs;
    VIP_CONN_HANDLE connection = nullptr;
    EXPECT_EQ(VipConnectWait(of.s.nic, here, 1'000, remote, &theirs, &connection), VIP_SUCCESS);
    const VIP_RETURN code = VipConnectAccept(connection, of.vi);
    if (code != VIP_SUCCESS) {
        EXPECT_EQ(VipConnectReject(connection), VIP_SUCCESS);
    }
    of.in.join();
    return code;
}

constexpr VIP_VI_STATE idle = VIP_STATE_IDLE;
constexpr VIP_VI_STATE pending = VIP_STATE_CONNECT_PENDING;
constexpr VIP_VI_STATE connected = VIP_STATE_CONNECTED;
constexpr VIP_VI_STATE error = VIP_STATE_ERROR;
constexpr VIP_VI_STATE gone = static_cast<VIP_VI_STATE>(-1);

std::vector<transition> transitions() {
    const auto same = [](VIP_RETURN code) {
        return transition{"", {}, {{code, idle}, {code, pending}, {code, connected}, {code, error}}};
    };
    const auto everywhere = [&](const char* name, VIP_RETURN code, std::function<VIP_RETURN(side&)> make) {
        transition t = same(code);
        t.call = name;
        t.make = std::move(make);
        return t;
    };
    const auto only_idle = [&](const char* name, VIP_RETURN code, VIP_VI_STATE after,
                               std::function<VIP_RETURN(side&)> make) {
        transition t = everywhere(name, VIP_INVALID_STATE, std::move(make));
        t.in[0] = {code, after};
        return t;
    };
    return {
        everywhere("VipPostRecv", VIP_SUCCESS,
                   [](side& s) { return VipPostRecv(s.vi, s.with(3, s.s.buffer(0), 8), s.s.handle); }),
        everywhere("VipPostSend", VIP_SUCCESS,
                   [](side& s) { return VipPostSend(s.vi, s.with(3, s.s.buffer(0), 8), s.s.handle); }),
        everywhere("VipQueryVi", VIP_SUCCESS,
                   [](side& s) {
                       VIP_VI_STATE state{};
                       VIP_VI_ATTRIBUTES a;
                       VIP_BOOLEAN send = 2;
                       VIP_BOOLEAN receive = 2;
                       const VIP_RETURN code = VipQueryVi(s.vi, &state, &a, &send, &receive);
                       EXPECT_EQ(send, VIP_TRUE);
                       EXPECT_EQ(receive, VIP_TRUE);
                       EXPECT_EQ(a.ReliabilityLevel, s.level);
                       return code;
                   }),
        everywhere("VipSendDone", VIP_DESCRIPTOR_ERROR,
                   [](side& s) {
                       VIP_DESCRIPTOR* d = s.s.descriptor(0);
                       const VIP_RETURN code = VipSendDone(s.vi, &d);
                       EXPECT_EQ(d, nullptr);
                       return code;
                   }),
        everywhere("VipRecvDone", VIP_DESCRIPTOR_ERROR,
                   [](side& s) {
                       VIP_DESCRIPTOR* d = s.s.descriptor(0);
                       const VIP_RETURN code = VipRecvDone(s.vi, &d);
                       EXPECT_EQ(d, nullptr);
                       return code;
                   }),
        everywhere("VipSendWait", VIP_DESCRIPTOR_ERROR,
                   [](side& s) {
                       VIP_DESCRIPTOR* d = s.s.descriptor(0);
                       return VipSendWait(s.vi, 1, &d);
                   }),
        everywhere("VipRecvWait", VIP_DESCRIPTOR_ERROR,
                   [](side& s) {
                       VIP_DESCRIPTOR* d = s.s.descriptor(0);
                       return VipRecvWait(s.vi, 1, &d);
                   }),
        only_idle("VipSetViAttributes", VIP_SUCCESS, idle,
                  [](side& s) { return VipSetViAttributes(s.vi, &s.attributes); }),
        only_idle("VipConnectPeerRequest", VIP_SUCCESS, pending,
                  [](side& s) {
                      address here(node0, "a");
                      address there(node0, "nobody");
                      return VipConnectPeerRequest(s.vi, here, there, 500);
                  }),
        only_idle("VipConnectRequest", VIP_NO_MATCH, idle,
                  [](side& s) {
                      address here(node0, "a");
                      address there(node0, "nobody");
                      VIP_VI_ATTRIBUTES theirs;
                      return VipConnectRequest(s.vi, here, there, 500, &theirs);
                  }),
        only_idle("VipConnectAccept", VIP_SUCCESS, connected, accept_own_request),
        only_idle("VipDestroyVi", VIP_SUCCESS, gone, [](side& s) { return VipDestroyVi(s.vi); }),
        {"VipDisconnect",
         [](side& s) { return VipDisconnect(s.vi); },
         {{VIP_SUCCESS, idle}, {VIP_SUCCESS, idle}, {VIP_SUCCESS, idle}, {VIP_SUCCESS, idle}}},
    };
}

/// Brings a VI into a state, calls, and looks.
void play(const transition& t, unsigned column, VIP_RELIABILITY_LEVEL level) {
    const VIP_VI_STATE state = states[column];
    machines m(2);
    bool over = false;
    m.program(0, [&](environment& in) {
        side s(in, level);
        if (state == VIP_STATE_CONNECT_PENDING) {
            address here(node0, "me");
            address there(node1, "nobody");
            EXPECT_EQ(VipConnectPeerRequest(s.vi, here, there, 500), VIP_SUCCESS);
        } else if (state != VIP_STATE_IDLE) {
            s.call(1);
        }
        EXPECT_EQ(s.settles_in(state), state);
        EXPECT_EQ(t.make(s), t.in[column].code);
        if (t.in[column].after != gone) {
            EXPECT_EQ(s.state(), t.in[column].after);
        }
        over = true;
    });
    if (state == VIP_STATE_CONNECTED || state == VIP_STATE_ERROR)
        m.program(1, [&](environment& in) {
            side s(in, level);
            s.post_receive(s.with(0, s.s.buffer(0), 64));
            s.listen();
            if (state == VIP_STATE_ERROR) {
                EXPECT_EQ(VipDisconnect(s.vi), VIP_SUCCESS);
            }
            s.in.until([&] { return over; });
        });
    m.run();
}

class cell : public testing::Test {
public:
    cell(const transition& t, unsigned column, VIP_RELIABILITY_LEVEL level)
        : transition_(t), column_(column), level_(level) {}
    void TestBody() override { play(transition_, column_, level_); }

private:
    const transition& transition_;
    unsigned column_;
    VIP_RELIABILITY_LEVEL level_;
};

[[maybe_unused]] const bool registered = [] {
    static const std::vector<transition> table = transitions();
    for (const transition& t : table)
        for (unsigned column = 0; column != std::size(states); ++column)
            for (const VIP_RELIABILITY_LEVEL level : all_levels) {
                const bool later = std::string_view(t.call) == "VipConnectPeerRequest" ||
                                   states[column] == VIP_STATE_ERROR ||
                                   states[column] == VIP_STATE_CONNECT_PENDING;
                testing::RegisterTest(
                    later ? "functional_state_machine" : "early_adopter_state_machine",
                    fmt::format("{}_in_{}_{}", t.call, state_names[column], level_name(level)).c_str(),
                    nullptr, nullptr, __FILE__, __LINE__,
                    [&t, column, level]() -> testing::Test* { return new cell(t, column, level); });
            }
    return true;
}();

// --- What becomes of descriptors --------------------------------------------------------------------------

class early_adopter_state_machine_descriptors : public testing::TestWithParam<VIP_RELIABILITY_LEVEL> {};
class functional_state_machine_descriptors : public testing::TestWithParam<VIP_RELIABILITY_LEVEL> {};

// Idle and Connect Pending: a receive stays posted, a send is flushed at once (facts 4.6, 5).
TEST_P(early_adopter_state_machine_descriptors, before_a_connection) {
    alone([](environment& in) {
        side s(in, GetParam());
        for (const bool is_pending : {false, true}) {
            if (is_pending) {
                address here(node0, "me");
                address there(node0, "nobody");
                EXPECT_EQ(VipConnectPeerRequest(s.vi, here, there, 500), VIP_SUCCESS);
            }
            s.post_receive(s.with(is_pending, s.s.buffer(0), 8));
            s.post_send(s.with(2, s.s.buffer(0), 8));
            EXPECT_EQ(s.sent() & VIP_STATUS_ERROR_MASK, flushed);
            EXPECT_EQ(s.last, s.s.descriptor(2));
            EXPECT_EQ(VipRecvDone(s.vi, &s.last), VIP_NOT_DONE);
            EXPECT_EQ(s.state(), is_pending ? VIP_STATE_CONNECT_PENDING : VIP_STATE_IDLE);
        }
        EXPECT_TRUE(s.errors.empty());
    });
}

// In error state both queues flush at once (facts 5), and incoming data are discarded.
TEST_P(functional_state_machine_descriptors, in_error_state) {
    scene sc;
    sc.level = GetParam();
    bool broken = false;
    sc.target_before = [](side& t) {
        std::memset(t.s.buffer(0), 0x55, 64);
        t.post_receive(t.with(0, t.s.buffer(0), 8));
    };
    sc.target = [&](side& t) {
        // A descriptor that is none brings the VI into error state.
        EXPECT_EQ(VipPostSend(t.vi, nullptr, t.s.handle), VIP_SUCCESS);
        EXPECT_EQ(t.state(), VIP_STATE_ERROR);
        broken = true;
        EXPECT_EQ(t.received(), VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE | flushed);
        t.post_receive(t.with(1, t.s.buffer(0), 8));
        EXPECT_EQ(t.received(), VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE | flushed);
        EXPECT_EQ(t.last, t.s.descriptor(1));
        t.post_send(t.with(2, t.s.buffer(0), 8));
        EXPECT_EQ(t.sent(), VIP_STATUS_DONE | VIP_STATUS_OP_SEND | flushed);
        EXPECT_EQ(t.state(), VIP_STATE_ERROR);
        t.pause();
        EXPECT_EQ(t.s.buffer(0)[0], std::byte{0x55});
        // And out of it.
        EXPECT_EQ(VipDisconnect(t.vi), VIP_SUCCESS);
        EXPECT_EQ(t.state(), VIP_STATE_IDLE);
        t.post_receive(t.with(1, t.s.buffer(0), 8));
        EXPECT_EQ(VipRecvDone(t.vi, &t.last), VIP_NOT_DONE);
        EXPECT_EQ(t.codes(), std::vector{VIP_ERROR_POST_DESC});
    };
    sc.source = [&](side& s) {
        s.in.until([&] { return broken; });
        s.post_send(s.with(0, s.s.buffer(0), 8));
        s.sent();
        EXPECT_EQ(s.settles_in(VIP_STATE_ERROR), VIP_STATE_ERROR);
    };
    sc.play();
}

// Disconnection flushes both queues in posting order, on both sides; the peer is told, the caller is not
// (facts 4.4, 5, 6.3).
TEST_P(early_adopter_state_machine_descriptors, flushed_by_disconnection) {
    scene sc;
    sc.level = GetParam();
    static constexpr unsigned count = 7;
    const auto expect_flushed = [](side& of) {
        for (unsigned i = 0; i != count; ++i) {
            EXPECT_EQ(of.received(), VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE | flushed);
            EXPECT_EQ(of.last, of.s.descriptor(i));
        }
        VIP_DESCRIPTOR* d = of.s.descriptor(0);
        EXPECT_EQ(VipRecvDone(of.vi, &d), VIP_DESCRIPTOR_ERROR);
        EXPECT_EQ(d, nullptr);
    };
    const auto post_all = [](side& of) {
        for (unsigned i = 0; i != count; ++i) of.post_receive(of.with(i, of.s.buffer(0), 8));
    };
    sc.target_before = post_all;
    sc.target = [&](side& t) {
        EXPECT_EQ(t.settles_in(VIP_STATE_ERROR), VIP_STATE_ERROR);
        expect_flushed(t);
        EXPECT_EQ(t.codes(), std::vector{VIP_ERROR_CONN_LOST});
        EXPECT_EQ(t.errors.at(0).vi, t.vi);
        EXPECT_EQ(t.errors.at(0).resource, VIP_RESOURCE_VI);
    };
    sc.source = [&](side& s) {
        post_all(s);
        EXPECT_EQ(VipDisconnect(s.vi), VIP_SUCCESS);
        EXPECT_EQ(s.state(), VIP_STATE_IDLE);
        expect_flushed(s);
        EXPECT_EQ(VipDisconnect(s.vi), VIP_SUCCESS);
        s.pause();
        EXPECT_TRUE(s.errors.empty());
    };
    sc.play();
}

// With descriptors on a queue a VI is not destroyed (facts 4.3); drained, it is.
TEST_P(early_adopter_state_machine_descriptors, keep_a_vi_from_being_destroyed) {
    alone([](environment& in) {
        side s(in, GetParam());
        s.post_receive(s.with(0, s.s.buffer(0), 8));
        EXPECT_EQ(VipDestroyVi(s.vi), VIP_ERROR_RESOURCE);
        EXPECT_EQ(VipDisconnect(s.vi), VIP_SUCCESS);
        EXPECT_EQ(s.state(), VIP_STATE_IDLE);
    });
}

const auto by_level = [](const auto& of) { return level_name(of.param); };
INSTANTIATE_TEST_SUITE_P(at, early_adopter_state_machine_descriptors, testing::ValuesIn(all_levels),
                         by_level);
INSTANTIATE_TEST_SUITE_P(at, functional_state_machine_descriptors, testing::ValuesIn(all_levels), by_level);

}  // namespace
}  // namespace vinic::vipl::test
