// SPDX-License-Identifier: Apache-2.0

// Completion queues and the notify functions (facts vipl.md 4.6, 4.7, 7).
#include "testbench/tests/vipl/conformance/pair.h"

namespace vinic::vipl::test {
namespace {

constexpr VIP_UINT32 received_well = VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE;

/// Two connected VIs of one program on one card, with completion queues; what one sends the other receives.
struct looped {
    looped(environment& in, VIP_RELIABILITY_LEVEL level, bool one_queue) : s(in, level) {
        EXPECT_EQ(VipCreateCQ(s.s.nic, 64, &receives), VIP_SUCCESS);
        if (one_queue)
            sends = receives;
        else
            EXPECT_EQ(VipCreateCQ(s.s.nic, 64, &sends), VIP_SUCCESS);
        from = s.another(sends, receives);
        to = s.another(sends, receives);
        address a({}, "a");
        address b(node0, "b");
        address here({}, "b");
        address there(node0, "a");
        EXPECT_EQ(VipConnectPeerRequest(from, a, b, 500), VIP_SUCCESS);
        EXPECT_EQ(VipConnectPeerRequest(to, here, there, 500), VIP_SUCCESS);
        VIP_VI_ATTRIBUTES theirs;
        EXPECT_EQ(VipConnectPeerWait(from, &theirs), VIP_SUCCESS);
        EXPECT_EQ(VipConnectPeerWait(to, &theirs), VIP_SUCCESS);
    }

    void post_receive(unsigned n) {
        EXPECT_EQ(VipPostRecv(to, s.with(n, s.s.buffer(0), 64), s.s.handle), VIP_SUCCESS);
    }
    void send(unsigned n) {
        EXPECT_EQ(VipPostSend(from, s.with(n, s.s.buffer(1), 16), s.s.handle), VIP_SUCCESS);
    }
    /// The entry that comes next.
    void expect_entry(VIP_CQ_HANDLE queue, VIP_VI_HANDLE vi, VIP_BOOLEAN receive) {
        VIP_VI_HANDLE got = nullptr;
        VIP_BOOLEAN kind = 77;
        EXPECT_EQ(VipCQWait(queue, 20, &got, &kind), VIP_SUCCESS);
        EXPECT_EQ(got, vi);
        EXPECT_EQ(kind, receive);
    }
    void expect_none(VIP_CQ_HANDLE queue) {
        VIP_VI_HANDLE got = nullptr;
        VIP_BOOLEAN kind = 77;
        EXPECT_EQ(VipCQDone(queue, &got, &kind), VIP_NOT_DONE);
    }
    VIP_DESCRIPTOR* done(VIP_VI_HANDLE vi, bool receive) {
        VIP_DESCRIPTOR* d = nullptr;
        VIP_RETURN code{};
        while ((code = receive ? VipRecvDone(vi, &d) : VipSendDone(vi, &d)) == VIP_NOT_DONE) s.pause(us);
        return d;
    }

