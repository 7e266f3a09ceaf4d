// SPDX-License-Identifier: Apache-2.0
#pragma once

// Two programs with a VI each, connected: what a test does on either side, and what came of it.

#include <memory>
#include <vector>

#include "testbench/tests/vipl/conformance/machines.h"

namespace vinic::vipl::test {

inline const std::vector<VIP_RELIABILITY_LEVEL> all_levels{
    VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY, VIP_SERVICE_RELIABLE_RECEPTION};
const char* level_name(VIP_RELIABILITY_LEVEL level);

/// An asynchronous error as a handler got it.
struct reported {
    VIP_ERROR_CODE code{};
    VIP_RESOURCE_CODE resource{};
    VIP_VI_HANDLE vi = nullptr;
    VIP_DESCRIPTOR* descriptor = nullptr;
};

/// A program with a VI, memory that may be written from afar, and a handler that keeps asynchronous errors.
struct side {
    static constexpr VIP_ULONG timeout_ms = 20;

    side(environment& in, VIP_RELIABILITY_LEVEL level, VIP_CQ_HANDLE send = nullptr,
         VIP_CQ_HANDLE receive = nullptr, const char* device = "VINIC");
    /// Another VI of the same program.
    VIP_VI_HANDLE another(VIP_CQ_HANDLE send = nullptr, VIP_CQ_HANDLE receive = nullptr);

    void listen(const std::string& discriminator = "pair");
    void call(unsigned node, const std::string& discriminator = "pair");

    /// Descriptor n of one segment; `at` is in the registered memory.
    VIP_DESCRIPTOR* with(unsigned n, const void* at, VIP_UINT32 length) {
        return s.with(n, const_cast<void*>(at), length);
    }
    /// Descriptor n: an RDMA write of `length` bytes at `from` to the peer's `to`.
    VIP_DESCRIPTOR* rdma_write(unsigned n, const void* from, VIP_UINT32 length, const void* to,
                               VIP_MEM_HANDLE handle);
    void post_receive(VIP_DESCRIPTOR* d) { EXPECT_EQ(VipPostRecv(vi, d, s.handle), VIP_SUCCESS); }
    void post_send(VIP_DESCRIPTOR* d) { EXPECT_EQ(VipPostSend(vi, d, s.handle), VIP_SUCCESS); }
    /// Waits for the next completion; its status, or 0 when none came in time, or the queue is empty.
    VIP_UINT32 sent();
    VIP_UINT32 received();
    VIP_VI_STATE state() const { return state_of(vi); }
    /// Of all asynchronous errors, after the moment that the program's handler needs.
    std::vector<VIP_ERROR_CODE> codes();
    /// Polls until the VI is in that state, for `timeout_ms` at most; the state it is in then.
    VIP_VI_STATE settles_in(VIP_VI_STATE wanted);
    void pause(sim::picoseconds span = 3 * ms) { in.self.sleep_for(span); }

    environment& in;
    setup s;
    VIP_RELIABILITY_LEVEL level;
    VIP_VI_ATTRIBUTES attributes{};
    VIP_VI_HANDLE vi = nullptr;
    VIP_DESCRIPTOR* last = nullptr;  ///< of the last completion
    std::vector<reported> errors;
};

/// What one side does. Both are alive until both have returned.
using part = std::function<void(side&)>;

/// Machine 0 has the source, machine 1 the target (both machine 0 when `loopback`).
struct scene {
    VIP_RELIABILITY_LEVEL level = VIP_SERVICE_RELIABLE_DELIVERY;
    part target_before = [](side&) {};  ///< before it is connected
    part target = [](side&) {};
    part source = [](side&) {};
    bool loopback = false;
    bool abandoned = false;  ///< the simulation ends with both parts; what programs leave open stays so
    settings values{};

    void play() const;
};

}  // namespace vinic::vipl::test
