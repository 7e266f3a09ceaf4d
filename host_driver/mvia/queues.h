// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host_driver/completion_ring.h"
#include "host_driver/contiguous_memory.h"
#include "host_driver/work_queue.h"
#include "hw/host/memory.h"
#include "hw/host/process.h"

namespace vinic::driver {

class mvia_driver;

/// A work queue of M-VIA: posting is a fast trap, and the kernel writes what has become of a descriptor into
/// a slot that the process can see, so that looking takes no trap.
class mvia_work_queue : public work_queue {
public:
    mvia_work_queue(mvia_driver& kernel, host::memory& ram, std::uint32_t vi, bool receive,
                    std::uint32_t slots);

    std::uint32_t capacity() const override { return static_cast<std::uint32_t>(posted_from_.size()); }
    std::uint32_t outstanding() const override { return posted_ - taken_; }
    host::physical_range tail() const override { return status_of(posted_); }
    void post(host::process& on, std::span<const std::byte, descriptor_bytes> descriptor,
              host::virtual_address where, std::uint32_t handle) override;
    host::physical_range head() const override { return status_of(taken_); }
    bool head_done() const override;
    descriptor_completion take() override;
    void arm(host::process& on) override;

    // --- The kernel's side.
    /// A descriptor has been handed over; `immediate` and `length` are what it says itself.
    void accept(host::virtual_address where, std::uint32_t immediate, std::uint32_t length);
    /// The oldest one that is not complete is; what is not given stays as it was posted. Visible a picosecond
    /// from now. The bus address of its status word.
    host::physical_address complete(std::uint32_t status, std::optional<std::uint32_t> length,
                                    std::optional<std::uint32_t> immediate);
    std::uint32_t uncompleted() const { return posted_ - completed_; }
    /// Whether an event was asked for, which it is then no more.
    bool disarm();

private:
    struct slot {
        std::uint32_t status;
        std::uint32_t immediate;
        std::uint32_t length;
        std::uint32_t reserved;
    };
    host::physical_address slot_of(std::uint32_t number) const {
        return ring_.begin() + std::uint64_t{number & (capacity() - 1)} * sizeof(slot);
    }
    host::physical_range status_of(std::uint32_t number) const {
        return {.begin = slot_of(number) + offsetof(slot, status), .bytes = sizeof(std::uint32_t)};
    }

    mvia_driver& kernel_;
    contiguous_memory ring_;
    std::uint32_t vi_;
    bool receive_;
    std::vector<host::virtual_address> posted_from_;
    std::uint32_t posted_ = 0;  ///< free running, as are the next two
    std::uint32_t completed_ = 0;
    std::uint32_t taken_ = 0;
    std::vector<slot> given_;  ///< what stands in the slots
    bool armed_ = false;
};

/// A completion queue that the kernel writes.
class mvia_completion_queue : public completion_ring {
public:
    mvia_completion_queue(host::memory& ram, std::uint32_t entries)
        : completion_ring(ram, entries, std::endian::native) {}

    void arm(host::process&) override { armed_ = true; }
    /// Visible a picosecond from now; whether an event was asked for.
    bool write(std::uint32_t vi, bool receive);

private:
    std::uint32_t written_ = 0;
    bool armed_ = false;
};

}  // namespace vinic::driver
