// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "firmware/abi/vi_descriptor.h"
#include "testbench/tests/vipl/program.h"

namespace vinic::vipl::test {
namespace {

/// A server on machine 1 that runs `server` once connected, and a client on machine 0 likewise.
void connected(
    world& w, const std::function<void(host::process&, setup&, VIP_VI_HANDLE)>& client,
    const std::function<void(host::process&, setup&, VIP_VI_HANDLE)>& server,
    const std::function<void(setup&, VIP_VI_HANDLE)>& server_before = [](setup&, VIP_VI_HANDLE) {}) {
    w.program(1, [=](host::process& self, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        server_before(s, vi);
        address here(node1, "x");
        ASSERT_EQ(serve(s.nic, vi, here), VIP_SUCCESS);
        server(self, s, vi);
    });
    w.program(0, [=](host::process& self, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        address here(node0, "x");
        address there(node1, "x");
        VIP_VI_ATTRIBUTES remote;
        ASSERT_EQ(connect(self, vi, here, there, &remote), VIP_SUCCESS);
        EXPECT_EQ(remote.MaxTransferSize, 32768u);
        client(self, s, vi);
    });
    w.run();
}

VIP_DESCRIPTOR* poll(VIP_RETURN (*done)(VIP_VI_HANDLE, VIP_DESCRIPTOR**), VIP_VI_HANDLE vi) {
    VIP_DESCRIPTOR* d = nullptr;
    VIP_RETURN result = VIP_NOT_DONE;
    while ((result = done(vi, &d)) == VIP_NOT_DONE) {
    }
    EXPECT_EQ(result, VIP_SUCCESS);
    return d;
}

TEST(message, eight_bytes_arrive) {
    world w;
    connected(
        w,
        [](host::process&, setup& s, VIP_VI_HANDLE vi) {
            std::memcpy(s.buffer(0), "12345678", 8);
            VIP_DESCRIPTOR* d = s.with(0, s.buffer(0), 8);
            d->CS.Status = 0xFFFFFFFF;  // re-posted without clearing: facts vipl.md 3.7
            ASSERT_EQ(VipPostSend(vi, d, s.handle), VIP_SUCCESS);
            EXPECT_EQ(poll(VipSendDone, vi), d);
            EXPECT_EQ(d->CS.Status, unsigned{VIP_STATUS_DONE | VIP_STATUS_OP_SEND});
            EXPECT_EQ(d->CS.Length, 8u);
        },
        [](host::process&, setup& s, VIP_VI_HANDLE vi) {
            VIP_DESCRIPTOR* d = poll(VipRecvDone, vi);
            EXPECT_EQ(d, s.descriptor(0));
            EXPECT_EQ(d->CS.Length, 8u);  // not the 100 that were offered
            EXPECT_EQ(d->CS.Status, unsigned{VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE});
            EXPECT_EQ(std::memcmp(s.buffer(0), "12345678", 8), 0);
            EXPECT_EQ(s.buffer(0)[8], std::byte{0});
            VIP_DESCRIPTOR* none = d;
            EXPECT_EQ(VipRecvDone(vi, &none), VIP_DESCRIPTOR_ERROR);  // empty: facts vipl.md 4.6
            EXPECT_EQ(none, nullptr);
        },
        [](setup& s, VIP_VI_HANDLE vi) {
            EXPECT_EQ(VipPostRecv(vi, s.with(0, s.buffer(0), 100), s.handle), VIP_SUCCESS);
        });
}

TEST(message, immediate_data_travels_without_payload) {
    world w;
    connected(
        w,
        [](host::process&, setup& s, VIP_VI_HANDLE vi) {
            VIP_DESCRIPTOR* d = s.with(0, nullptr, 0);
            d->CS.SegCount = 0;
            d->CS.Control = VIP_CONTROL_IMMEDIATE;
            d->CS.ImmediateData = 0xCAFE0001;
            ASSERT_EQ(VipPostSend(vi, d, s.handle), VIP_SUCCESS);
            VIP_DESCRIPTOR* back = nullptr;
            EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &back), VIP_SUCCESS);
            EXPECT_EQ(back, d);
        },
        [](host::process&, setup&, VIP_VI_HANDLE vi) {
            VIP_DESCRIPTOR* d = poll(VipRecvDone, vi);
            EXPECT_EQ(d->CS.Status, unsigned{VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE | VIP_STATUS_IMMEDIATE});
            EXPECT_EQ(d->CS.ImmediateData, 0xCAFE0001u);
            EXPECT_EQ(d->CS.Length, 0u);
        },
        [](setup& s, VIP_VI_HANDLE vi) {
            EXPECT_EQ(VipPostRecv(vi, s.with(0, s.buffer(0), 16), s.handle), VIP_SUCCESS);
        });
}

