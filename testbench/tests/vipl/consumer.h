// SPDX-License-Identifier: Apache-2.0
#pragma once

// What programs of the time do first, whatever card they run on.

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "host_driver/types.h"
#include "hw/host/address_space.h"
#include "hw/host/process.h"
#include "vipl/vipl.h"

namespace vinic::vipl::test {

/// A network address with room for its discriminator.
struct address {
    address() { clear({}); }
    explicit address(const driver::node_address& host, const std::string& discriminator = "") {
        clear(host);
        bytes.u16[1] = static_cast<VIP_UINT16>(discriminator.size());
        std::memcpy(bytes.raw + 10, discriminator.data(), discriminator.size());
    }
    operator VIP_NET_ADDRESS*() { return &bytes.net; }
    std::string discriminator() const {
        return {reinterpret_cast<const char*>(bytes.raw + 10), bytes.u16[1]};
    }
    driver::node_address host() const {
        driver::node_address h;
        std::memcpy(h.data(), bytes.raw + 4, h.size());
        return h;
    }

private:
    void clear(const driver::node_address& host) {
        std::memset(bytes.raw, 0, sizeof bytes.raw);
        bytes.u16[0] = 6;
        std::memcpy(bytes.raw + 4, host.data(), host.size());
    }
    union {
        VIP_NET_ADDRESS net;
        VIP_UINT16 u16[2];
        VIP_UINT8 raw[64];
    } bytes;
};

/// What a program of the time sets up first: the NIC, a tag, registered memory with descriptors and buffers.
struct setup {
    static constexpr unsigned descriptors = 32;
    static constexpr VIP_ULONG buffer_bytes = 4096;

    explicit setup(host::address_space& space, const char* device = "VINIC") {
        EXPECT_EQ(VipOpenNic(device, &nic), VIP_SUCCESS);
        EXPECT_EQ(VipCreatePtag(nic, &tag), VIP_SUCCESS);
        memory = static_cast<std::byte*>(space.allocate(bytes(), 4096));
        VIP_MEM_ATTRIBUTES a{.Ptag = tag, .EnableRdmaWrite = VIP_FALSE, .EnableRdmaRead = VIP_FALSE};
        EXPECT_EQ(VipRegisterMem(nic, memory, bytes(), &a, &handle), VIP_SUCCESS);
    }

    static constexpr VIP_ULONG bytes() { return descriptors * sizeof(VIP_DESCRIPTOR) + 2 * buffer_bytes; }
    VIP_DESCRIPTOR* descriptor(unsigned n) { return reinterpret_cast<VIP_DESCRIPTOR*>(memory) + n; }
    std::byte* buffer(unsigned n) { return memory + descriptors * sizeof(VIP_DESCRIPTOR) + n * buffer_bytes; }
    /// Descriptor n with one segment.
    VIP_DESCRIPTOR* with(unsigned n, void* data, VIP_UINT32 length) {
        VIP_DESCRIPTOR* d = descriptor(n);
        std::memset(static_cast<void*>(d), 0, sizeof *d);
        d->CS.SegCount = 1;
        d->CS.Length = length;
        d->DS[0].Local.Data.Address = data;
        d->DS[0].Local.Handle = handle;
        d->DS[0].Local.Length = length;
        return d;
    }
    VIP_VI_ATTRIBUTES attributes(VIP_RELIABILITY_LEVEL level = VIP_SERVICE_RELIABLE_DELIVERY) const {
        return {.ReliabilityLevel = level,
                .MaxTransferSize = 32768,
                .QoS = nullptr,
                .Ptag = tag,
                .EnableRdmaWrite = VIP_FALSE,
                .EnableRdmaRead = VIP_FALSE};
    }
    VIP_VI_HANDLE vi(VIP_CQ_HANDLE send = nullptr, VIP_CQ_HANDLE receive = nullptr) {
        VIP_VI_ATTRIBUTES a = attributes();
        VIP_VI_HANDLE made = nullptr;
        EXPECT_EQ(VipCreateVi(nic, &a, send, receive, &made), VIP_SUCCESS);
        return made;
    }

    VIP_NIC_HANDLE nic = nullptr;
    VIP_PROTECTION_HANDLE tag = nullptr;
    std::byte* memory = nullptr;
    VIP_MEM_HANDLE handle = 0;
};

inline VIP_VI_STATE state_of(VIP_VI_HANDLE vi) {
    VIP_VI_STATE state{};
    VIP_VI_ATTRIBUTES attributes;
    VIP_BOOLEAN send_empty = 0;
    VIP_BOOLEAN receive_empty = 0;
    EXPECT_EQ(VipQueryVi(vi, &state, &attributes, &send_empty, &receive_empty), VIP_SUCCESS);
    return state;
}

/// As programs do: asks again while nobody waits there (facts vipl.md 4.4, NO_MATCH).
inline VIP_RETURN connect(host::process& self, VIP_VI_HANDLE vi, VIP_NET_ADDRESS* local,
                          VIP_NET_ADDRESS* remote, VIP_VI_ATTRIBUTES* remote_attributes,
                          VIP_ULONG timeout = 1000) {
    for (;;) {
        const VIP_RETURN result = VipConnectRequest(vi, local, remote, timeout, remote_attributes);
        if (result != VIP_NO_MATCH) return result;
        self.sleep_for(100'000'000);
    }
}

inline VIP_RETURN serve(VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_NET_ADDRESS* local) {
    address remote;
    VIP_VI_ATTRIBUTES attributes;
    VIP_CONN_HANDLE connection = nullptr;
    const VIP_RETURN waited = VipConnectWait(nic, local, VIP_INFINITE, remote, &attributes, &connection);
    return waited == VIP_SUCCESS ? VipConnectAccept(connection, vi) : waited;
}

inline const driver::node_address node0 = driver::make_node_address(0, 0);
inline const driver::node_address node1 = driver::make_node_address(1, 0);

}  // namespace vinic::vipl::test
