// SPDX-License-Identifier: Apache-2.0
#include "testbench/workloads/echo.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "hw/host/address_space.h"
#include "hw/host/process.h"
#include "hw/sim/error.h"
#include "testbench/platform/measurement.h"
#include "testbench/report/results.h"
#include "testbench/workloads/arguments.h"
#include "vipl/vipl.h"

namespace vinic::testbench {

namespace {

void expect_success(VIP_RETURN status, const char* what) {
    if (status != VIP_SUCCESS) throw sim::input_error("echo: {} returned {}", what, static_cast<int>(status));
}

/// A network address with room for host and discriminator.
class address {
public:
    static constexpr std::array<std::uint8_t, 4> port{'e', 'c', 'h', 'o'};

    VIP_NET_ADDRESS* get() { return &room_.head; }
    void set_host(const VIP_UINT8* host, VIP_UINT16 bytes) {
        room_.head.HostAddressLen = bytes;
        std::memcpy(room_.bytes.data() + offsetof(VIP_NET_ADDRESS, HostAddress), host, bytes);
    }
    /// Behind the host's address.
    void set_port() {
        room_.head.DiscriminatorLen = port.size();
        std::memcpy(room_.bytes.data() + offsetof(VIP_NET_ADDRESS, HostAddress) + room_.head.HostAddressLen,
                    port.data(), port.size());
    }

private:
    union {
        VIP_NET_ADDRESS head;
        std::array<std::uint8_t, 64> bytes{};
    } room_;
};

/// One end of the conversation: a VI with one send and two receive descriptors, each with its buffer.
class peer {
public:
    peer(process_environment& in, std::uint64_t size) : size_(static_cast<VIP_UINT32>(size)) {
        expect_success(VipOpenNic("VINIC", &nic_), "VipOpenNic");
        expect_success(VipNSInit(nic_, nullptr), "VipNSInit");
        expect_success(VipQueryNic(nic_, &nic_attributes_), "VipQueryNic");
        VIP_PROTECTION_HANDLE tag{};
        expect_success(VipCreatePtag(nic_, &tag), "VipCreatePtag");
        VIP_VI_ATTRIBUTES attributes{};
        attributes.ReliabilityLevel = VIP_SERVICE_UNRELIABLE;
        attributes.MaxTransferSize = nic_attributes_.MaxTransferSize;
        attributes.Ptag = tag;
        expect_success(VipCreateVi(nic_, &attributes, nullptr, nullptr, &vi_), "VipCreateVi");

        const std::uint64_t buffer_bytes = (size + 63) / 64 * 64;
        const std::uint64_t bytes = descriptors * (sizeof(VIP_DESCRIPTOR) + buffer_bytes);
        auto* memory = static_cast<std::byte*>(in.memory.allocate(bytes, VIP_DESCRIPTOR_ALIGNMENT));
        if (!memory) throw sim::input_error("echo: no room for {} bytes", bytes);
        VIP_MEM_ATTRIBUTES memory_attributes{};
        memory_attributes.Ptag = tag;
        expect_success(VipRegisterMem(nic_, memory, bytes, &memory_attributes, &handle_), "VipRegisterMem");
        for (std::size_t i = 0; i < descriptors; ++i) {
            descriptor_[i] = reinterpret_cast<VIP_DESCRIPTOR*>(memory) + i;
            descriptor_[i]->CS.SegCount = size ? 1 : 0;
            descriptor_[i]->CS.Length = size_;
            descriptor_[i]->DS[0].Local.Data.Address =
                memory + descriptors * sizeof(VIP_DESCRIPTOR) + i * buffer_bytes;
            descriptor_[i]->DS[0].Local.Handle = handle_;
            descriptor_[i]->DS[0].Local.Length = size_;
        }
        for (std::size_t i = 1; i < descriptors; ++i) post_receive(descriptor_[i]);
    }

    void listen() {
        address local = own_address();
        address remote;
        VIP_VI_ATTRIBUTES attributes{};
        VIP_CONN_HANDLE connection{};
        expect_success(
            VipConnectWait(nic_, local.get(), VIP_INFINITE, remote.get(), &attributes, &connection),
            "VipConnectWait");
        expect_success(VipConnectAccept(connection, vi_), "VipConnectAccept");
    }

