// SPDX-License-Identifier: Apache-2.0

// Open decisions (facts vipl.md 13): each choice of vipl/decisions, the default first.
#include "testbench/tests/vipl/conformance/pair.h"

namespace vinic::vipl::test {
namespace {

void with(const settings& values, const part& body,
          VIP_RELIABILITY_LEVEL level = VIP_SERVICE_RELIABLE_DELIVERY) {
    alone(
        [&](environment& in) {
            side s(in, level);
            body(s);
        },
        values);
}

TEST(functional_decision, send_on_a_vi_that_is_not_connected) {
    with({}, [](side& s) {
        s.post_send(s.with(0, s.s.buffer(0), 8));
        EXPECT_EQ(s.sent(), VIP_STATUS_DONE | VIP_STATUS_DESC_FLUSHED_ERROR);
    });
    with({{"vipl.send_unconnected", "invalid_state"}}, [](side& s) {
        EXPECT_EQ(VipPostSend(s.vi, s.with(0, s.s.buffer(0), 8), s.s.handle), VIP_INVALID_STATE);
        EXPECT_EQ(s.sent(), 0u);
    });
}

TEST(functional_decision, destruction_of_a_busy_vi) {
    const auto make_busy = [](side& s) {
        s.post_receive(s.with(0, s.s.buffer(0), 8));
        address here({}, "a");
        address there(node0, "nobody");
        EXPECT_EQ(VipConnectPeerRequest(s.vi, here, there, 100), VIP_SUCCESS);
    };
    with({}, [&](side& s) {
        make_busy(s);
        EXPECT_EQ(VipDestroyVi(s.vi), VIP_INVALID_STATE);
        EXPECT_EQ(VipDisconnect(s.vi), VIP_SUCCESS);
        EXPECT_EQ(VipDestroyVi(s.vi), VIP_ERROR_RESOURCE);
    });
    with({{"vipl.destroy_busy", "force"}}, [&](side& s) {
        make_busy(s);
        EXPECT_EQ(VipDestroyVi(s.vi), VIP_SUCCESS);
        EXPECT_EQ(VipDestroyVi(s.vi), VIP_INVALID_PARAMETER);
    });
}

VIP_RETURN wait_for_connection(side& s, const char* discriminator, VIP_ULONG timeout) {
    address here({}, discriminator);
    address from;
    VIP_VI_ATTRIBUTES theirs;
    VIP_CONN_HANDLE connection = nullptr;
    return VipConnectWait(s.s.nic, here, timeout, from, &theirs, &connection);
}

TEST(functional_decision, connect_wait_with_time_out_zero) {
    with({}, [](side& s) { EXPECT_EQ(wait_for_connection(s, "a", 0), VIP_TIMEOUT); });
    with({{"vipl.wait_timeout_zero", "invalid_parameter"}},
         [](side& s) { EXPECT_EQ(wait_for_connection(s, "a", 0), VIP_INVALID_PARAMETER); });
}

TEST(functional_decision, connect_wait_with_an_empty_discriminator) {
    const auto ask = [](side& s) {
        VIP_RETURN code{};
        s.in.thread([&](host::process&) { code = wait_for_connection(s, "", 10); });
        s.pause(ms);
        address here({}, "a");
        address there(node0, "b");
        VIP_VI_ATTRIBUTES theirs;
        const VIP_RETURN asked = VipConnectRequest(s.vi, here, there, 5, &theirs);
        s.in.join();
        return std::pair(code, asked);
    };
    with({}, [&](side& s) { EXPECT_EQ(ask(s), std::pair(VIP_SUCCESS, VIP_TIMEOUT)); });
    with({{"vipl.empty_discriminator", "exact"}},
         [&](side& s) { EXPECT_EQ(ask(s), std::pair(VIP_TIMEOUT, VIP_NO_MATCH)); });
}

TEST(functional_decision, wait_on_a_queue_with_a_completion_queue) {
    for (const auto& [choice, code] :
         {std::pair{"invalid_parameter", VIP_INVALID_PARAMETER},
          std::pair{"error_resource", VIP_ERROR_RESOURCE}, std::pair{"allow", VIP_TIMEOUT}})
        with({{"vipl.wait_with_queue", choice}}, [code = code](side& s) {
            VIP_CQ_HANDLE cq = nullptr;
            ASSERT_EQ(VipCreateCQ(s.s.nic, 8, &cq), VIP_SUCCESS);
            const VIP_VI_HANDLE vi = s.another(nullptr, cq);
            EXPECT_EQ(VipPostRecv(vi, s.with(0, s.s.buffer(0), 8), s.s.handle), VIP_SUCCESS);
            EXPECT_EQ(VipRecvWait(vi, 1, &s.last), code);
        });
}

TEST(functional_decision, name_service_before_its_initialisation) {
    const auto look = [](side& s) {
        char name[] = "node0";
        address found;
        return VipNSGetHostByName(s.s.nic, name, found, 0);
    };
    with({}, [&](side& s) { EXPECT_EQ(look(s), VIP_SUCCESS); });
    with({{"vipl.name_service", "strict"}}, [&](side& s) {
        EXPECT_EQ(look(s), VIP_ERROR_NAMESERVICE);
        EXPECT_EQ(VipNSInit(s.s.nic, nullptr), VIP_SUCCESS);
        EXPECT_EQ(look(s), VIP_SUCCESS);
        EXPECT_EQ(VipNSShutdown(s.s.nic), VIP_SUCCESS);
        EXPECT_EQ(look(s), VIP_ERROR_NAMESERVICE);
    });
}

TEST(functional_decision, request_to_a_host_that_does_not_exist) {
    const auto ask = [](side& s) {
        address here({}, "a");
        address there(driver::make_node_address(99, 0), "b");
        VIP_VI_ATTRIBUTES theirs;
        return VipConnectRequest(s.vi, here, there, 10, &theirs);
    };
    with({}, [&](side& s) { EXPECT_EQ(ask(s), VIP_NOT_REACHABLE); });
    with({{"vipl.unknown_host", "timeout"}}, [&](side& s) {
        const sim::picoseconds before = sim::now();
        EXPECT_EQ(ask(s), VIP_TIMEOUT);
        EXPECT_GE(sim::now(), before + 10 * ms);
        EXPECT_EQ(s.state(), VIP_STATE_IDLE);
    });
}

TEST(functional_decision, null_protection_tag) {
    const auto create = [](const char* device) {
        VIP_NIC_HANDLE nic = nullptr;
        EXPECT_EQ(VipOpenNic(device, &nic), VIP_SUCCESS);
        VIP_VI_ATTRIBUTES a{};
        a.ReliabilityLevel = VIP_SERVICE_UNRELIABLE;
        a.MaxTransferSize = 4096;
        VIP_VI_HANDLE vi = nullptr;
        return VipCreateVi(nic, &a, nullptr, nullptr, &vi);
    };
    with({}, [&](side&) {
        EXPECT_EQ(create("/dev/clanvi0"), VIP_SUCCESS);
        EXPECT_EQ(create("VINIC"), VIP_INVALID_PTAG);
    });
    with({{"vipl.null_tag", "always"}}, [&](side&) { EXPECT_EQ(create("VINIC"), VIP_SUCCESS); });
    with({{"vipl.null_tag", "never"}}, [&](side&) { EXPECT_EQ(create("/dev/clanvi0"), VIP_INVALID_PTAG); });
}

// --- Name service (facts 4.8), whose index and buffers programs rely on
// ---------------------------------------

TEST(early_adopter_name_service, finds_hosts_by_name_and_address) {
    machines m(3);
    m.program(1, [](environment& in) {
        setup s(in.memory);
        VIP_NIC_ATTRIBUTES nic;
        ASSERT_EQ(VipQueryNic(s.nic, &nic), VIP_SUCCESS);
        EXPECT_EQ(VipNSInit(s.nic, nullptr), VIP_SUCCESS);
        EXPECT_EQ(VipNSInit(s.nic, nullptr), VIP_SUCCESS);
        // Presets are ignored and nothing is written behind the host's address.
        union {
            VIP_NET_ADDRESS net;
            VIP_UINT8 bytes[32];
        } found;
        std::memset(found.bytes, 0xEE, sizeof found.bytes);
        char name[16] = "node2";
        EXPECT_EQ(VipNSGetHostByName(s.nic, name, &found.net, 0), VIP_SUCCESS);
        EXPECT_EQ(found.net.HostAddressLen, 6);
        EXPECT_EQ(found.net.DiscriminatorLen, 0);
        EXPECT_EQ(std::memcmp(found.net.HostAddress, driver::make_node_address(2, 0).data(), 6), 0);
        for (unsigned i = 10; i != sizeof found.bytes; ++i) EXPECT_EQ(found.bytes[i], 0xEE) << i;
        EXPECT_EQ(VipNSGetHostByName(s.nic, name, &found.net, 1), VIP_ERROR_NAMESERVICE);
        for (const char* own : {"localhost", "node1"}) {
            char text[16];
            std::strcpy(text, own);
            EXPECT_EQ(VipNSGetHostByName(s.nic, text, &found.net, 0), VIP_SUCCESS);
            EXPECT_EQ(std::memcmp(found.net.HostAddress, nic.LocalNicAddress, 6), 0);
        }
        char nobody[16] = "node3";
        EXPECT_EQ(VipNSGetHostByName(s.nic, nobody, &found.net, 0), VIP_ERROR_NAMESERVICE);

        address two(driver::make_node_address(2, 0));
        VIP_ULONG length = sizeof name;
        EXPECT_EQ(VipNSGetHostByAddr(s.nic, two, name, &length), VIP_SUCCESS);
        EXPECT_STREQ(name, "node2");
        EXPECT_EQ(length, 5u);
        address nowhere(driver::make_node_address(9, 0));
        length = sizeof name;
        EXPECT_EQ(VipNSGetHostByAddr(s.nic, nowhere, name, &length), VIP_ERROR_NAMESERVICE);
        EXPECT_EQ(VipNSShutdown(s.nic), VIP_SUCCESS);
    });
    m.run();
}

}  // namespace
}  // namespace vinic::vipl::test
