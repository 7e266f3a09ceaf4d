// SPDX-License-Identifier: Apache-2.0
#include "host_driver/kernel_agent.h"

#include <gtest/gtest.h>

#include "firmware/abi/vi_descriptor.h"
#include "hw/sim/error.h"
#include "testbench/tests/host_driver/cluster.h"

namespace vinic::driver::test {
namespace {

namespace myvia = abi::myvia;
using block = myvia::card_interface_block;

host::virtual_address address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

/// One process on one machine that has opened the card, in kernel mode.
struct opened : cluster {
    explicit opened(const settings& values = {}, sim::picoseconds byte_ps = 4000)
        : cluster(1, values, byte_ps), m(*machines[0]) {}

    machine& m;
    notification_port port{"test"};

    void in_kernel(const std::function<void(host::process&, host::address_space&,
                                            const std::shared_ptr<instance>&)>& what) {
        spawn(0, [this, what](host::process& self, host::address_space& space) {
            self.trap([&] {
                std::shared_ptr<instance> nic;
                ASSERT_EQ(m.agent.open(self, space, port, false, nic), status::success);
                what(self, space, nic);
            });
        });
        run();
    }
};

TEST(myvia_driver, starts_the_card) {
    opened t(settings{{"m0.driver.retransmit_us", "900"}, {"m0.driver.event_entries", "64"}});
    t.in_kernel([&](host::process&, host::address_space&, const std::shared_ptr<instance>&) {
        // Ticks of 0.5 us (facts lanai_pcix.md B4): 900 us are 1800, more than these cables need.
        EXPECT_EQ(t.m.card.interface_word(offsetof(block, retransmit_ticks)), 1800u);
        EXPECT_EQ(t.m.card.interface_word(offsetof(block, host_event_entries)), 64u);
        EXPECT_EQ(t.m.card.interface_word(offsetof(block, sram_bytes)), 2048u * 1024);
        EXPECT_EQ(t.m.agent.limits().vis, fake_card::max_vis);
        EXPECT_TRUE(t.m.card.open[0]);
    });
}

TEST(myvia_driver, gives_slow_cables_time_before_the_card_sends_again) {
    // A packet has 8 route bytes, a header of 32 and one of 16 bytes, 4096 of payload and a CRC-32: a window
    // of 16 takes 66496 byte times, and three of them 19.9488 ms at 100 ns a byte, which are 39897 ticks.
    opened t({}, 100'000);
    t.in_kernel([&](host::process&, host::address_space&, const std::shared_ptr<instance>&) {
        EXPECT_EQ(t.m.card.interface_word(offsetof(block, retransmit_ticks)), 39897u);
    });
}

TEST(kernel_agent, registration_fills_the_page_table_and_pins) {
    opened t;
    t.in_kernel([&](host::process& self, host::address_space& space, const std::shared_ptr<instance>& nic) {
        auto* buffer = static_cast<std::byte*>(space.allocate(5 * 4096, 4096)) + 100;
        protection_tag tag = 0;
        ASSERT_EQ(t.m.agent.create_tag(self, nic, tag), status::success);
        std::uint32_t handle = 0;
        // Bytes 100 to 100 + 8192: the pages 0, 1 and 2.
        ASSERT_EQ(t.m.agent.register_memory(self, nic, address_of(buffer), 8192,
                                            {.tag = tag, .rdma_write = true}, handle),
                  status::success);
        EXPECT_NE(handle, 0u);
        ASSERT_EQ(t.m.card.regions.size(), 1u);
        const myvia::region_arguments& r = t.m.card.regions.begin()->second;
        EXPECT_EQ(r.handle, handle);
        EXPECT_EQ(handle & 0xFFFF, r.region + 1);
        EXPECT_EQ(std::uint64_t{r.address_high} << 32 | r.address_low, address_of(buffer));
        EXPECT_EQ(r.length, 8192u);
        EXPECT_EQ(r.protection_tag, tag);
        EXPECT_EQ(r.rdma_enables, 1u);
        for (unsigned i = 0; i < 3; ++i) {
            const host::physical_address frame = space.translate(address_of(buffer) - 100 + i * 4096);
            EXPECT_EQ(t.m.card.page_entry(r.first_page + i), frame);
            EXPECT_EQ(t.m.ram.pins(frame), 1u);
        }
        EXPECT_EQ(t.m.ram.pins(space.translate(address_of(buffer) - 100 + 3 * 4096)), 0u);

        // The same memory again, with other attributes: a handle of its own, pinned twice.
        std::uint32_t again = 0;
        ASSERT_EQ(t.m.agent.register_memory(self, nic, address_of(buffer), 1, {.tag = tag}, again),
                  status::success);
        EXPECT_NE(again, handle);
        const host::physical_address first = space.translate(address_of(buffer)) & ~host::page_mask;
        EXPECT_EQ(t.m.ram.pins(first), 2u);

        EXPECT_EQ(t.m.agent.deregister_memory(self, nic, address_of(buffer) + 1, handle),
                  status::invalid_parameter);
        EXPECT_EQ(t.m.agent.deregister_memory(self, nic, address_of(buffer), handle), status::success);
        EXPECT_EQ(t.m.agent.deregister_memory(self, nic, address_of(buffer), handle),
                  status::invalid_parameter);
        EXPECT_EQ(t.m.ram.pins(first), 1u);
        EXPECT_EQ(t.m.card.regions.size(), 1u);

        // The number of the region is used again, the handle is not.
        std::uint32_t third = 0;
        ASSERT_EQ(t.m.agent.register_memory(self, nic, address_of(buffer), 1, {.tag = tag}, third),
                  status::success);
        EXPECT_EQ(third & 0xFFFF, handle & 0xFFFF);
        EXPECT_NE(third, handle);
    });
}

TEST(kernel_agent, registration_reports_what_is_wrong) {
    opened t(settings{{"m0.driver.page_table_entries", "4"}, {"m0.agent.region_mbytes_max", "1"}});
    t.in_kernel([&](host::process& self, host::address_space& space, const std::shared_ptr<instance>& nic) {
        const auto buffer = address_of(space.allocate(2 << 20, 4096));
        protection_tag tag = 0;
        ASSERT_EQ(t.m.agent.create_tag(self, nic, tag), status::success);
        std::uint32_t handle = 0;
        const auto attempt = [&](host::virtual_address at, std::uint64_t length, memory_attributes a) {
            return t.m.agent.register_memory(self, nic, at, length, a, handle);
        };
        EXPECT_EQ(attempt(buffer, 0, {.tag = tag}), status::invalid_parameter);
        EXPECT_EQ(attempt(16, 16, {.tag = tag}), status::invalid_parameter);
        EXPECT_EQ(attempt(buffer, (1 << 20) + 1, {.tag = tag}), status::error_resource);
        EXPECT_EQ(attempt(buffer, 16, {}), status::invalid_ptag);
        EXPECT_EQ(attempt(buffer, 16, {.tag = tag + 1}), status::invalid_ptag);
        EXPECT_EQ(attempt(buffer, 16, {.tag = tag, .rdma_read = true}), status::invalid_rdmaread);
        EXPECT_EQ(attempt(buffer, 4 * 4096 + 1, {.tag = tag}), status::error_resource);  // 5 pages of 4
        EXPECT_EQ(attempt(buffer, 4 * 4096, {.tag = tag}), status::success);
        EXPECT_EQ(attempt(buffer, 1, {.tag = tag}), status::error_resource);
    });
}

TEST(kernel_agent, tags_in_use_cannot_be_destroyed) {
    opened t(settings{{"m0.agent.tags_max", "2"}});
    t.in_kernel([&](host::process& self, host::address_space& space, const std::shared_ptr<instance>& nic) {
        protection_tag a = 0;
        protection_tag b = 0;
        protection_tag c = 0;
        ASSERT_EQ(t.m.agent.create_tag(self, nic, a), status::success);
        ASSERT_EQ(t.m.agent.create_tag(self, nic, b), status::success);
        EXPECT_EQ(t.m.agent.create_tag(self, nic, c), status::error_resource);
        std::uint32_t handle = 0;
        const auto buffer = address_of(space.allocate(16));
        ASSERT_EQ(t.m.agent.register_memory(self, nic, buffer, 16, {.tag = a}, handle), status::success);
        EXPECT_EQ(t.m.agent.destroy_tag(self, nic, a), status::error_resource);
        ASSERT_EQ(t.m.agent.set_memory(self, nic, buffer, handle, {.tag = b}), status::success);
        EXPECT_EQ(t.m.card.regions.begin()->second.protection_tag, b);
        EXPECT_EQ(t.m.agent.destroy_tag(self, nic, a), status::success);
        EXPECT_EQ(t.m.agent.destroy_tag(self, nic, a), status::invalid_parameter);
        EXPECT_EQ(t.m.agent.destroy_tag(self, nic, b), status::error_resource);
    });
}

TEST(kernel_agent, close_leaves_nothing_behind) {
    opened t;
    const std::uint64_t frames_before = t.m.ram.frames_in_use();
    std::uint64_t frames_open = 0;
    t.in_kernel([&](host::process& self, host::address_space& space, const std::shared_ptr<instance>& nic) {
        protection_tag tag = 0;
        ASSERT_EQ(t.m.agent.create_tag(self, nic, tag), status::success);
        const auto buffer = address_of(space.allocate(4096, 4096));
        std::uint32_t handle = 0;
        ASSERT_EQ(t.m.agent.register_memory(self, nic, buffer, 4096, {.tag = tag}, handle), status::success);
        const host::physical_address frame = space.translate(buffer);
        frames_open = t.m.ram.frames_in_use();
        {
            std::shared_ptr<queue> q;
            ASSERT_EQ(t.m.agent.create_queue(self, nic, 8, q), status::success);
            std::shared_ptr<vi> v;
            const vi_attributes a{
                .reliability = abi::vi_reliable_delivery, .max_transfer_bytes = 4096, .tag = tag};
            ASSERT_EQ(t.m.agent.create_vi(self, nic, a, q, q, v), status::success);
            EXPECT_EQ(t.m.agent.destroy_queue(self, q), status::error_resource);
            EXPECT_GT(t.m.ram.frames_in_use(), frames_open);
        }
        t.m.agent.close(self, nic);
        EXPECT_EQ(t.m.ram.pins(frame), 0u);
        EXPECT_LE(t.m.ram.frames_in_use(), frames_open);  // rings, queue and the process's page are back
        EXPECT_TRUE(t.m.card.regions.empty());
        EXPECT_EQ(t.m.card.vis[0].state, myvia::vi_unused);
        EXPECT_EQ(t.m.card.queues[0].entries, 0u);
        EXPECT_FALSE(t.m.card.open[0]);
    });
    EXPECT_GT(frames_open, frames_before);
}

TEST(kernel_agent, opens_are_limited) {
    opened t(settings{{"m0.agent.opens_max", "3"}});
    t.in_kernel([&](host::process& self, host::address_space& space, const std::shared_ptr<instance>& nic) {
        std::shared_ptr<instance> more[3];
        EXPECT_EQ(t.m.agent.open(self, space, t.port, false, more[0]), status::success);
        EXPECT_EQ(t.m.agent.open(self, space, t.port, false, more[1]), status::success);
        EXPECT_EQ(t.m.agent.open(self, space, t.port, false, more[2]), status::error_resource);
        EXPECT_EQ(more[0]->process, nic->process);  // one page of doorbells for all
        t.m.agent.close(self, more[0]);
        EXPECT_TRUE(t.m.card.open[0]);
        EXPECT_EQ(t.m.agent.open(self, space, t.port, false, more[2]), status::success);
    });
}

}  // namespace
}  // namespace vinic::driver::test