    void call(host::process& self, const char* host_name) {
        address local = own_address();
        address remote;
        std::array<char, 16> name{};
        std::strncpy(name.data(), host_name, name.size() - 1);
        expect_success(VipNSGetHostByName(nic_, name.data(), remote.get(), 0), "VipNSGetHostByName");
        remote.set_port();
        VIP_VI_ATTRIBUTES attributes{};
        VIP_RETURN status{};
        // Nobody listens yet: again after a while.
        while ((status = VipConnectRequest(vi_, local.get(), remote.get(), VIP_INFINITE, &attributes)) ==
               VIP_NO_MATCH)
            self.sleep_for(20'000'000);
        expect_success(status, "VipConnectRequest");
    }

    void post_receive(VIP_DESCRIPTOR* which) {
        which->CS.Length = size_;
        expect_success(VipPostRecv(vi_, which, handle_), "VipPostRecv");
    }
    void post_send() { expect_success(VipPostSend(vi_, descriptor_[0], handle_), "VipPostSend"); }
    void finish_send() {
        VIP_DESCRIPTOR* done{};
        VIP_RETURN status{};
        while ((status = VipSendDone(vi_, &done)) == VIP_NOT_DONE) {
        }
        expect_success(status, "VipSendDone");
    }
    VIP_DESCRIPTOR* receive() {
        VIP_DESCRIPTOR* done{};
        VIP_RETURN status{};
        while ((status = VipRecvDone(vi_, &done)) == VIP_NOT_DONE) {
        }
        expect_success(status, "VipRecvDone");
        return done;
    }

private:
    static constexpr std::size_t descriptors = 3;  // the first one sends

    address own_address() const {
        address own;
        own.set_host(nic_attributes_.LocalNicAddress, nic_attributes_.NicAddressLen);
        own.set_port();
        return own;
    }

    VIP_UINT32 size_;
    VIP_NIC_HANDLE nic_{};
    VIP_NIC_ATTRIBUTES nic_attributes_{};
    VIP_VI_HANDLE vi_{};
    VIP_MEM_HANDLE handle_{};
    std::array<VIP_DESCRIPTOR*, descriptors> descriptor_{};
};

/// Sends; another descriptor waits for the answer, so that of the message before goes back when the send is
/// done.
void send(peer& self, VIP_DESCRIPTOR* received) {
    self.post_send();
    self.finish_send();
    if (received) self.post_receive(received);
}

}  // namespace

echo::echo(const workload_options& options)
    : size_bytes_(declare_number(
          arguments_, options,
          {.name = "size", .value = {}, .default_text = "8", .unit = "bytes", .help = "Message size"}, 0,
          65'536)),
      count_(declare_number(
          arguments_, options,
          {.name = "count", .value = {}, .default_text = "100", .unit = "", .help = "Measured round trips"},
          1, 1'000'000)),
      warmup_(declare_number(arguments_, options,
                             {.name = "warmup",
                              .value = {},
                              .default_text = "10",
                              .unit = "",
                              .help = "Round trips before those"},
                             0, 1'000'000)) {
    check_argument_names("echo", options, arguments_);
    if (options.nodes < 2) throw sim::input_error("echo needs two nodes");
}

std::vector<workload_process> echo::processes() {
    const auto client = [this](process_environment& in) {
        peer self(in, size_bytes_);
        self.call(in.self, "node1");
        VIP_DESCRIPTOR* received = nullptr;
        sim::picoseconds start = 0;
        for (std::uint64_t i = 0; i < warmup_ + count_; ++i) {
            if (i == warmup_) {
                start = in.self.now();
                in.measured.begin();
            }
            send(self, received);
            received = self.receive();
        }
        const sim::picoseconds end = in.self.now();
        in.measured.end();
        const double latency_us = static_cast<double>(end - start) / static_cast<double>(2 * count_) / 1e6;
        in.report.add_row(end, in.index, {{"size_bytes", size_bytes_}, {"latency_us", latency_us}});
    };
    const auto server = [this](process_environment& in) {
        peer self(in, size_bytes_);
        self.listen();
        for (std::uint64_t i = 0; i < warmup_ + count_; ++i) send(self, self.receive());
    };
    return {{0, "client", client}, {1, "server", server}};
}

}  // namespace vinic::testbench
