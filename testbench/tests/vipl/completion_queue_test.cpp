// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "testbench/tests/vipl/program.h"

namespace vinic::vipl::test {
namespace {

// A send on an idle VI completes flushed at once (facts vipl.md 5), which makes completions without a peer.
void complete_one(setup& s, VIP_VI_HANDLE vi, unsigned n) {
    ASSERT_EQ(VipPostSend(vi, s.with(n, s.buffer(0), 8), s.handle), VIP_SUCCESS);
}

void expect_entry(VIP_CQ_HANDLE cq, VIP_VI_HANDLE vi) {
    VIP_VI_HANDLE found = nullptr;
    VIP_BOOLEAN receive = VIP_TRUE;
    ASSERT_EQ(VipCQWait(cq, 100, &found, &receive), VIP_SUCCESS);
    EXPECT_EQ(found, vi);
    EXPECT_EQ(receive, VIP_FALSE);
    VIP_DESCRIPTOR* d = nullptr;
    EXPECT_EQ(VipSendDone(found, &d), VIP_DESCRIPTOR_ERROR);
    EXPECT_NE(d, nullptr);
}

void alone(const std::function<void(host::process&, host::address_space&)>& what,
           const settings& values = {}) {
    world w(1, values);
    w.program(0, what);
    w.run();
}

TEST(completion_queue, gathers_several_vis_in_order_of_completion) {
    alone([](host::process&, host::address_space& space) {
        setup s(space);
        VIP_CQ_HANDLE cq = nullptr;
        ASSERT_EQ(VipCreateCQ(s.nic, 8, &cq), VIP_SUCCESS);
        const VIP_VI_HANDLE a = s.vi(cq, nullptr);
        const VIP_VI_HANDLE b = s.vi(cq, cq);
        VIP_VI_HANDLE found = nullptr;
        VIP_BOOLEAN receive = VIP_FALSE;
        EXPECT_EQ(VipCQDone(cq, &found, &receive), VIP_NOT_DONE);
        unsigned n = 0;
        for (const VIP_VI_HANDLE vi : {a, b, b, a}) complete_one(s, vi, n++);
        for (const VIP_VI_HANDLE vi : {a, b, b, a}) expect_entry(cq, vi);
        EXPECT_EQ(VipCQDone(cq, &found, &receive), VIP_NOT_DONE);
    });
}

TEST(completion_queue, marks_receives) {
    world w;
    w.program(1, [](host::process&, host::address_space& space) {
        setup s(space);
        VIP_CQ_HANDLE cq = nullptr;
        ASSERT_EQ(VipCreateCQ(s.nic, 8, &cq), VIP_SUCCESS);
        const VIP_VI_HANDLE vi = s.vi(cq, cq);
        ASSERT_EQ(VipPostRecv(vi, s.with(0, s.buffer(0), 64), s.handle), VIP_SUCCESS);
        address here(node1, "x");
        ASSERT_EQ(serve(s.nic, vi, here), VIP_SUCCESS);
        VIP_VI_HANDLE found = nullptr;
        VIP_BOOLEAN receive = VIP_FALSE;
        ASSERT_EQ(VipCQWait(cq, VIP_INFINITE, &found, &receive), VIP_SUCCESS);
        EXPECT_EQ(found, vi);
        EXPECT_EQ(receive, VIP_TRUE);
        VIP_DESCRIPTOR* d = nullptr;
        EXPECT_EQ(VipRecvDone(vi, &d), VIP_SUCCESS);
        EXPECT_EQ(d->CS.Length, 17u);
        // Decision 7: this queue has a completion queue.
        EXPECT_EQ(VipRecvWait(vi, 0, &d), VIP_INVALID_PARAMETER);
    });
    w.program(0, [](host::process& self, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        address here(node0, "x");
        address there(node1, "x");
        VIP_VI_ATTRIBUTES remote;
        ASSERT_EQ(connect(self, vi, here, there, &remote), VIP_SUCCESS);
        self.sleep_for(1'000'000'000);  // the server has gone to the kernel to wait
        ASSERT_EQ(VipPostSend(vi, s.with(0, s.buffer(0), 17), s.handle), VIP_SUCCESS);
        self.sleep_for(1'000'000'000);
    });
    w.run();
    EXPECT_GE(w.libraries[1]->blocking_waits.value(), 1u);
}

TEST(completion_queue, wait_times_out) {
    alone([](host::process&, host::address_space& space) {
        setup s(space);
        VIP_CQ_HANDLE cq = nullptr;
        ASSERT_EQ(VipCreateCQ(s.nic, 8, &cq), VIP_SUCCESS);
        VIP_VI_HANDLE found = nullptr;
        VIP_BOOLEAN receive = VIP_FALSE;
        for (const VIP_ULONG timeout : {0u, 5u}) {
            const sim::picoseconds before = sim::now();
            EXPECT_EQ(VipCQWait(cq, timeout, &found, &receive), VIP_TIMEOUT);
            EXPECT_GE(sim::now(), before + timeout * 1'000'000'000);
            EXPECT_LT(sim::now(), before + timeout * 1'000'000'000 + 100'000'000);
        }
    });
}

// More completions than a pass of the ring holds: 4 + 4 of slack.
TEST(completion_queue, goes_round) {
    alone(
        [](host::process&, host::address_space& space) {
            setup s(space);
            VIP_CQ_HANDLE cq = nullptr;
            ASSERT_EQ(VipCreateCQ(s.nic, 4, &cq), VIP_SUCCESS);
            const VIP_VI_HANDLE vi = s.vi(cq, cq);
            for (unsigned round = 0; round < 9; ++round) {
                for (unsigned i = 0; i < 3; ++i) complete_one(s, vi, i);
                for (unsigned i = 0; i < 3; ++i) expect_entry(cq, vi);
            }
        },
        settings{{"m0.agent.queue_slack_entries", "4"}});
}

TEST(completion_queue, resize_keeps_entries_and_their_order) {
    alone([](host::process& self, host::address_space& space) {
        setup s(space);
        VIP_CQ_HANDLE cq = nullptr;
        ASSERT_EQ(VipCreateCQ(s.nic, 4, &cq), VIP_SUCCESS);
        const VIP_VI_HANDLE a = s.vi(cq, cq);
        const VIP_VI_HANDLE b = s.vi(cq, cq);
        complete_one(s, a, 0);
        complete_one(s, b, 1);
        complete_one(s, b, 2);
        expect_entry(cq, a);
        EXPECT_EQ(VipResizeCQ(cq, 1), VIP_ERROR_RESOURCE);  // two entries are in it
        ASSERT_EQ(VipResizeCQ(cq, 400), VIP_SUCCESS);
        complete_one(s, a, 3);
        self.sleep_for(1'000'000'000);
        EXPECT_EQ(VipResizeCQ(cq, 2), VIP_ERROR_RESOURCE);  // three
        expect_entry(cq, b);
        ASSERT_EQ(VipResizeCQ(cq, 2), VIP_SUCCESS);
        expect_entry(cq, b);
        expect_entry(cq, a);
        VIP_VI_HANDLE found = nullptr;
        VIP_BOOLEAN receive = VIP_FALSE;
        EXPECT_EQ(VipCQWait(cq, 2, &found, &receive), VIP_TIMEOUT);
        complete_one(s, a, 4);
        expect_entry(cq, a);
    });
}

TEST(completion_queue, forgets_a_destroyed_vi) {
    alone(
        [](host::process& self, host::address_space& space) {
            setup s(space);
            VIP_CQ_HANDLE cq = nullptr;
            ASSERT_EQ(VipCreateCQ(s.nic, 4, &cq), VIP_SUCCESS);
            const VIP_VI_HANDLE a = s.vi(cq, cq);
            complete_one(s, a, 0);
            self.sleep_for(1'000'000'000);
            ASSERT_EQ(VipDestroyVi(a), VIP_SUCCESS);  // decision 2: force
            const VIP_VI_HANDLE b = s.vi(cq, cq);     // takes the index of the other
            VIP_VI_HANDLE found = nullptr;
            VIP_BOOLEAN receive = VIP_FALSE;
            EXPECT_EQ(VipCQDone(cq, &found, &receive), VIP_NOT_DONE);
            complete_one(s, b, 1);
            expect_entry(cq, b);
        },
        settings{{"vipl0.destroy_busy", "force"}});
}

struct heard {
    std::vector<VIP_VI_HANDLE> vis;
    std::vector<VIP_DESCRIPTOR*> descriptors;
};

void on_entry(VIP_PVOID context, VIP_NIC_HANDLE, VIP_VI_HANDLE vi, VIP_BOOLEAN receive) {
    EXPECT_EQ(receive, VIP_FALSE);
    static_cast<heard*>(context)->vis.push_back(vi);
}

void on_descriptor(VIP_PVOID context, VIP_NIC_HANDLE, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* d) {
    static_cast<heard*>(context)->vis.push_back(vi);
    static_cast<heard*>(context)->descriptors.push_back(d);
}

// Facts vipl.md 4.7: an entry that is there is removed and handed over; else the handler is armed; one
// registration, one entry.
TEST(notify, queue_handler_gets_one_entry_for_each_registration) {
    alone([](host::process& self, host::address_space& space) {
        heard h;
        setup s(space);
        VIP_CQ_HANDLE cq = nullptr;
        ASSERT_EQ(VipCreateCQ(s.nic, 8, &cq), VIP_SUCCESS);
        const VIP_VI_HANDLE vi = s.vi(cq, cq);
        ASSERT_EQ(VipCQNotify(cq, &h, on_entry), VIP_SUCCESS);  // before
        ASSERT_EQ(VipCQNotify(cq, &h, on_entry), VIP_SUCCESS);
        self.sleep_for(1'000'000'000);
        EXPECT_TRUE(h.vis.empty());
        for (unsigned i = 0; i < 3; ++i) complete_one(s, vi, i);
        self.sleep_for(1'000'000'000);
        EXPECT_EQ(h.vis, (std::vector{vi, vi}));
        ASSERT_EQ(VipCQNotify(cq, &h, on_entry), VIP_SUCCESS);  // after
        self.sleep_for(1'000'000'000);
        EXPECT_EQ(h.vis.size(), 3u);
        VIP_VI_HANDLE found = nullptr;
        VIP_BOOLEAN receive = VIP_FALSE;
        EXPECT_EQ(VipCQDone(cq, &found, &receive), VIP_NOT_DONE);
    });
}

TEST(notify, work_queue_handler_gets_its_descriptor) {
    alone([](host::process& self, host::address_space& space) {
        heard h;
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        ASSERT_EQ(VipSendNotify(vi, &h, on_descriptor), VIP_SUCCESS);
        complete_one(s, vi, 0);
        complete_one(s, vi, 1);
        self.sleep_for(1'000'000'000);
        EXPECT_EQ(h.descriptors, std::vector{s.descriptor(0)});
        EXPECT_NE(s.descriptor(0)->CS.Status & VIP_STATUS_DONE, 0u);
        ASSERT_EQ(VipSendNotify(vi, &h, on_descriptor), VIP_SUCCESS);
        self.sleep_for(1'000'000'000);
        EXPECT_EQ(h.descriptors, (std::vector{s.descriptor(0), s.descriptor(1)}));
    });
}

TEST(notify, destruction_of_the_queue_cancels) {
    alone([](host::process& self, host::address_space& space) {
        heard h;
        setup s(space);
        VIP_CQ_HANDLE cq = nullptr;
        ASSERT_EQ(VipCreateCQ(s.nic, 8, &cq), VIP_SUCCESS);
        ASSERT_EQ(VipCQNotify(cq, &h, on_entry), VIP_SUCCESS);
        ASSERT_EQ(VipDestroyCQ(cq), VIP_SUCCESS);
        ASSERT_EQ(VipCreateCQ(s.nic, 8, &cq), VIP_SUCCESS);
        const VIP_VI_HANDLE vi = s.vi(cq, cq);
        complete_one(s, vi, 0);
        self.sleep_for(1'000'000'000);
        EXPECT_TRUE(h.vis.empty());
        expect_entry(cq, vi);
    });
}

}  // namespace
}  // namespace vinic::vipl::test
