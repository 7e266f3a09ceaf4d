// SPDX-License-Identifier: Apache-2.0
#include "hw/host/address_space.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "hw/sim/error.h"
#include "testbench/tests/host/node.h"

namespace vinic::host {
namespace {

struct fixture : testing::Test {
    sim::simulation simulation;
    memory ram{"memory"};
};
using address_space_test = fixture;

TEST_F(address_space_test, each_process_of_each_node_has_its_place) {
    address_space a(ram, 0, 0), b(ram, 0, 1), c(ram, 127, 63);
    EXPECT_EQ(a.base(), 0x2000'0000'0000u);
    EXPECT_EQ(b.base(), a.base() + (1u << 30));
    EXPECT_EQ(c.base(), a.base() + (127ull * 64 + 63) * (1u << 30));
    EXPECT_THROW(address_space(ram, 0, 64), sim::input_error);
}

TEST_F(address_space_test, a_place_that_is_taken_is_a_clear_error) {
    void* const there = reinterpret_cast<void*>(address_space::first_base + (std::uint64_t{5} << 36) + 4096);
    void* const got = mmap(there, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ASSERT_EQ(got, there);
    EXPECT_THROW(address_space(ram, 5, 0), sim::input_error);
    munmap(got, 4096);
    EXPECT_NO_THROW(address_space(ram, 5, 0));
}

TEST_F(address_space_test, allocation_takes_the_lowest_place_that_fits) {
    address_space space(ram, 0, 0);
    const auto at = [&](void* p) { return reinterpret_cast<virtual_address>(p) - space.base(); };
    void* const a = space.allocate(100);
    void* const b = space.allocate(100);
    void* const c = space.allocate(1, 4096);
    EXPECT_EQ(at(a), 0u);
    EXPECT_EQ(at(b), 112u);  // 100, aligned to 16
    EXPECT_EQ(at(c), 4096u);
    space.free(a);
    EXPECT_EQ(at(space.allocate(113)), 224u);  // does not fit before b, fits after it
    EXPECT_EQ(at(space.allocate(112)), 0u);
    EXPECT_EQ(space.allocation_bytes(b), 100u);
    EXPECT_THROW(space.free(static_cast<char*>(b) + 1), sim::model_error);
    EXPECT_EQ(space.allocate(address_space::arena_bytes), nullptr);
    EXPECT_EQ(space.allocate(8, 3), nullptr);
}

TEST_F(address_space_test, pointers_are_the_simulated_memory) {
    address_space space(ram, 0, 0);
    auto* const data = static_cast<std::uint32_t*>(space.allocate(2 * page_bytes, page_bytes));
    const auto address = reinterpret_cast<virtual_address>(data);
    data[0] = 0x12345678;
    EXPECT_EQ(test::word_at(ram, space.translate(address)), 0x12345678u);
    ram.write(space.translate(address + page_bytes), test::bytes_of(std::uint32_t{7}));
    EXPECT_EQ(data[page_bytes / 4], 7u);
    space.write(address + page_bytes - 2, test::bytes_of(std::uint32_t{0xaabbccdd}));
    std::array<std::byte, 4> back;
    space.read(address + page_bytes - 2, back);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(back), 0xaabbccddu);
    EXPECT_TRUE(space.valid(address, 2 * page_bytes));
    EXPECT_FALSE(space.valid(address, 2 * page_bytes + 1));
    EXPECT_FALSE(space.valid(address - 1, 1));
    EXPECT_FALSE(space.valid(address, ~std::uint64_t{0}));
}

TEST_F(address_space_test, frames_are_assigned_on_first_need_and_given_back) {
    {
        address_space space(ram, 0, 0);
        const auto address = reinterpret_cast<virtual_address>(space.allocate(3 * page_bytes, page_bytes));
        EXPECT_EQ(ram.frames_in_use(), 0u);
        EXPECT_EQ(space.translate(address + 2 * page_bytes + 5), 5u);
        EXPECT_EQ(space.translate(address + 1), page_bytes + 1);
        EXPECT_EQ(space.translate(address + 2 * page_bytes), 0u);
        EXPECT_EQ(ram.frames_in_use(), 2u);
    }
    EXPECT_EQ(ram.frames_in_use(), 0u);
}

TEST_F(address_space_test, hardware_sees_canonical_pages_numbered_by_first_need) {
    address_space space(ram, 0, 0);
    const auto address = reinterpret_cast<virtual_address>(space.allocate(3 * page_bytes, page_bytes));
    EXPECT_EQ(space.canonical(address + 2 * page_bytes + 7), 1 * page_bytes + 7);
    EXPECT_EQ(space.canonical(address + 9), 2 * page_bytes + 9);
    EXPECT_EQ(space.canonical(address + 2 * page_bytes), 1 * page_bytes);
    EXPECT_EQ(space.program_address(2 * page_bytes + 9), address + 9);
    EXPECT_EQ(space.program_address(3 * page_bytes), 0u);
    EXPECT_EQ(space.program_address(5), 0u);
}

/// Addresses and contents of a few allocations, in a fresh process of the operating system.
std::vector<std::uint64_t> addresses_in_a_child() {
    int ends[2];
    if (pipe(ends) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
        // Another history of the heap and of mappings than the parent's.
        [[maybe_unused]] void* const other =
            mmap(nullptr, 1 << 24, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        sim::simulation simulation;
        memory ram{"memory"};
        address_space space(ram, 3, 2);
        std::uint64_t out[4];
        for (int i = 0; i < 3; ++i)
            out[i] = reinterpret_cast<std::uint64_t>(space.allocate(1000u * (i + 1), 64));
        out[3] = space.translate(out[2]);
        const bool ok = ::write(ends[1], out, sizeof out) == sizeof out;
        _exit(ok ? 0 : 1);
    }
    std::vector<std::uint64_t> got(4);
    const bool whole = ::read(ends[0], got.data(), 4 * sizeof(std::uint64_t)) == 4 * sizeof(std::uint64_t);
    int status = 0;
    waitpid(child, &status, 0);
    close(ends[0]);
    close(ends[1]);
    return whole && status == 0 ? got : std::vector<std::uint64_t>{};
}

TEST(address_space, two_processes_of_the_operating_system_see_the_same_addresses) {
    const std::uint64_t base = 0x2000'0000'0000 + (3ull * 64 + 2) * (1u << 30);
    // 1000 bytes end below 1024 = 16 * 64; 2000 more below 1024 + 2048 (2000 = 31.25 * 64, so 32 lines).
    const std::vector<std::uint64_t> expected{base, base + 1024, base + 3072, 3072};
    const auto first = addresses_in_a_child();
    EXPECT_EQ(first, addresses_in_a_child());
    EXPECT_EQ(first, expected);
}

}  // namespace
}  // namespace vinic::host
