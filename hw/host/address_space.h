// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hw/host/memory.h"

namespace vinic::host {

using virtual_address = std::uint64_t;

/// The memory of a simulated process as the library and the kernel agent reach it. In-process programs live
/// in an `address_space`; programs attached from outside bring an implementation of their own.
///
/// Hardware and driver see canonical pages, numbered in order of first need (from 1, so that no address
/// is zero); only the offset in the page is the program's.
class user_memory {
public:
    virtual ~user_memory() = default;

    /// Whether the process may touch all of [address, address + bytes).
    virtual bool valid(virtual_address address, std::uint64_t bytes) const = 0;
    virtual void read(virtual_address address, std::span<std::byte> into) const = 0;
    virtual void write(virtual_address address, std::span<const std::byte> from) = 0;
    /// Physical address behind a virtual one; its frame is assigned when it is first needed.
    virtual physical_address translate(virtual_address address) = 0;

    /// The address under which hardware and driver know `address`.
    virtual_address canonical(virtual_address address);
    /// The program's address behind a canonical one; zero if there is none.
    virtual_address program_address(virtual_address canonical_address) const;

private:
    std::unordered_map<std::uint64_t, std::uint64_t> canonical_of_page_;  // looked up, never iterated
    std::vector<std::uint64_t> page_of_canonical_;
};

/// Virtual memory of an in-process program: an arena mapped at an address fixed by node and process, the same
/// in every run on every machine, so that real pointers are simulated virtual addresses. `allocate` is
/// deterministic: the lowest place that fits.
class address_space : public user_memory {
public:
    static constexpr virtual_address first_base = 0x2000'0000'0000;
    static constexpr std::uint64_t arena_bytes = std::uint64_t{1} << 30;
    static constexpr unsigned processes_per_node = 64;

    /// Throws input_error when something else lives at the address.
    address_space(memory& ram, unsigned node, unsigned process);
    ~address_space() override;
    address_space(const address_space&) = delete;
    address_space& operator=(const address_space&) = delete;

    virtual_address base() const { return base_; }
    memory& ram() { return ram_; }

    /// `alignment` is a power of two; zero bytes are one byte. Null when the arena is full. The contents of a
    /// place that was never used are zero. Throws std::bad_alloc when the simulator's process has no memory.
    void* allocate(std::uint64_t bytes, std::uint64_t alignment = 16);
    /// Null is ignored; a pointer that is no allocation throws model_error.
    void free(void* pointer);
    /// Bytes of the allocation that starts at `pointer`; zero if there is none.
    std::uint64_t allocation_bytes(const void* pointer) const;

    /// Valid is what lies inside one or more adjoining pages of the arena that allocations have reached.
    bool valid(virtual_address address, std::uint64_t bytes) const override;
    void read(virtual_address address, std::span<std::byte> into) const override;
    void write(virtual_address address, std::span<const std::byte> from) override;
    physical_address translate(virtual_address address) override;

private:
    void open_up_to(virtual_address end);

    memory& ram_;
    virtual_address base_;
    std::map<virtual_address, std::uint64_t> used_;               ///< allocations: begin, bytes
    virtual_address top_;                                         ///< end of the highest page ever allocated
    virtual_address open_end_;                                    ///< behind it nothing can be accessed
    std::unordered_map<std::uint64_t, physical_address> frames_;  // looked up, never iterated
};

}  // namespace vinic::host
