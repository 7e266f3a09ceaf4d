// SPDX-License-Identifier: Apache-2.0

// Every limit is the one that VipQueryNic tells, and one more is an error (facts vipl.md 8, 9).
#include "testbench/tests/vipl/conformance/pair.h"

namespace vinic::vipl::test {
namespace {

VIP_NIC_ATTRIBUTES limits_of(VIP_NIC_HANDLE nic) {
    VIP_NIC_ATTRIBUTES limits{};
    EXPECT_EQ(VipQueryNic(nic, &limits), VIP_SUCCESS);
    return limits;
}

/// What programs of the time need (facts 8).
TEST(early_adopter_limits, are_high_enough) {
    alone([](environment& in) {
        setup s(in.memory);
        const VIP_NIC_ATTRIBUTES a = limits_of(s.nic);
        EXPECT_EQ(a.NicAddressLen, 6);
        EXPECT_GE(a.MaxDiscriminatorLen, 16);
        EXPECT_LE(4 + a.NicAddressLen + a.MaxDiscriminatorLen, 40);
        EXPECT_GE(a.MaxDescriptorsPerQueue, 512u);
        EXPECT_GE(a.MaxTransferSize, 65'472u);
        EXPECT_EQ(a.MaxSegmentsPerDesc, 252u);
        EXPECT_GE(a.MaxVI, 1024u);
        EXPECT_GE(a.MaxCQ, 64u);
        EXPECT_GE(a.MaxCQEntries, 1024u);
        EXPECT_GE(a.MaxPtags, a.MaxVI);
        EXPECT_EQ(a.ThreadSafe, VIP_TRUE);
        EXPECT_EQ(a.ReliabilityLevelSupport, VIP_BASE_SERVICES);
        EXPECT_EQ(a.RDMAReadSupport & ~VIP_BASE_SERVICES, 0);
        EXPECT_NE(a.Name[0], 0);
        EXPECT_GT(a.NativeMTU, 0u);
    });
}

// The limit is one of all programs (VipQueryNic has no field for it).
TEST(early_adopter_limits, of_open_nics) {
    alone([](environment&) {
        VIP_NIC_HANDLE nic = nullptr;
        std::vector<VIP_NIC_HANDLE> open;
        VIP_RETURN code{};
        while ((code = VipOpenNic("VINIC", &nic)) == VIP_SUCCESS && open.size() < 100'000)
            open.push_back(nic);
        EXPECT_EQ(code, VIP_ERROR_RESOURCE);
        ASSERT_FALSE(open.empty());
        EXPECT_EQ(VipCloseNic(open.back()), VIP_SUCCESS);
        EXPECT_EQ(VipOpenNic("VINIC", &nic), VIP_SUCCESS);
    });
}

TEST(early_adopter_limits, of_processes_on_a_card) {
    constexpr unsigned more_than_enough = 40;
    machines m(1);
    unsigned refused = 0;
    unsigned opened = 0;
    for (unsigned i = 0; i != more_than_enough; ++i)
        m.program(0, [&](environment& in) {
            VIP_NIC_HANDLE nic = nullptr;
            const VIP_RETURN code = VipOpenNic("VINIC", &nic);
            EXPECT_TRUE(code == VIP_SUCCESS || code == VIP_ERROR_RESOURCE);
            ++(code == VIP_SUCCESS ? opened : refused);
            in.until([&] { return opened + refused == more_than_enough; });
        });
    m.run();
    EXPECT_GE(opened, 8u);
    EXPECT_GE(refused, 1u);
}

TEST(functional_limits, of_protection_tags) {
    alone([](environment& in) {
        setup s(in.memory);  // has one
        VIP_PROTECTION_HANDLE tag = nullptr;
        for (VIP_ULONG i = 1; i < limits_of(s.nic).MaxPtags; ++i)
            ASSERT_EQ(VipCreatePtag(s.nic, &tag), VIP_SUCCESS) << i;
        VIP_PROTECTION_HANDLE none = nullptr;
        EXPECT_EQ(VipCreatePtag(s.nic, &none), VIP_ERROR_RESOURCE);
        EXPECT_EQ(VipDestroyPtag(s.nic, tag), VIP_SUCCESS);
        EXPECT_EQ(VipCreatePtag(s.nic, &tag), VIP_SUCCESS);
    });
}

TEST(early_adopter_limits, of_regions) {
    alone([](environment& in) {
        setup s(in.memory);  // has one
        VIP_MEM_ATTRIBUTES a{.Ptag = s.tag, .EnableRdmaWrite = VIP_FALSE, .EnableRdmaRead = VIP_FALSE};
        VIP_MEM_HANDLE handle = 0;
        for (VIP_ULONG i = 1; i < limits_of(s.nic).MaxRegisterRegions; ++i) {
            ASSERT_EQ(VipRegisterMem(s.nic, s.memory, 8, &a, &handle), VIP_SUCCESS) << i;
            ASSERT_TRUE(handle != 0 && handle != 0xFFFFFFFF);
        }
        VIP_MEM_HANDLE none = 0;
        EXPECT_EQ(VipRegisterMem(s.nic, s.memory, 8, &a, &none), VIP_ERROR_RESOURCE);
        EXPECT_EQ(VipDeregisterMem(s.nic, s.memory, handle), VIP_SUCCESS);
        EXPECT_EQ(VipRegisterMem(s.nic, s.memory, 8, &a, &handle), VIP_SUCCESS);
    });
}

TEST(early_adopter_limits, of_registered_bytes) {
    alone([](environment& in) {
        VIP_NIC_HANDLE nic = nullptr;
        VIP_PROTECTION_HANDLE tag = nullptr;
        ASSERT_EQ(VipOpenNic("VINIC", &nic), VIP_SUCCESS);
        ASSERT_EQ(VipCreatePtag(nic, &tag), VIP_SUCCESS);
        const VIP_NIC_ATTRIBUTES limits = limits_of(nic);
        const VIP_ULONG block = limits.MaxRegisterBlockBytes;
        ASSERT_EQ(limits.MaxRegisterBytes % 4096, 0u);
        void* const memory = in.memory.allocate(block + 4096, 4096);
        ASSERT_NE(memory, nullptr);
        VIP_MEM_ATTRIBUTES a{.Ptag = tag, .EnableRdmaWrite = VIP_FALSE, .EnableRdmaRead = VIP_FALSE};
        VIP_MEM_HANDLE handle = 0;
        EXPECT_EQ(VipRegisterMem(nic, memory, block + 1, &a, &handle), VIP_ERROR_RESOURCE);
        for (VIP_ULONG left = limits.MaxRegisterBytes; left != 0;) {
            const VIP_ULONG bytes = std::min(left, block);
            ASSERT_EQ(VipRegisterMem(nic, memory, bytes, &a, &handle), VIP_SUCCESS) << left;
            left -= bytes;
        }
        VIP_MEM_HANDLE none = 0;
        EXPECT_EQ(VipRegisterMem(nic, memory, 1, &a, &none), VIP_ERROR_RESOURCE);
        EXPECT_EQ(VipDeregisterMem(nic, memory, handle), VIP_SUCCESS);
        EXPECT_EQ(VipRegisterMem(nic, memory, 1, &a, &handle), VIP_SUCCESS);
    });
}

TEST(early_adopter_limits, of_vis) {
    alone([](environment& in) {
        setup s(in.memory);
        VIP_VI_HANDLE vi = nullptr;
        for (VIP_ULONG i = 0; i < limits_of(s.nic).MaxVI; ++i) ASSERT_NE(vi = s.vi(), nullptr) << i;
        VIP_VI_ATTRIBUTES a = s.attributes();
        VIP_VI_HANDLE none = nullptr;
        EXPECT_EQ(VipCreateVi(s.nic, &a, nullptr, nullptr, &none), VIP_ERROR_RESOURCE);
        EXPECT_EQ(none, nullptr);
        EXPECT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
        EXPECT_EQ(VipCreateVi(s.nic, &a, nullptr, nullptr, &vi), VIP_SUCCESS);
    });
}

TEST(early_adopter_limits, of_completion_queues) {
    alone([](environment& in) {
        setup s(in.memory);
        const VIP_NIC_ATTRIBUTES limits = limits_of(s.nic);
        VIP_CQ_HANDLE cq = nullptr;
        EXPECT_EQ(VipCreateCQ(s.nic, limits.MaxCQEntries + 1, &cq), VIP_ERROR_RESOURCE);
        EXPECT_EQ(VipCreateCQ(s.nic, limits.MaxCQEntries, &cq), VIP_SUCCESS);
        for (VIP_ULONG i = 1; i < limits.MaxCQ; ++i) ASSERT_EQ(VipCreateCQ(s.nic, 4, &cq), VIP_SUCCESS) << i;
        VIP_CQ_HANDLE none = nullptr;
        EXPECT_EQ(VipCreateCQ(s.nic, 4, &none), VIP_ERROR_RESOURCE);
        EXPECT_EQ(VipDestroyCQ(cq), VIP_SUCCESS);
        EXPECT_EQ(VipCreateCQ(s.nic, 4, &cq), VIP_SUCCESS);
    });
}

TEST(functional_limits, of_a_resized_completion_queue) {
    alone([](environment& in) {
        setup s(in.memory);
        const VIP_NIC_ATTRIBUTES limits = limits_of(s.nic);
        VIP_CQ_HANDLE cq = nullptr;
        ASSERT_EQ(VipCreateCQ(s.nic, 1, &cq), VIP_SUCCESS);
        EXPECT_EQ(VipResizeCQ(cq, limits.MaxCQEntries + 1), VIP_ERROR_RESOURCE);
        EXPECT_EQ(VipResizeCQ(cq, limits.MaxCQEntries), VIP_SUCCESS);
    });
}

TEST(early_adopter_limits, of_descriptors_on_a_queue) {
    alone([](environment& in) {
        side s(in, VIP_SERVICE_UNRELIABLE);
        const VIP_ULONG limit = limits_of(s.s.nic).MaxDescriptorsPerQueue;
        VIP_DESCRIPTOR* const d = s.with(0, s.s.buffer(0), 8);
        for (VIP_ULONG i = 0; i < limit; ++i) ASSERT_EQ(VipPostRecv(s.vi, d, s.s.handle), VIP_SUCCESS) << i;
        EXPECT_EQ(VipPostRecv(s.vi, d, s.s.handle), VIP_ERROR_RESOURCE);
        s.pause();
        EXPECT_EQ(s.codes(), std::vector{VIP_ERROR_VI_OVERRUN});
    });
}

TEST(early_adopter_limits, of_bytes_in_a_transfer) {
    alone([](environment& in) {
        setup s(in.memory);
        VIP_VI_ATTRIBUTES a = s.attributes();
        VIP_VI_HANDLE vi = nullptr;
        a.MaxTransferSize = limits_of(s.nic).MaxTransferSize + 1;
        EXPECT_EQ(VipCreateVi(s.nic, &a, nullptr, nullptr, &vi), VIP_INVALID_MTU);
        a.MaxTransferSize -= 1;
        EXPECT_EQ(VipCreateVi(s.nic, &a, nullptr, nullptr, &vi), VIP_SUCCESS);
    });
}

TEST(early_adopter_limits, of_a_discriminator) {
    alone([](environment& in) {
        setup s(in.memory);
        const VIP_VI_HANDLE vi = s.vi();
        const std::string longest(limits_of(s.nic).MaxDiscriminatorLen, 'd');
        VIP_VI_ATTRIBUTES theirs;
        address good(node0, longest);
        address bad(node0, longest + 'd');
        address remote;
        VIP_CONN_HANDLE connection = nullptr;
        EXPECT_EQ(VipConnectRequest(vi, good, good, 100, &theirs), VIP_NO_MATCH);
        EXPECT_EQ(VipConnectRequest(vi, bad, good, 100, &theirs), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectRequest(vi, good, bad, 100, &theirs), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectPeerRequest(vi, bad, good, 100), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectWait(s.nic, bad, 1, remote, &theirs, &connection), VIP_INVALID_PARAMETER);
        EXPECT_EQ(VipConnectWait(s.nic, good, 1, remote, &theirs, &connection), VIP_TIMEOUT);
    });
}

// Attributes that VipCreateVi and VipSetViAttributes refuse (facts 4.3).
TEST(early_adopter_limits, of_vi_attributes) {
    alone([](environment& in) {
        setup s(in.memory);
        const VIP_VI_HANDLE good = s.vi();
        const auto expect = [&](VIP_RETURN code, const std::function<void(VIP_VI_ATTRIBUTES&)>& change) {
            VIP_VI_ATTRIBUTES a = s.attributes();
            change(a);
            VIP_VI_HANDLE vi = nullptr;
            EXPECT_EQ(VipCreateVi(s.nic, &a, nullptr, nullptr, &vi), code);
            EXPECT_EQ(VipSetViAttributes(good, &a), code);
        };
        for (const VIP_RELIABILITY_LEVEL none : {0, 3, 5, 6, 7, 8, 0x4000, 0x8000})
            expect(VIP_INVALID_RELIABILITY_LEVEL, [none](auto& a) { a.ReliabilityLevel = none; });
        expect(VIP_INVALID_MTU, [](auto& a) { a.MaxTransferSize = 0; });
        expect(VIP_INVALID_MTU, [](auto& a) { a.MaxTransferSize = ~VIP_ULONG{0}; });
        expect(VIP_INVALID_MTU, [](auto& a) { a.MaxTransferSize = (VIP_ULONG{1} << 32) + 4096; });
        expect(VIP_INVALID_QOS, [](auto& a) { a.QoS = &a; });
        expect(VIP_INVALID_PTAG, [](auto& a) { a.Ptag = nullptr; });
        expect(VIP_INVALID_PTAG, [&](auto& a) { a.Ptag = good; });
        expect(VIP_INVALID_RDMAREAD, [](auto& a) { a.EnableRdmaRead = VIP_TRUE; });
    });
}

// Facts 4.2.
TEST(functional_limits, of_memory_attributes_and_objects_in_use) {
    alone([](environment& in) {
        setup s(in.memory);
        VIP_MEM_ATTRIBUTES a{.Ptag = nullptr, .EnableRdmaWrite = VIP_FALSE, .EnableRdmaRead = VIP_FALSE};
        VIP_MEM_HANDLE handle = 0;
        EXPECT_EQ(VipRegisterMem(s.nic, s.memory, 8, &a, &handle), VIP_INVALID_PTAG);
        EXPECT_EQ(VipSetMemAttributes(s.nic, s.memory, s.handle, &a), VIP_INVALID_PTAG);
        a = {.Ptag = s.tag, .EnableRdmaWrite = VIP_FALSE, .EnableRdmaRead = VIP_TRUE};
        EXPECT_EQ(VipRegisterMem(s.nic, s.memory, 8, &a, &handle), VIP_INVALID_RDMAREAD);
        EXPECT_EQ(VipSetMemAttributes(s.nic, s.memory, s.handle, &a), VIP_INVALID_RDMAREAD);

        VIP_PROTECTION_HANDLE tag = nullptr;
        ASSERT_EQ(VipCreatePtag(s.nic, &tag), VIP_SUCCESS);
        a = {.Ptag = tag, .EnableRdmaWrite = VIP_TRUE, .EnableRdmaRead = VIP_FALSE};
        ASSERT_EQ(VipRegisterMem(s.nic, s.memory + 3, 5, &a, &handle), VIP_SUCCESS);
        EXPECT_EQ(VipDestroyPtag(s.nic, tag), VIP_ERROR_RESOURCE);
        VIP_MEM_ATTRIBUTES got{};
        EXPECT_EQ(VipQueryMem(s.nic, s.memory + 3, handle, &got), VIP_SUCCESS);
        EXPECT_EQ(got.Ptag, tag);
        EXPECT_EQ(got.EnableRdmaWrite, VIP_TRUE);
        EXPECT_EQ(got.EnableRdmaRead, VIP_FALSE);
        EXPECT_EQ(VipDeregisterMem(s.nic, s.memory + 3, handle), VIP_SUCCESS);
        EXPECT_EQ(VipDeregisterMem(s.nic, s.memory + 3, handle), VIP_INVALID_PARAMETER);

        VIP_VI_ATTRIBUTES of_vi = s.attributes();
        of_vi.Ptag = tag;
        VIP_VI_HANDLE vi = nullptr;
        ASSERT_EQ(VipCreateVi(s.nic, &of_vi, nullptr, nullptr, &vi), VIP_SUCCESS);
        EXPECT_EQ(VipDestroyPtag(s.nic, tag), VIP_ERROR_RESOURCE);
        EXPECT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
        EXPECT_EQ(VipDestroyPtag(s.nic, tag), VIP_SUCCESS);
        EXPECT_EQ(VipDestroyPtag(s.nic, tag), VIP_INVALID_PARAMETER);
    });
}

}  // namespace
}  // namespace vinic::vipl::test