// A wait that is longer than wait_poll_us goes to the kernel and is woken by the card's event.
TEST(message, wait_blocks_until_the_card_reports) {
    world w(2, settings{{"vipl1.wait_poll_us", "10"}});
    connected(
        w,
        [](host::process& self, setup& s, VIP_VI_HANDLE vi) {
            self.sleep_for(3'000'000'000);  // 3 ms
            ASSERT_EQ(VipPostSend(vi, s.with(0, s.buffer(0), 64), s.handle), VIP_SUCCESS);
        },
        [&w](host::process&, setup&, VIP_VI_HANDLE vi) {
            const sim::picoseconds before = sim::now();
            VIP_DESCRIPTOR* d = nullptr;
            EXPECT_EQ(VipRecvWait(vi, 1, &d), VIP_TIMEOUT);
            EXPECT_GE(sim::now(), before + 1'000'000'000);
            EXPECT_LT(sim::now(), before + 1'200'000'000);
            EXPECT_EQ(VipRecvWait(vi, VIP_INFINITE, &d), VIP_SUCCESS);
            EXPECT_EQ(d->CS.Length, 64u);
            EXPECT_GE(w.libraries[1]->blocking_waits.value(), 2u);
        },
        [](setup& s, VIP_VI_HANDLE vi) {
            EXPECT_EQ(VipPostRecv(vi, s.with(0, s.buffer(0), 64), s.handle), VIP_SUCCESS);
        });
}

TEST(message, receive_that_is_too_short_ends_in_length_error) {
    world w;
    connected(
        w,
        [](host::process&, setup& s, VIP_VI_HANDLE vi) {
            ASSERT_EQ(VipPostSend(vi, s.with(0, s.buffer(0), 65), s.handle), VIP_SUCCESS);
            poll(VipSendDone, vi);
        },
        [](host::process&, setup& s, VIP_VI_HANDLE vi) {
            VIP_DESCRIPTOR* d = nullptr;
            EXPECT_EQ(VipRecvWait(vi, VIP_INFINITE, &d), VIP_DESCRIPTOR_ERROR);
            EXPECT_EQ(d, s.descriptor(0));
            EXPECT_EQ(d->CS.Status & VIP_STATUS_ERROR_MASK, unsigned{VIP_STATUS_LENGTH_ERROR});
        },
        [](setup& s, VIP_VI_HANDLE vi) {
            EXPECT_EQ(VipPostRecv(vi, s.with(0, s.buffer(0), 64), s.handle), VIP_SUCCESS);
        });
}

TEST(message, disconnection_flushes_in_order_and_the_peer_hears_of_it) {
    world w;
    static std::vector<VIP_ERROR_CODE> heard;
    heard.clear();
    connected(
        w,
        [](host::process&, setup& s, VIP_VI_HANDLE vi) {
            for (unsigned i = 0; i < 3; ++i)
                ASSERT_EQ(VipPostRecv(vi, s.with(i, s.buffer(0), 8), s.handle), VIP_SUCCESS);
            EXPECT_EQ(VipDestroyVi(vi), VIP_INVALID_STATE);
            EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
            EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
            EXPECT_EQ(VipDestroyVi(vi), VIP_ERROR_RESOURCE);
            for (unsigned i = 0; i < 3; ++i) {
                VIP_DESCRIPTOR* d = nullptr;
                EXPECT_EQ(VipRecvWait(vi, VIP_INFINITE, &d), VIP_DESCRIPTOR_ERROR);
                EXPECT_EQ(d, s.descriptor(i));
                EXPECT_EQ(d->CS.Status & VIP_STATUS_ERROR_MASK, unsigned{VIP_STATUS_DESC_FLUSHED_ERROR});
            }
            EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);  // twice is harmless
            EXPECT_EQ(VipDestroyVi(vi), VIP_SUCCESS);
            EXPECT_EQ(VipDestroyVi(vi), VIP_INVALID_PARAMETER);
        },
        [](host::process&, setup& s, VIP_VI_HANDLE vi) {
            ASSERT_EQ(VipErrorCallback(s.nic, &heard,
                                       [](VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
                                           static_cast<std::vector<VIP_ERROR_CODE>*>(context)->push_back(
                                               error->ErrorCode);
                                           EXPECT_NE(error->ViHandle, nullptr);
                                           EXPECT_EQ(error->ResourceCode, VIP_RESOURCE_VI);
                                       }),
                      VIP_SUCCESS);
            VIP_DESCRIPTOR* d = nullptr;
            EXPECT_EQ(VipRecvWait(vi, VIP_INFINITE, &d), VIP_DESCRIPTOR_ERROR);
            EXPECT_EQ(d, s.descriptor(0));
            EXPECT_EQ(state_of(vi), VIP_STATE_ERROR);
            // Error state: completes flushed at once.
            ASSERT_EQ(VipPostSend(vi, s.with(1, s.buffer(0), 8), s.handle), VIP_SUCCESS);
            EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &d), VIP_DESCRIPTOR_ERROR);
            EXPECT_EQ(d->CS.Status & VIP_STATUS_ERROR_MASK, unsigned{VIP_STATUS_DESC_FLUSHED_ERROR});
            EXPECT_EQ(VipDisconnect(vi), VIP_SUCCESS);
            EXPECT_EQ(state_of(vi), VIP_STATE_IDLE);
        },
        [](setup& s, VIP_VI_HANDLE vi) {
            EXPECT_EQ(VipPostRecv(vi, s.with(0, s.buffer(0), 64), s.handle), VIP_SUCCESS);
        });
    EXPECT_EQ(heard, std::vector{VIP_ERROR_CONN_LOST});
}

