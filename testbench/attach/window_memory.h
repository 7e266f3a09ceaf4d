// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "hw/host/address_space.h"
#include "hw/host/memory.h"

namespace vinic::testbench {

/// The memory of an attached program: the pages that it has shared with the simulator (vipl/attach/window.h),
/// at the program's addresses. Others do not exist for the card.
class window_memory : public host::user_memory {
public:
    /// `file`: the window's descriptor, which it keeps.
    window_memory(host::memory& ram, int file);
    ~window_memory() override;
    window_memory(const window_memory&) = delete;
    window_memory& operator=(const window_memory&) = delete;

    int file() const { return file_; }
    /// The program says where its pages are in the window. Those that have moved get new frames; the old ones
    /// stay as they are for who has pinned them. What makes no sense is ignored.
    void share(host::virtual_address begin, std::uint64_t bytes, std::uint64_t offset);

    /// Whether any of its pages may have changed for processors after `at`.
    bool changed_since(sim::picoseconds at) const;

    /// The program's address behind a frame's; zero if there is none.
    host::virtual_address address_of(host::physical_address at) const;
    host::memory& ram() { return ram_; }

    bool valid(host::virtual_address address, std::uint64_t bytes) const override;
    void read(host::virtual_address address, std::span<std::byte> into) const override;
    void write(host::virtual_address address, std::span<const std::byte> from) override;
    host::physical_address translate(host::virtual_address address) override;

private:
    struct shared_page {
        std::uint64_t offset;  ///< in the window
        bool has_frame = false;
        host::physical_address frame = 0;
    };

    host::memory& ram_;
    int file_;
    std::byte* view_;
    std::unordered_map<std::uint64_t, shared_page> pages_;  // looked up, never iterated
    std::deque<host::physical_address> frames_;
};

}  // namespace vinic::testbench
