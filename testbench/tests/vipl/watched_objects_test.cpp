// SPDX-License-Identifier: Apache-2.0
// VIs and completion queues as signals: what probes report against what the program did.
#include <gtest/gtest.h>

#include "hw/sim/probe.h"
#include "testbench/tests/vipl/program.h"

namespace vinic::vipl::test {
namespace {

/// The values of one probe, states by their names.
struct history : sim::listener {
    explicit history(const std::string& probe) {
        sim::simulation::current().probes().at(probe)->attach(*this);
    }
    void on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                  std::uint64_t) override {
        EXPECT_GE(at, last) << p.name();
        EXPECT_LE(at, sim::now()) << p.name();
        last = at;
        values.push_back(p.states().empty() ? std::to_string(bits) : p.states()[bits]);
    }
    std::vector<std::string> values;
    sim::picoseconds last = 0;
};
using values = std::vector<std::string>;

TEST(watched_objects, states_of_a_vi_through_connection_and_loss) {
    world w;
    history client("m0.agent.vi0.state"), server("m1.agent.vi0.state");
    w.program(1, [](host::process& self, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        address here(node1, "x");
        ASSERT_EQ(serve(s.nic, vi, here), VIP_SUCCESS);
        while (state_of(vi) == VIP_STATE_CONNECTED) self.sleep_for(1'000'000'000);
        ASSERT_EQ(VipDisconnect(vi), VIP_SUCCESS);
        ASSERT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
    });
    w.program(0, [](host::process& self, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        address here(node0, "x"), there(node1, "x");
        VIP_VI_ATTRIBUTES remote;
        ASSERT_EQ(connect(self, vi, here, there, &remote), VIP_SUCCESS);
        ASSERT_EQ(VipDisconnect(vi), VIP_SUCCESS);
        ASSERT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
    });
    w.run();
    // Requests before the server waits end with no match: idle again.
    while (client.values.size() > 3 && client.values[2] == "idle")
        client.values.erase(client.values.begin() + 1, client.values.begin() + 3);
    EXPECT_EQ(client.values, (values{"idle", "connect_pending", "connected", "idle", "none"}));
    EXPECT_EQ(server.values, (values{"idle", "connect_pending", "connected", "error", "idle", "none"}));
}

// A send on an idle VI completes flushed at once (facts vipl.md 5).
TEST(watched_objects, depths_of_queues_are_what_is_posted_and_not_taken) {
    world w(1);
    history sends("m0.agent.vi0.send_depth"), receives("m0.agent.vi0.receive_depth"),
        entries("m0.agent.queue0.depth");
    w.program(0, [](host::process& self, host::address_space& space) {
        setup s(space);
        VIP_CQ_HANDLE cq = nullptr;
        ASSERT_EQ(VipCreateCQ(s.nic, 8, &cq), VIP_SUCCESS);
        const VIP_VI_HANDLE vi = s.vi(cq, nullptr);
        ASSERT_EQ(VipPostRecv(vi, s.with(9, s.buffer(1), 8), s.handle), VIP_SUCCESS);
        for (unsigned n = 0; n < 3; ++n)
            ASSERT_EQ(VipPostSend(vi, s.with(n, s.buffer(0), 8), s.handle), VIP_SUCCESS);
        self.sleep_for(1'000'000'000);
        for (unsigned n = 0; n < 2; ++n) {
            VIP_VI_HANDLE found = nullptr;
            VIP_BOOLEAN receive = VIP_TRUE;
            ASSERT_EQ(VipCQDone(cq, &found, &receive), VIP_SUCCESS);
            VIP_DESCRIPTOR* d = nullptr;
            EXPECT_EQ(VipSendDone(vi, &d), VIP_DESCRIPTOR_ERROR);
        }
        // The third entry is carried over into the new ring and counts on.
        ASSERT_EQ(VipResizeCQ(cq, 16), VIP_SUCCESS);
        ASSERT_EQ(VipPostSend(vi, s.with(4, s.buffer(0), 8), s.handle), VIP_SUCCESS);
        self.sleep_for(1'000'000'000);
        for (unsigned n = 0; n < 2; ++n) {
            VIP_VI_HANDLE found = nullptr;
            VIP_BOOLEAN receive = VIP_TRUE;
            ASSERT_EQ(VipCQDone(cq, &found, &receive), VIP_SUCCESS);
            VIP_DESCRIPTOR* d = nullptr;
            EXPECT_EQ(VipSendDone(vi, &d), VIP_DESCRIPTOR_ERROR);
        }
    });
    w.run();
    EXPECT_EQ(sends.values, (values{"0", "1", "2", "3", "2", "1", "2", "1", "0", "0"}));
    EXPECT_EQ(receives.values, (values{"0", "1", "0"}));
    EXPECT_EQ(entries.values, (values{"0", "1", "2", "3", "2", "1", "2", "1", "0"}));
}

TEST(watched_objects, entries_of_a_vi_that_is_gone_leave_the_queue) {
    world w(1);
    history entries("m0.agent.queue0.depth");
    w.program(0, [](host::process& self, host::address_space& space) {
        setup s(space);
        VIP_CQ_HANDLE cq = nullptr;
        ASSERT_EQ(VipCreateCQ(s.nic, 8, &cq), VIP_SUCCESS);
        const VIP_VI_HANDLE kept = s.vi(cq, nullptr), lost = s.vi(cq, nullptr);
        for (const VIP_VI_HANDLE vi : {kept, lost})
            ASSERT_EQ(VipPostSend(vi, s.with(vi == kept, s.buffer(0), 8), s.handle), VIP_SUCCESS);
        self.sleep_for(1'000'000'000);
        VIP_DESCRIPTOR* d = nullptr;
        EXPECT_EQ(VipSendDone(lost, &d), VIP_DESCRIPTOR_ERROR);
        ASSERT_EQ(VipDestroyVi(lost), VIP_SUCCESS);
    });
    w.run();
    EXPECT_EQ(entries.values, (values{"0", "1", "2", "1", "0"}));
}

TEST(watched_objects, as_many_as_the_parameters_say) {
    const world w(1, {{"m0.agent.watched_vis", "2"}, {"m0.agent.watched_queues", "1"}});
    const auto& probes = w.simulation.probes();
    EXPECT_TRUE(probes.contains("m0.agent.vi1.state"));
    EXPECT_FALSE(probes.contains("m0.agent.vi2.state"));
    EXPECT_FALSE(probes.contains("m0.agent.queue1.depth"));
}

}  // namespace
}  // namespace vinic::vipl::test