// Facts vipl.md 6.2: T asynchronous RECVQ_EMPTY; on a reliable connection both sides end in error.
TEST(message, nothing_posted_at_the_receiver_breaks_a_reliable_connection) {
    world w;
    static std::vector<VIP_ERROR_CODE> heard;
    heard.clear();
    const auto record = [](setup& s) {
        VipErrorCallback(s.nic, nullptr,
                         [](VIP_PVOID, VIP_ERROR_DESCRIPTOR* e) { heard.push_back(e->ErrorCode); });
    };
    connected(
        w,
        [&](host::process& self, setup& s, VIP_VI_HANDLE vi) {
            record(s);
            ASSERT_EQ(VipPostSend(vi, s.with(0, s.buffer(0), 8), s.handle), VIP_SUCCESS);
            poll(VipSendDone, vi);
            self.sleep_for(1'000'000'000);
            EXPECT_EQ(state_of(vi), VIP_STATE_ERROR);
        },
        [&](host::process& self, setup& s, VIP_VI_HANDLE vi) {
            record(s);
            self.sleep_for(2'000'000'000);
            EXPECT_EQ(state_of(vi), VIP_STATE_ERROR);
        });
    EXPECT_EQ(heard, (std::vector{VIP_ERROR_RECVQ_EMPTY, VIP_ERROR_CONN_LOST}));
}

TEST(message, loopback_reaches_another_vi_of_the_same_card) {
    world w(1);
    w.program(0, [](host::process&, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        ASSERT_EQ(VipPostRecv(vi, s.with(0, s.buffer(0), 64), s.handle), VIP_SUCCESS);
        address here(node0, "server");
        ASSERT_EQ(serve(s.nic, vi, here), VIP_SUCCESS);
        EXPECT_EQ(poll(VipRecvDone, vi)->CS.Length, 5u);
    });
    w.program(0, [](host::process& self, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        address here(node0, "client");
        address there(node0, "server");
        VIP_VI_ATTRIBUTES remote;
        ASSERT_EQ(connect(self, vi, here, there, &remote), VIP_SUCCESS);
        ASSERT_EQ(VipPostSend(vi, s.with(0, s.buffer(0), 5), s.handle), VIP_SUCCESS);
        poll(VipSendDone, vi);
        self.sleep_for(1'000'000'000);
    });
    w.run();
}

/// What the account of a message is made from.
struct call_listener : sim::listener {
    struct call {
        std::string what;
        std::uint64_t slot;
        std::uint64_t bytes;
    };
    std::vector<call> calls;
    sim::picoseconds last = 0;

    void on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end, std::string_view what,
                 std::span<const sim::field> fields) override {
        EXPECT_LE(last, begin);
        EXPECT_LT(begin, end);
        last = end;
        calls.push_back({std::string(what), fields[2].value, fields[3].value});
    }
};

TEST(post, calls_are_seen_with_the_slot_of_their_descriptor) {
    world w(1);
    call_listener seen;
    w.libraries[0]->call_probe.attach(seen);
    w.program(0, [](host::process&, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        VIP_DESCRIPTOR* d = nullptr;
        for (unsigned i = 0; i < 2; ++i) {
            ASSERT_EQ(VipPostSend(vi, s.with(i, s.buffer(0), 8 + i), s.handle), VIP_SUCCESS);
            EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &d), VIP_DESCRIPTOR_ERROR);
        }
    });
    w.run();
    ASSERT_EQ(seen.calls.size(), 4u);
    for (const unsigned i : {0u, 2u}) {
        EXPECT_EQ(seen.calls[i].what, "VipPostSend");
        EXPECT_EQ(seen.calls[i].bytes, 8 + i / 2);
        EXPECT_EQ(seen.calls[i + 1].what, "VipSendDone");
        EXPECT_EQ(seen.calls[i + 1].slot, seen.calls[i].slot);
    }
    EXPECT_EQ(seen.calls[2].slot, seen.calls[0].slot + driver::descriptor_bytes);
}

