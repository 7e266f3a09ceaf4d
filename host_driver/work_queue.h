// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hw/host/address_space.h"
#include "hw/host/memory.h"
#include "hw/host/process.h"

namespace vinic::driver {

inline constexpr std::size_t descriptor_bytes = 64;

/// What a completed descriptor gives back to its owner.
struct descriptor_completion {
    host::virtual_address descriptor = 0;  ///< the program's own
    std::uint32_t immediate_data = 0;
    std::uint32_t length = 0;
    std::uint32_t status = 0;
};

/// The send or receive queue of a VI as it is mapped into a process: how descriptors get to the card and
/// completions come back without the kernel. What the ring and the doorbell look like is the design's
/// affair.
class work_queue {
public:
    virtual ~work_queue() = default;

    virtual std::uint32_t capacity() const = 0;
    /// Descriptors posted and not yet taken back.
    virtual std::uint32_t outstanding() const = 0;
    bool empty() const { return outstanding() == 0; }
    bool full() const { return outstanding() == capacity(); }

    /// Where the next descriptor that is posted will be completed: what `head` is when its turn has come.
    virtual host::physical_range tail() const = 0;
    /// Hands over a descriptor: its first 64 bytes, where it lies and the handle of that memory. The queue is
    /// not full. Takes the time of copying and of the doorbell.
    virtual void post(host::process& on, std::span<const std::byte, descriptor_bytes> descriptor,
                      host::virtual_address where, std::uint32_t handle) = 0;

    /// The memory that a look at the head reads, and the look itself. The queue is not empty.
    virtual host::physical_range head() const = 0;
    virtual bool head_done() const = 0;
    /// Takes the head off the queue; it is done.
    virtual descriptor_completion take() = 0;

    /// Asks the card for an event when the head completes.
    virtual void arm(host::process& on) = 0;
};

/// A completion queue as it is mapped into a process.
class completion_queue {
public:
    struct entry {
        std::uint32_t vi = 0;  ///< index on the card
        bool receive = false;
    };

    virtual ~completion_queue() = default;

    virtual std::uint32_t capacity() const = 0;
    virtual host::physical_range head() const = 0;
    virtual bool head_valid() const = 0;
    virtual entry take() = 0;
    /// How many entries stand in the queue now.
    virtual std::uint32_t pending() const = 0;
    /// The memory of the ring, and how many entries stand in the part of it that is written.
    virtual host::physical_range memory() const = 0;
    virtual std::uint32_t entries_in(const host::physical_range& written) const = 0;
    /// This ring has replaced `before`, which has been emptied.
    virtual void continues(const completion_queue& before) = 0;
    /// Entries of this VI that stand in the queue now are forgotten: the VI is gone.
    virtual void forget(std::uint32_t vi) = 0;
    virtual void arm(host::process& on) = 0;
};

}  // namespace vinic::driver
