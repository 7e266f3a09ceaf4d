// SPDX-License-Identifier: Apache-2.0

// Each function with valid arguments, null out pointers, bad handles and handles of destroyed objects; limits
// and one more (facts vipl.md 4, 8, 9).
#include <gtest/gtest.h>

#include "testbench/tests/vipl/program.h"

namespace vinic::vipl::test {
namespace {

using body = std::function<void(host::process&, host::address_space&)>;

void alone(const body& what, const settings& values = {}) {
    world w(1, values);
    w.program(0, what);
    w.run();
}

VIP_PVOID const bad_handles[] = {nullptr, reinterpret_cast<VIP_PVOID>(0x12345678),
                                 reinterpret_cast<VIP_PVOID>(~std::uintptr_t{0})};

TEST(nic, device_names_of_the_time_are_known) {
    alone([](host::process&, host::address_space&) {
        for (const char* name :
             {"/dev/clanvi0", "/dev/via_lo", "/etc/via_lo", "/dev/via_eth0", "VINIC", "VINIC0", "nic0"}) {
            VIP_NIC_HANDLE nic = nullptr;
            EXPECT_EQ(VipOpenNic(name, &nic), VIP_SUCCESS) << name;
            EXPECT_EQ(VipCloseNic(nic), VIP_SUCCESS);
        }
        VIP_NIC_HANDLE nic = nullptr;
        for (const char* name : {"", "eth0", "/dev/via_eth1", "VINIC7", "nic0x", "/dev/null"})
            EXPECT_EQ(VipOpenNic(name, &nic), VIP_INVALID_PARAMETER) << name;
        EXPECT_EQ(VipOpenNic(nullptr, &nic), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipOpenNic("VINIC", nullptr), VIP_INVALID_PARAMETER);
    });
}

TEST(nic, each_open_has_a_handle_of_its_own) {
    alone([](host::process&, host::address_space&) {
        VIP_NIC_HANDLE a = nullptr;
        VIP_NIC_HANDLE b = nullptr;
        ASSERT_EQ(VipOpenNic("VINIC", &a), VIP_SUCCESS);
        ASSERT_EQ(VipOpenNic("VINIC", &b), VIP_SUCCESS);
        EXPECT_NE(a, b);
        EXPECT_EQ(VipCloseNic(a), VIP_SUCCESS);
        EXPECT_EQ(VipCloseNic(a), VIP_INVALID_PARAMETER);
        VIP_NIC_ATTRIBUTES attributes;
        EXPECT_EQ(VipQueryNic(a, &attributes), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipQueryNic(b, &attributes), VIP_SUCCESS);
    });
}

TEST(nic, attributes_are_those_of_card_and_agent) {
    alone([](host::process&, host::address_space& space) {
        setup s(space);
        VIP_NIC_ATTRIBUTES a;
        ASSERT_EQ(VipQueryNic(s.nic, &a), VIP_SUCCESS);
        EXPECT_EQ(a.NicAddressLen, 6);
        EXPECT_EQ(std::memcmp(a.LocalNicAddress, node0.data(), 6), 0);
        EXPECT_EQ(a.ThreadSafe, VIP_TRUE);
        EXPECT_GE(a.MaxDiscriminatorLen, 16);
        EXPECT_EQ(a.MaxVI, driver::test::fake_card::max_vis);
        EXPECT_EQ(a.MaxRegisterRegions, driver::test::fake_card::max_regions);
        EXPECT_EQ(a.MaxCQ, driver::test::fake_card::max_queues);
        EXPECT_EQ(a.MaxDescriptorsPerQueue, 1024u);
        EXPECT_EQ(a.MaxSegmentsPerDesc, 252u);
        EXPECT_EQ(a.MaxTransferSize, 65536u);
        EXPECT_EQ(a.MaxCQEntries, 65536u);
        EXPECT_EQ(a.MaxRegisterBytes, 65536u * 4096);
        EXPECT_EQ(a.MaxRegisterBlockBytes, 128u << 20);
        EXPECT_EQ(a.MaxPtags, 4096u);
        EXPECT_EQ(a.ReliabilityLevelSupport, 7);
        EXPECT_EQ(a.RDMAReadSupport, 0);
        EXPECT_EQ(VipQueryNic(s.nic, nullptr), VIP_INVALID_PARAMETER);
    });
}

TEST(arguments, bad_nic_handles_are_refused) {
    alone([](host::process&, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        std::vector<VIP_PVOID> bad(std::begin(bad_handles), std::end(bad_handles));
        bad.push_back(vi);  // of another kind
        bad.push_back(s.tag);
        VIP_NIC_HANDLE closed = nullptr;
        ASSERT_EQ(VipOpenNic("VINIC", &closed), VIP_SUCCESS);
        ASSERT_EQ(VipCloseNic(closed), VIP_SUCCESS);
        bad.push_back(closed);
        for (const VIP_PVOID h : bad) {
            VIP_NIC_ATTRIBUTES nic_attributes;
            VIP_VI_ATTRIBUTES a = s.attributes();
            VIP_MEM_ATTRIBUTES m{.Ptag = s.tag, .EnableRdmaWrite = 0, .EnableRdmaRead = 0};
            VIP_PVOID out = nullptr;
            VIP_MEM_HANDLE handle = 0;
            VIP_AUTODISCOVERY_LIST list;
            address local(node0, "x");
            address remote;
            char name[32];
            VIP_ULONG length = sizeof name;
            EXPECT_EQ(VipCloseNic(h), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipQueryNic(h, &nic_attributes), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipErrorCallback(h, nullptr, nullptr), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipQuerySystemManagementInfo(h, VIP_SMI_AUTODISCOVERY, &list), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipCreatePtag(h, &out), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipDestroyPtag(h, s.tag), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipRegisterMem(h, s.memory, 64, &m, &handle), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipDeregisterMem(h, s.memory, s.handle), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipSetMemAttributes(h, s.memory, s.handle, &m), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipQueryMem(h, s.memory, s.handle, &m), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipCreateVi(h, &a, nullptr, nullptr, &out), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipCreateCQ(h, 8, &out), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipConnectWait(h, local, 1, remote, &a, &out), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipNSInit(h, nullptr), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipNSShutdown(h), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipNSGetHostByName(h, name, remote, 0), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipNSGetHostByAddr(h, local, name, &length), VIP_INVALID_PARAMETER);
        }
        VIP_MEM_ATTRIBUTES m;
        EXPECT_EQ(VipQueryMem(s.nic, s.memory, s.handle, &m), VIP_SUCCESS);  // nothing was touched
    });
}

TEST(arguments, bad_vi_handles_are_refused) {
    alone([](host::process&, host::address_space& space) {
        setup s(space);
        std::vector<VIP_PVOID> bad(std::begin(bad_handles), std::end(bad_handles));
        bad.push_back(s.nic);
        const VIP_VI_HANDLE destroyed = s.vi();
        ASSERT_EQ(VipDestroyVi(destroyed), VIP_SUCCESS);
        const VIP_VI_HANDLE successor = s.vi();  // has its place, not its handle
        EXPECT_NE(successor, destroyed);
        bad.push_back(destroyed);
        for (const VIP_PVOID h : bad) {
            VIP_VI_STATE state;
            VIP_VI_ATTRIBUTES a = s.attributes();
            VIP_BOOLEAN empty = 0;
            VIP_DESCRIPTOR* d = s.with(0, s.buffer(0), 8);
            address local(node0, "x");
            EXPECT_EQ(VipDestroyVi(h), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipSetViAttributes(h, &a), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipQueryVi(h, &state, &a, &empty, &empty), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipConnectRequest(h, local, local, 1, &a), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipDisconnect(h), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipConnectPeerRequest(h, local, local, 1), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipConnectPeerDone(h, &a), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipConnectPeerWait(h, &a), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipPostSend(h, d, s.handle), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipPostRecv(h, d, s.handle), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipSendDone(h, &d), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipRecvDone(h, &d), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipSendWait(h, 1, &d), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipRecvWait(h, 1, &d), VIP_INVALID_PARAMETER);
            EXPECT_EQ(
                VipSendNotify(h, nullptr, [](VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_DESCRIPTOR*) {}),
                VIP_INVALID_PARAMETER);
            EXPECT_EQ(
                VipRecvNotify(h, nullptr, [](VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_DESCRIPTOR*) {}),
                VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipConnectAccept(h, successor), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipConnectReject(h), VIP_INVALID_PARAMETER);
        }
    });
}

TEST(arguments, bad_queue_handles_are_refused) {
    alone([](host::process&, host::address_space& space) {
        setup s(space);
        std::vector<VIP_PVOID> bad(std::begin(bad_handles), std::end(bad_handles));
        VIP_CQ_HANDLE destroyed = nullptr;
        ASSERT_EQ(VipCreateCQ(s.nic, 8, &destroyed), VIP_SUCCESS);
        ASSERT_EQ(VipDestroyCQ(destroyed), VIP_SUCCESS);
        bad.push_back(destroyed);
        for (const VIP_PVOID h : bad) {
            VIP_VI_HANDLE vi = nullptr;
            VIP_BOOLEAN receive = 0;
            VIP_VI_ATTRIBUTES a = s.attributes();
            EXPECT_EQ(VipDestroyCQ(h), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipResizeCQ(h, 16), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipCQDone(h, &vi, &receive), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipCQWait(h, 1, &vi, &receive), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipCQNotify(h, nullptr, [](VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_BOOLEAN) {}),
                      VIP_INVALID_PARAMETER);
            if (h == nullptr) continue;  // "none" to VipCreateVi
            EXPECT_EQ(VipCreateVi(s.nic, &a, h, nullptr, &vi), VIP_INVALID_PARAMETER);
            EXPECT_EQ(VipCreateVi(s.nic, &a, nullptr, h, &vi), VIP_INVALID_PARAMETER);
        }
    });
}

TEST(arguments, null_pointers_are_refused) {
    alone([](host::process&, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        VIP_CQ_HANDLE cq = nullptr;
        ASSERT_EQ(VipCreateCQ(s.nic, 8, &cq), VIP_SUCCESS);
        VIP_VI_ATTRIBUTES a = s.attributes();
        VIP_MEM_ATTRIBUTES m{.Ptag = s.tag, .EnableRdmaWrite = 0, .EnableRdmaRead = 0};
        VIP_PVOID out = nullptr;
        VIP_MEM_HANDLE handle = 0;
        VIP_VI_STATE state;
        VIP_BOOLEAN flag = 0;
        address local(node0, "x");
        address remote;
        char name[32] = "m0";
        VIP_ULONG length = sizeof name;
        EXPECT_EQ(VipQuerySystemManagementInfo(s.nic, VIP_SMI_AUTODISCOVERY, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipQuerySystemManagementInfo(s.nic, 2, &a), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipCreatePtag(s.nic, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipDestroyPtag(s.nic, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipRegisterMem(s.nic, nullptr, 64, &m, &handle), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipRegisterMem(s.nic, s.memory, 64, &m, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipRegisterMem(s.nic, s.memory, 64, nullptr, &handle), VIP_INVALID_PTAG);
        EXPECT_EQ(VipSetMemAttributes(s.nic, s.memory, s.handle, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipQueryMem(s.nic, s.memory, s.handle, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipCreateVi(s.nic, nullptr, nullptr, nullptr, &out), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipCreateVi(s.nic, &a, nullptr, nullptr, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipSetViAttributes(vi, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipQueryVi(vi, nullptr, &a, &flag, &flag), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipQueryVi(vi, &state, nullptr, &flag, &flag), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipQueryVi(vi, &state, &a, nullptr, &flag), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipQueryVi(vi, &state, &a, &flag, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectWait(s.nic, nullptr, 1, remote, &a, &out), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectWait(s.nic, local, 1, nullptr, &a, &out), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectWait(s.nic, local, 1, remote, nullptr, &out), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectWait(s.nic, local, 1, remote, &a, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectRequest(vi, nullptr, local, 1, &a), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectRequest(vi, local, nullptr, 1, &a), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectRequest(vi, local, local, 1, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectPeerRequest(vi, nullptr, local, 1), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectPeerRequest(vi, local, nullptr, 1), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectPeerDone(vi, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectPeerWait(vi, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipSendDone(vi, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipRecvDone(vi, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipSendWait(vi, 0, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipRecvWait(vi, 0, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipSendNotify(vi, nullptr, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipRecvNotify(vi, nullptr, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipCreateCQ(s.nic, 8, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipCreateCQ(s.nic, 0, &out), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipResizeCQ(cq, 0), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipCQDone(cq, nullptr, &flag), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipCQDone(cq, &out, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipCQWait(cq, 0, nullptr, &flag), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipCQWait(cq, 0, &out, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipCQNotify(cq, nullptr, nullptr), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipNSGetHostByName(s.nic, nullptr, remote, 0), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipNSGetHostByName(s.nic, name, nullptr, 0), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipNSGetHostByAddr(s.nic, nullptr, name, &length), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipNSGetHostByAddr(s.nic, local, nullptr, &length), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipNSGetHostByAddr(s.nic, local, name, nullptr), VIP_INVALID_PARAMETER);
    });
}

TEST(arguments, vi_attributes_are_checked) {
    alone([](host::process&, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE good = s.vi();
        const auto expect = [&](VIP_RETURN code, const std::function<void(VIP_VI_ATTRIBUTES&)>& change) {
            VIP_VI_ATTRIBUTES a = s.attributes();
            change(a);
            VIP_VI_HANDLE vi = nullptr;
            EXPECT_EQ(VipCreateVi(s.nic, &a, nullptr, nullptr, &vi), code);
            EXPECT_EQ(vi, nullptr);
            EXPECT_EQ(VipSetViAttributes(good, &a), code);
        };
        expect(VIP_INVALID_RELIABILITY_LEVEL, [](auto& a) { a.ReliabilityLevel = 0; });
        expect(VIP_INVALID_RELIABILITY_LEVEL, [](auto& a) { a.ReliabilityLevel = 3; });
        expect(VIP_INVALID_RELIABILITY_LEVEL, [](auto& a) { a.ReliabilityLevel = 8; });
        expect(VIP_INVALID_MTU, [](auto& a) { a.MaxTransferSize = 65537; });
        expect(VIP_INVALID_MTU, [](auto& a) { a.MaxTransferSize = 0; });
        expect(VIP_INVALID_QOS, [](auto& a) { a.QoS = &a; });
        expect(VIP_INVALID_PTAG, [](auto& a) { a.Ptag = nullptr; });
        expect(VIP_INVALID_PTAG, [&](auto& a) { a.Ptag = s.nic; });
        expect(VIP_INVALID_RDMAREAD, [](auto& a) { a.EnableRdmaRead = VIP_TRUE; });
        VIP_VI_STATE state;
        VIP_VI_ATTRIBUTES a;
        VIP_BOOLEAN send = 0;
        VIP_BOOLEAN receive = 0;
        ASSERT_EQ(VipQueryVi(good, &state, &a, &send, &receive), VIP_SUCCESS);
        EXPECT_EQ(a.ReliabilityLevel, VIP_SERVICE_RELIABLE_DELIVERY);
        EXPECT_EQ(a.MaxTransferSize, 32768u);
        EXPECT_EQ(a.Ptag, s.tag);
        EXPECT_EQ(send, VIP_TRUE);
        ASSERT_EQ(VipPostRecv(good, s.with(0, s.buffer(0), 8), s.handle), VIP_SUCCESS);
        ASSERT_EQ(VipQueryVi(good, &state, &a, &send, &receive), VIP_SUCCESS);
        EXPECT_EQ(receive, VIP_FALSE);
        EXPECT_EQ(send, VIP_TRUE);
    });
}

// Facts vipl.md 8: programs of one provider pass no tag; on its device names that stands for a default one.
TEST(arguments, null_tag_is_taken_on_clan_device_names) {
    alone([](host::process&, host::address_space& space) {
        setup s(space, "/dev/clanvi0");
        VIP_VI_ATTRIBUTES a = s.attributes();
        a.Ptag = nullptr;
        VIP_VI_HANDLE vi = nullptr;
        ASSERT_EQ(VipCreateVi(s.nic, &a, nullptr, nullptr, &vi), VIP_SUCCESS);
        VIP_MEM_HANDLE handle = 0;
        EXPECT_EQ(VipRegisterMem(s.nic, s.memory, 64, nullptr, &handle), VIP_SUCCESS);
        // Memory with a real tag serves a VI without one.
        EXPECT_EQ(VipPostRecv(vi, s.with(0, s.buffer(0), 8), s.handle), VIP_SUCCESS);
        VIP_DESCRIPTOR* d = nullptr;
        EXPECT_EQ(VipRecvDone(vi, &d), VIP_NOT_DONE);
    });
}

TEST(limits, one_more_than_the_limit_is_a_resource_error) {
    alone(
        [](host::process&, host::address_space& space) {
            setup s(space);  // one open, one tag, one region
            VIP_NIC_ATTRIBUTES limits;
            ASSERT_EQ(VipQueryNic(s.nic, &limits), VIP_SUCCESS);
            VIP_PVOID out = nullptr;
            std::vector<VIP_VI_HANDLE> vis;
            for (VIP_ULONG i = 0; i < limits.MaxVI; ++i) vis.push_back(s.vi());
            VIP_VI_ATTRIBUTES a = s.attributes();
            EXPECT_EQ(VipCreateVi(s.nic, &a, nullptr, nullptr, &out), VIP_ERROR_RESOURCE);
            EXPECT_EQ(VipDestroyVi(vis[3]), VIP_SUCCESS);
            EXPECT_EQ(VipCreateVi(s.nic, &a, nullptr, nullptr, &out), VIP_SUCCESS);

            for (VIP_ULONG i = 0; i < limits.MaxCQ; ++i) EXPECT_EQ(VipCreateCQ(s.nic, 4, &out), VIP_SUCCESS);
            EXPECT_EQ(VipCreateCQ(s.nic, 4, &out), VIP_ERROR_RESOURCE);

            for (VIP_ULONG i = 1; i < limits.MaxPtags; ++i)
                EXPECT_EQ(VipCreatePtag(s.nic, &out), VIP_SUCCESS);
            EXPECT_EQ(VipCreatePtag(s.nic, &out), VIP_ERROR_RESOURCE);

            VIP_MEM_ATTRIBUTES m{.Ptag = s.tag, .EnableRdmaWrite = 0, .EnableRdmaRead = 0};
            VIP_MEM_HANDLE handle = 0;
            for (VIP_ULONG i = 1; i < limits.MaxRegisterRegions; ++i)
                EXPECT_EQ(VipRegisterMem(s.nic, s.memory, 8, &m, &handle), VIP_SUCCESS);
            EXPECT_EQ(VipRegisterMem(s.nic, s.memory, 8, &m, &handle), VIP_ERROR_RESOURCE);
            EXPECT_EQ(VipRegisterMem(s.nic, s.memory, limits.MaxRegisterBlockBytes + 1, &m, &handle),
                      VIP_ERROR_RESOURCE);
        },
        settings{{"m0.agent.tags_max", "5"}});
}

TEST(limits, queue_entries_are_limited) {
    alone(
        [](host::process&, host::address_space& space) {
            setup s(space);
            VIP_CQ_HANDLE cq = nullptr;
            EXPECT_EQ(VipCreateCQ(s.nic, 101, &cq), VIP_ERROR_RESOURCE);
            ASSERT_EQ(VipCreateCQ(s.nic, 100, &cq), VIP_SUCCESS);
            EXPECT_EQ(VipResizeCQ(cq, 101), VIP_ERROR_RESOURCE);
            EXPECT_EQ(VipResizeCQ(cq, 1), VIP_SUCCESS);
            const VIP_VI_HANDLE vi = s.vi(cq, cq);
            EXPECT_EQ(VipDestroyCQ(cq), VIP_ERROR_RESOURCE);
            EXPECT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
            EXPECT_EQ(VipDestroyCQ(cq), VIP_SUCCESS);
        },
        settings{{"m0.driver.queue_entries_max", "100"}});
}

TEST(name_service, knows_hosts_by_name_and_address) {
    world w(3);
    w.program(1, [](host::process&, host::address_space& space) {
        setup s(space);
        VIP_NIC_ATTRIBUTES nic;
        ASSERT_EQ(VipQueryNic(s.nic, &nic), VIP_SUCCESS);
        EXPECT_EQ(VipNSInit(s.nic, nullptr), VIP_SUCCESS);
        EXPECT_EQ(VipNSInit(s.nic, nullptr), VIP_SUCCESS);
        address found;
        char name[8] = "m2";
        EXPECT_EQ(VipNSGetHostByName(s.nic, name, found, 0), VIP_SUCCESS);
        EXPECT_EQ(found.host(), driver::make_node_address(2, 0));
        EXPECT_EQ(found.discriminator(), "");
        EXPECT_EQ(VipNSGetHostByName(s.nic, name, found, 1), VIP_ERROR_NAMESERVICE);
        char own[16] = "localhost";
        EXPECT_EQ(VipNSGetHostByName(s.nic, own, found, 0), VIP_SUCCESS);
        EXPECT_EQ(std::memcmp(found.host().data(), nic.LocalNicAddress, 6), 0);
        char nobody[8] = "m9";
        EXPECT_EQ(VipNSGetHostByName(s.nic, nobody, found, 0), VIP_ERROR_NAMESERVICE);

        address two(driver::make_node_address(2, 0));
        VIP_ULONG length = sizeof name;
        EXPECT_EQ(VipNSGetHostByAddr(s.nic, two, name, &length), VIP_SUCCESS);
        EXPECT_STREQ(name, "m2");
        EXPECT_EQ(length, 2u);
        length = 2;  // no room for the end of the text
        EXPECT_EQ(VipNSGetHostByAddr(s.nic, two, name, &length), VIP_ERROR_RESOURCE);
        EXPECT_EQ(VipNSShutdown(s.nic), VIP_SUCCESS);

        VIP_AUTODISCOVERY_LIST list{};
        EXPECT_EQ(VipQuerySystemManagementInfo(s.nic, VIP_SMI_AUTODISCOVERY, &list), VIP_SUCCESS);
        EXPECT_EQ(list.NumAdAddrs, 2u);
        EXPECT_EQ(list.NumberOfHops, 1u);
        EXPECT_EQ(std::memcmp(list.ADAddrArray[1]->HostAddress, driver::make_node_address(2, 0).data(), 6),
                  0);
    });
    w.run();
}

TEST(name_service, strict_one_wants_its_initialisation) {
    alone(
        [](host::process&, host::address_space& space) {
            setup s(space);
            address found;
            char name[8] = "m0";
            EXPECT_EQ(VipNSGetHostByName(s.nic, name, found, 0), VIP_ERROR_NAMESERVICE);
            EXPECT_EQ(VipNSInit(s.nic, nullptr), VIP_SUCCESS);
            EXPECT_EQ(VipNSGetHostByName(s.nic, name, found, 0), VIP_SUCCESS);
            EXPECT_EQ(VipNSShutdown(s.nic), VIP_SUCCESS);
            EXPECT_EQ(VipNSGetHostByName(s.nic, name, found, 0), VIP_ERROR_NAMESERVICE);
        },
        settings{{"vipl0.name_service", "strict"}});
}

}  // namespace
}  // namespace vinic::vipl::test
