// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the functions of vipl.h have in common. Internal to vipl/.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "firmware/abi/connection_packet.h"
#include "host_driver/status.h"
#include "host_driver/types.h"
#include "hw/sim/duration.h"
#include "hw/sim/time.h"
#include "vipl/program.h"
#include "vipl/vipl.h"

namespace vinic::vipl {

constexpr VIP_RETURN to_return(driver::status s) { return static_cast<VIP_RETURN>(s); }

/// Time-outs are milliseconds of simulated time (facts vipl.md 7); from VIP_INFINITE on there is none.
inline sim::picoseconds deadline_after(VIP_ULONG timeout_ms) {
    return timeout_ms >= VIP_INFINITE ? sim::never : sim::now() + timeout_ms * sim::millisecond;
}

/// A call that comes to nothing costs its checks.
inline VIP_RETURN refuse(thread& t, VIP_RETURN code) {
    t.self.compute(t.of.lib.call_clocks);
    return code;
}

/// A system call: the library's part and the kernel's.
template <typename F>
auto system_call(thread& t, F&& in_kernel) {
    t.self.compute(t.of.lib.call_clocks);
    return t.self.trap(std::forward<F>(in_kernel));
}

/// The kernel's tag behind a handle; one that cannot exist for a handle that names none, zero for null.
inline driver::protection_tag kernel_tag(const program& p, const nic_object& nic, VIP_PROTECTION_HANDLE tag) {
    if (tag == nullptr) return 0;
    const auto found = p.tags.find(tag);
    return found && found->nic->agent == nic.agent ? found->kernel : ~driver::protection_tag{0};
}

inline driver::vi_attributes to_kernel(const program& p, const nic_object& nic, const VIP_VI_ATTRIBUTES& a) {
    return {.reliability = a.ReliabilityLevel,
            .max_transfer_bytes = a.MaxTransferSize,
            .quality_of_service = reinterpret_cast<std::uintptr_t>(a.QoS),
            .tag = kernel_tag(p, nic, a.Ptag),
            .rdma_write = a.EnableRdmaWrite != VIP_FALSE,
            .rdma_read = a.EnableRdmaRead != VIP_FALSE};
}

inline VIP_VI_ATTRIBUTES to_program(const driver::vi_attributes& a, VIP_PROTECTION_HANDLE tag) {
    return {.ReliabilityLevel = a.reliability,
            .MaxTransferSize = a.max_transfer_bytes,
            .QoS = nullptr,
            .Ptag = tag,
            .EnableRdmaWrite = a.rdma_write ? VIP_TRUE : VIP_FALSE,
            .EnableRdmaRead = a.rdma_read ? VIP_TRUE : VIP_FALSE};
}

/// Nothing when the lengths make no address (facts vipl.md 2, 8).
inline std::optional<driver::net_address> to_kernel(const VIP_NET_ADDRESS& a) {
    driver::net_address address;
    if (a.HostAddressLen != address.host.size() || a.DiscriminatorLen > abi::discriminator_bytes_max)
        return std::nullopt;
    const std::uint8_t* bytes =
        reinterpret_cast<const std::uint8_t*>(&a) + offsetof(VIP_NET_ADDRESS, HostAddress);
    std::memcpy(address.host.data(), bytes, address.host.size());
    address.discriminator.assign(bytes + a.HostAddressLen, bytes + a.HostAddressLen + a.DiscriminatorLen);
    return address;
}

/// Writes host address and discriminator and nothing behind them.
inline void to_program(const driver::net_address& from, VIP_NET_ADDRESS* to) {
    to->HostAddressLen = static_cast<VIP_UINT16>(from.host.size());
    to->DiscriminatorLen = static_cast<VIP_UINT16>(from.discriminator.size());
    std::uint8_t* bytes = reinterpret_cast<std::uint8_t*>(to) + offsetof(VIP_NET_ADDRESS, HostAddress);
    std::memcpy(bytes, from.host.data(), from.host.size());
    std::copy(from.discriminator.begin(), from.discriminator.end(), bytes + from.host.size());
}

/// Takes the head, which is done, off a work queue and gives the descriptor back to the program.
VIP_RETURN take_descriptor(thread& t, vi_object& vi, bool receive, VIP_DESCRIPTOR** descriptor);

/// Takes the next entry whose VI still exists off a completion queue; false when there is none.
bool take_entry(program& p, queue_object& queue, VIP_VI_HANDLE* vi, VIP_BOOLEAN* receive);

/// Polls for a while, then arms the card and blocks in the kernel, until `ready` or the deadline. `point`
/// says where to look, `arm` asks for an event, `block` waits in the kernel until `ready` may be true (false:
/// the deadline came).
template <typename Ready, typename Point, typename Arm, typename Block>
bool wait_until(thread& t, sim::picoseconds deadline, Ready ready, Point point, Arm arm, Block block) {
    const library& lib = t.of.lib;
    const sim::picoseconds poll_end = std::min(deadline, sim::now() + lib.wait_poll_us * sim::microsecond);
    const auto look = [&] {
        host::poll_point where = point();
        where.cost = lib.poll_clocks;
        where.deadline = poll_end;
        return t.self.poll(where, [&] { return ready() || sim::now() >= poll_end; });
    };
    while (!look()) {
    }
    while (!ready()) {
        if (sim::now() >= deadline) return false;
        arm();
        t.of.lib.blocking_waits.add();
        if (!t.self.trap(block)) return ready();
    }
    return true;
}

}  // namespace vinic::vipl