TEST(post, wrong_descriptors_are_asynchronous_errors) {
    world w(1);
    static std::vector<VIP_ERROR_DESCRIPTOR> heard;
    heard.clear();
    w.program(0, [](host::process& self, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        VipErrorCallback(s.nic, nullptr, [](VIP_PVOID, VIP_ERROR_DESCRIPTOR* e) { heard.push_back(*e); });
        VIP_DESCRIPTOR* d = s.with(0, s.buffer(0), 8);
        auto* const unaligned = reinterpret_cast<VIP_DESCRIPTOR*>(reinterpret_cast<std::byte*>(d) + 32);
        EXPECT_EQ(VipPostRecv(vi, unaligned, s.handle), VIP_SUCCESS);
        EXPECT_EQ(VipPostRecv(vi, d, s.handle + 1), VIP_SUCCESS);
        VIP_DESCRIPTOR* const outside = s.descriptor(setup::bytes() / sizeof(VIP_DESCRIPTOR));
        EXPECT_EQ(VipPostRecv(vi, outside, s.handle), VIP_SUCCESS);
        self.sleep_for(1'000'000'000);
        ASSERT_EQ(heard.size(), 3u);
        for (const VIP_ERROR_DESCRIPTOR& e : heard) {
            EXPECT_EQ(e.ErrorCode, VIP_ERROR_POST_DESC);
            EXPECT_EQ(e.ResourceCode, VIP_RESOURCE_DESCRIPTOR);
            EXPECT_EQ(e.NicHandle, s.nic);
            EXPECT_EQ(e.ViHandle, vi);
        }
        EXPECT_EQ(heard[0].DescriptorPtr, unaligned);
        EXPECT_EQ(heard[1].DescriptorPtr, d);
        EXPECT_EQ(heard[2].DescriptorPtr, outside);
        VIP_DESCRIPTOR* none = d;
        EXPECT_EQ(VipRecvDone(vi, &none), VIP_DESCRIPTOR_ERROR);
        EXPECT_EQ(none, nullptr);
    });
    w.run();
}

TEST(post, one_more_than_the_queue_holds_is_an_overrun) {
    world w(1, settings{{"m0.driver.ring_slots", "4"}});
    static std::vector<VIP_ERROR_CODE> heard;
    heard.clear();
    w.program(0, [](host::process& self, host::address_space& space) {
        setup s(space);
        const VIP_VI_HANDLE vi = s.vi();
        VipErrorCallback(s.nic, nullptr,
                         [](VIP_PVOID, VIP_ERROR_DESCRIPTOR* e) { heard.push_back(e->ErrorCode); });
        for (unsigned i = 0; i < 4; ++i)
            EXPECT_EQ(VipPostRecv(vi, s.with(i, s.buffer(0), 8), s.handle), VIP_SUCCESS);
        EXPECT_EQ(VipPostRecv(vi, s.with(4, s.buffer(0), 8), s.handle), VIP_ERROR_RESOURCE);
        self.sleep_for(1'000'000'000);
    });
    w.run();
    EXPECT_EQ(heard, std::vector{VIP_ERROR_VI_OVERRUN});
}

// Decision 1 (facts vipl.md 13).
TEST(post, send_on_an_idle_vi_is_flushed_or_refused) {
    for (const char* choice : {"flush", "invalid_state"}) {
        world w(1, settings{{"vipl0.send_unconnected", choice}});
        w.program(0, [choice](host::process&, host::address_space& space) {
            setup s(space);
            const VIP_VI_HANDLE vi = s.vi();
            const bool flush = std::string(choice) == "flush";
            EXPECT_EQ(VipPostSend(vi, s.with(0, s.buffer(0), 8), s.handle),
                      flush ? VIP_SUCCESS : VIP_INVALID_STATE);
            VIP_DESCRIPTOR* d = nullptr;
            EXPECT_EQ(VipSendWait(vi, VIP_INFINITE, &d), VIP_DESCRIPTOR_ERROR);
            EXPECT_EQ(d, flush ? s.descriptor(0) : nullptr);
            if (flush) {
                EXPECT_EQ(d->CS.Status & VIP_STATUS_ERROR_MASK, unsigned{VIP_STATUS_DESC_FLUSHED_ERROR});
            }
        });
        w.run();
    }
}

}  // namespace
}  // namespace vinic::vipl::test