    side s;
    VIP_CQ_HANDLE sends = nullptr;
    VIP_CQ_HANDLE receives = nullptr;
    VIP_VI_HANDLE from = nullptr;
    VIP_VI_HANDLE to = nullptr;
};

class early_adopter_completion_queue : public testing::TestWithParam<VIP_RELIABILITY_LEVEL> {};
class functional_completion_queue : public testing::TestWithParam<VIP_RELIABILITY_LEVEL> {};
const auto by_level = [](const auto& of) { return level_name(of.param); };
INSTANTIATE_TEST_SUITE_P(at, early_adopter_completion_queue, testing::ValuesIn(all_levels), by_level);
INSTANTIATE_TEST_SUITE_P(at, functional_completion_queue, testing::ValuesIn(all_levels), by_level);

// One entry for each completion; the entry does not take the descriptor off its queue.
TEST_P(early_adopter_completion_queue, has_an_entry_for_each_completion) {
    alone([](environment& in) {
        looped l(in, GetParam(), false);
        for (unsigned i = 0; i != 8; ++i) l.post_receive(i);
        for (unsigned i = 0; i != 8; ++i) l.send(8 + i);
        for (unsigned i = 0; i != 8; ++i) l.expect_entry(l.receives, l.to, VIP_TRUE);
        for (unsigned i = 0; i != 8; ++i) l.expect_entry(l.sends, l.from, VIP_FALSE);
        l.expect_none(l.receives);
        l.expect_none(l.sends);
        for (unsigned i = 0; i != 8; ++i) {
            EXPECT_EQ(l.done(l.to, true), l.s.s.descriptor(i));
            EXPECT_EQ(l.done(l.from, false), l.s.s.descriptor(8 + i));
        }
    });
}

TEST_P(early_adopter_completion_queue, of_both_queues_of_several_vis) {
    alone([](environment& in) {
        looped l(in, GetParam(), true);
        l.post_receive(0);
        l.send(1);
        unsigned receives = 0;
        for (unsigned i = 0; i != 2; ++i) {
            VIP_VI_HANDLE vi = nullptr;
            VIP_BOOLEAN receive = 77;
            ASSERT_EQ(VipCQWait(l.sends, 20, &vi, &receive), VIP_SUCCESS);
            EXPECT_TRUE(receive == VIP_TRUE || receive == VIP_FALSE);
            EXPECT_EQ(vi, receive == VIP_TRUE ? l.to : l.from);
            receives += static_cast<unsigned>(receive);
        }
        EXPECT_EQ(receives, 1u);
        l.expect_none(l.sends);
    });
}

// Flushed descriptors add entries, too (facts 7).
TEST_P(early_adopter_completion_queue, has_entries_of_flushed_descriptors) {
    alone([](environment& in) {
        looped l(in, GetParam(), false);
        for (unsigned i = 0; i != 5; ++i) l.post_receive(i);
        EXPECT_EQ(VipDisconnect(l.to), VIP_SUCCESS);
        for (unsigned i = 0; i != 5; ++i) l.expect_entry(l.receives, l.to, VIP_TRUE);
        l.expect_none(l.receives);
        for (unsigned i = 0; i != 5; ++i) {
            VIP_DESCRIPTOR* d = nullptr;
            EXPECT_EQ(VipRecvDone(l.to, &d), VIP_DESCRIPTOR_ERROR);
            EXPECT_EQ(d, l.s.s.descriptor(i));
        }
    });
}

TEST(early_adopter_completion_queue, wait_times_out) {
    alone([](environment& in) {
        setup s(in.memory);
        VIP_CQ_HANDLE cq = nullptr;
        ASSERT_EQ(VipCreateCQ(s.nic, 8, &cq), VIP_SUCCESS);
        VIP_VI_HANDLE vi = nullptr;
        VIP_BOOLEAN receive = 0;
        for (const VIP_ULONG timeout : {0, 1, 10}) {
            const sim::picoseconds before = sim::now();
            EXPECT_EQ(VipCQWait(cq, timeout, &vi, &receive), VIP_TIMEOUT);
            EXPECT_GE(sim::now(), before + timeout * ms);
            EXPECT_LT(sim::now(), before + timeout * ms + ms);
        }
    });
}

TEST(early_adopter_completion_queue, with_a_vi_is_not_destroyed) {
    alone([](environment& in) {
        setup s(in.memory);
        VIP_CQ_HANDLE cq = nullptr;
        ASSERT_EQ(VipCreateCQ(s.nic, 8, &cq), VIP_SUCCESS);
        const VIP_VI_HANDLE one = s.vi(cq, nullptr);
        const VIP_VI_HANDLE both = s.vi(cq, cq);
        EXPECT_EQ(VipDestroyCQ(cq), VIP_ERROR_RESOURCE);
        EXPECT_EQ(VipDestroyVi(one), VIP_SUCCESS);
        EXPECT_EQ(VipDestroyCQ(cq), VIP_ERROR_RESOURCE);
        EXPECT_EQ(VipDestroyVi(both), VIP_SUCCESS);
        EXPECT_EQ(VipDestroyCQ(cq), VIP_SUCCESS);
        EXPECT_EQ(VipDestroyCQ(cq), VIP_INVALID_PARAMETER);
    });
}

// One thread blocks while another works (facts 7).
TEST_P(early_adopter_completion_queue, waits_in_one_thread_while_another_sends) {
    alone([](environment& in) {
        looped l(in, GetParam(), false);
        l.post_receive(0);
        bool got = false;
        in.thread([&](host::process&) {
            VIP_VI_HANDLE vi = nullptr;
            VIP_BOOLEAN receive = VIP_FALSE;
            EXPECT_EQ(VipCQWait(l.receives, VIP_INFINITE, &vi, &receive), VIP_SUCCESS);
            EXPECT_EQ(vi, l.to);
            got = true;
        });
        l.s.pause();
        EXPECT_FALSE(got);
        VIP_VI_HANDLE vi = nullptr;
        VIP_BOOLEAN receive = VIP_FALSE;
        const sim::picoseconds before = sim::now();
        EXPECT_EQ(VipCQDone(l.receives, &vi, &receive), VIP_NOT_DONE);  // not behind the one that waits
        EXPECT_LT(sim::now(), before + 100 * us);
        l.send(1);
        in.join();
        EXPECT_TRUE(got);
    });
}

// A queue grows and shrinks while it is in use; entries keep their order (facts 4.7).
TEST_P(functional_completion_queue, keeps_its_entries_when_resized) {
    alone([](environment& in) {
        looped l(in, GetParam(), false);
        for (unsigned i = 0; i != 6; ++i) l.post_receive(i);
        for (unsigned i = 0; i != 3; ++i) l.send(8 + i);
        l.s.pause(ms);
        EXPECT_EQ(VipResizeCQ(l.receives, 2), VIP_ERROR_RESOURCE);  // three are there
        EXPECT_EQ(VipResizeCQ(l.receives, 96), VIP_SUCCESS);
        for (unsigned i = 0; i != 3; ++i) l.send(12 + i);
        l.s.pause(ms);
        EXPECT_EQ(VipResizeCQ(l.receives, 6), VIP_SUCCESS);
        for (unsigned i = 0; i != 6; ++i) l.expect_entry(l.receives, l.to, VIP_TRUE);
        l.expect_none(l.receives);
        EXPECT_EQ(VipResizeCQ(l.receives, 1), VIP_SUCCESS);
        for (unsigned i = 0; i != 6; ++i) EXPECT_EQ(l.done(l.to, true), l.s.s.descriptor(i));
    });
}

TEST_P(functional_completion_queue, that_is_waited_for_is_resized) {
    alone([](environment& in) {
        looped l(in, GetParam(), false);
        l.post_receive(0);
        bool got = false;
        in.thread([&](host::process&) {
            l.expect_entry(l.receives, l.to, VIP_TRUE);
            got = true;
        });
        l.s.pause(ms);
        EXPECT_EQ(VipResizeCQ(l.receives, 128), VIP_SUCCESS);
        l.s.pause(ms);
        l.send(1);
        in.join();
        EXPECT_TRUE(got);
    });
}

// Entries of a VI that was destroyed mean nothing any more, and its successor does not get them.
TEST_P(functional_completion_queue, forgets_a_destroyed_vi) {
    alone([](environment& in) {
        looped l(in, GetParam(), false);
        for (unsigned i = 0; i != 3; ++i) l.post_receive(i);
        EXPECT_EQ(VipDisconnect(l.to), VIP_SUCCESS);
        for (unsigned i = 0; i != 3; ++i) {
            VIP_DESCRIPTOR* d = nullptr;
            EXPECT_EQ(VipRecvDone(l.to, &d), VIP_DESCRIPTOR_ERROR);
        }
        EXPECT_EQ(VipDestroyVi(l.to), VIP_SUCCESS);
        l.s.another(l.sends, l.receives);
        l.expect_none(l.receives);
    });
}

// --- Done and Wait
// ------------------------------------------------------------------------------------------

TEST(early_adopter_work_queue, wait_times_out_and_zero_polls) {
    alone([](environment& in) {
        side s(in, VIP_SERVICE_UNRELIABLE);
        s.post_receive(s.with(0, s.s.buffer(0), 8));
        for (const VIP_ULONG timeout : {0, 1, 10}) {
            const sim::picoseconds before = sim::now();
            EXPECT_EQ(VipRecvWait(s.vi, timeout, &s.last), VIP_TIMEOUT);
            EXPECT_GE(sim::now(), before + timeout * ms);
            EXPECT_LT(sim::now(), before + timeout * ms + ms);
        }
        EXPECT_EQ(VipRecvDone(s.vi, &s.last), VIP_NOT_DONE);
    });
}

// Facts 4.6: Done does not block behind a Wait.
TEST(early_adopter_work_queue, done_does_not_wait_behind_a_wait) {
    alone([](environment& in) {
        looped l(in, VIP_SERVICE_RELIABLE_DELIVERY, false);
        const VIP_VI_HANDLE plain = l.s.vi;
        EXPECT_EQ(VipPostRecv(plain, l.s.with(0, l.s.s.buffer(0), 8), l.s.s.handle), VIP_SUCCESS);
        in.thread([&](host::process&) {
            VIP_DESCRIPTOR* d = nullptr;
            EXPECT_EQ(VipRecvWait(plain, 5, &d), VIP_TIMEOUT);
        });
        l.s.pause(ms);
        VIP_DESCRIPTOR* d = nullptr;
        const sim::picoseconds before = sim::now();
        EXPECT_EQ(VipRecvDone(plain, &d), VIP_NOT_DONE);
        EXPECT_LT(sim::now(), before + 100 * us);
    });
}

// --- Notify (facts 4.6, 4.7)
// --------------------------------------------------------------------------------

struct heard {
    VIP_PVOID context;
    VIP_NIC_HANDLE nic;
    VIP_VI_HANDLE vi;
    VIP_DESCRIPTOR* descriptor;
    VIP_BOOLEAN receive;
};
std::vector<heard> all_heard;

void on_work(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* d) {
    all_heard.push_back({context, nic, vi, d, 77});
}
void on_entry(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_BOOLEAN receive) {
    all_heard.push_back({context, nic, vi, nullptr, receive});
}

VIP_PVOID number(std::uintptr_t n) { return reinterpret_cast<VIP_PVOID>(n); }

/// Registered before the completions, or when they are there.
class full_notify : public testing::TestWithParam<std::tuple<VIP_RELIABILITY_LEVEL, bool>> {
protected:
    void SetUp() override { all_heard.clear(); }
    static VIP_RELIABILITY_LEVEL level() { return std::get<0>(GetParam()); }
    static bool before() { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(at, full_notify, testing::Combine(testing::ValuesIn(all_levels), testing::Bool()),
                         [](const auto& of) {
                             return std::string(level_name(std::get<0>(of.param))) +
                                    (std::get<1>(of.param) ? "_armed_before" : "_armed_after");
                         });

// Several registrations: one completion each, in order.
TEST_P(full_notify, of_a_completion_queue) {
    alone([](environment& in) {
        looped l(in, level(), false);
        for (unsigned i = 0; i != 3; ++i) l.post_receive(i);
        const auto arm = [&] {
            for (std::uintptr_t i = 1; i != 3; ++i)
                EXPECT_EQ(VipCQNotify(l.receives, number(i), on_entry), VIP_SUCCESS);
        };
        if (before()) arm();
        l.s.pause(ms);
        EXPECT_TRUE(all_heard.empty());
        for (unsigned i = 0; i != 3; ++i) l.send(8 + i);
        l.s.pause();
        if (!before()) arm();
        l.s.pause();
        ASSERT_EQ(all_heard.size(), 2u);
        for (std::uintptr_t i = 0; i != 2; ++i) {
            EXPECT_EQ(all_heard[i].context, number(i + 1));
            EXPECT_EQ(all_heard[i].nic, l.s.s.nic);
            EXPECT_EQ(all_heard[i].vi, l.to);
            EXPECT_EQ(all_heard[i].receive, VIP_TRUE);
        }
        l.expect_entry(l.receives, l.to, VIP_TRUE);  // the third; two were taken
        l.expect_none(l.receives);
        EXPECT_EQ(l.done(l.to, true), l.s.s.descriptor(0));  // not dequeued by the entries
    });
}

TEST_P(full_notify, of_work_queues) {
    scene sc;
    sc.level = level();
    bool sent = false;
    sc.target_before = [](side& t) {
        for (unsigned i = 0; i != 3; ++i) t.post_receive(t.with(i, t.s.buffer(0), 64));
    };
    sc.target = [&](side& t) {
        const auto arm = [&] {
            for (std::uintptr_t i = 1; i != 3; ++i)
                EXPECT_EQ(VipRecvNotify(t.vi, number(i), on_work), VIP_SUCCESS);
        };
        if (before()) arm();
        t.in.until([&] { return sent; });
        if (!before()) arm();
        t.pause();
        ASSERT_EQ(all_heard.size(), 2u);
        for (unsigned i = 0; i != 2; ++i) {
            EXPECT_EQ(all_heard[i].context, number(i + 1));
            EXPECT_EQ(all_heard[i].vi, t.vi);
            EXPECT_EQ(all_heard[i].descriptor, t.s.descriptor(i));
            EXPECT_EQ(all_heard[i].descriptor->CS.Status, received_well);
            EXPECT_EQ(all_heard[i].descriptor->CS.Length, 16u);
        }
        EXPECT_EQ(t.received(), received_well);
        EXPECT_EQ(t.last, t.s.descriptor(2));
    };
    sc.source = [&](side& s) {
        s.pause(ms);
        for (unsigned i = 0; i != 3; ++i) {
            s.post_send(s.with(i, s.s.buffer(0), 16));
            EXPECT_EQ(s.sent(), VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
        }
        s.pause();
        sent = true;
    };
    sc.play();
}

TEST_P(full_notify, of_a_send_queue) {
    scene sc;
    sc.level = level();
    sc.target_before = [](side& t) { t.post_receive(t.with(0, t.s.buffer(0), 64)); };
    sc.source = [](side& s) {
        if (before()) {
            EXPECT_EQ(VipSendNotify(s.vi, number(5), on_work), VIP_SUCCESS);
        }
        s.post_send(s.with(0, s.s.buffer(0), 16));
        s.pause();
        if (!before()) {
            EXPECT_EQ(VipSendNotify(s.vi, number(5), on_work), VIP_SUCCESS);
        }
        s.pause();
        ASSERT_EQ(all_heard.size(), 1u);
        EXPECT_EQ(all_heard[0].context, number(5));
        EXPECT_EQ(all_heard[0].descriptor, s.s.descriptor(0));
        VIP_DESCRIPTOR* d = nullptr;
        EXPECT_EQ(VipSendDone(s.vi, &d), VIP_DESCRIPTOR_ERROR);
        EXPECT_EQ(d, nullptr);
    };
    sc.play();
}

// Destruction cancels what is registered (facts 4.7).
TEST(full_notify, is_cancelled_by_destruction) {
    all_heard.clear();
    alone([](environment& in) {
        side s(in, VIP_SERVICE_UNRELIABLE);
        VIP_CQ_HANDLE cq = nullptr;
        ASSERT_EQ(VipCreateCQ(s.s.nic, 8, &cq), VIP_SUCCESS);
        EXPECT_EQ(VipCQNotify(cq, nullptr, on_entry), VIP_SUCCESS);
        EXPECT_EQ(VipRecvNotify(s.vi, nullptr, on_work), VIP_SUCCESS);
        EXPECT_EQ(VipDestroyCQ(cq), VIP_SUCCESS);
        EXPECT_EQ(VipDestroyVi(s.vi), VIP_SUCCESS);
        s.pause();
        EXPECT_TRUE(all_heard.empty());
    });
}

// --- Asynchronous errors (facts 6.3)
// --------------------------------------------------------------------------

// Each handle has a handler of its own; null takes it away.
TEST(functional_error_callback, is_of_one_nic_handle_and_can_be_taken_away) {
    alone([](environment& in) {
        side s(in, VIP_SERVICE_UNRELIABLE);
        side other(in, VIP_SERVICE_UNRELIABLE);
        EXPECT_EQ(VipPostSend(s.vi, nullptr, s.s.handle), VIP_SUCCESS);
        s.pause();
        ASSERT_EQ(s.errors.size(), 1u);
        EXPECT_EQ(s.errors[0].code, VIP_ERROR_POST_DESC);
        EXPECT_EQ(s.errors[0].resource, VIP_RESOURCE_DESCRIPTOR);
        EXPECT_EQ(s.errors[0].vi, s.vi);
        EXPECT_EQ(s.errors[0].descriptor, nullptr);
        EXPECT_TRUE(other.errors.empty());
        EXPECT_EQ(VipErrorCallback(s.s.nic, nullptr, nullptr), VIP_SUCCESS);
        EXPECT_EQ(VipPostSend(s.vi, nullptr, s.s.handle), VIP_SUCCESS);
        s.pause();
        EXPECT_EQ(s.errors.size(), 1u);
    });
}

}  // namespace
}  // namespace vinic::vipl::test
