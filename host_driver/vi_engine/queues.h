// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "firmware/abi/vi_engine_card.h"
#include "host_driver/card_window.h"
#include "host_driver/completion_ring.h"
#include "host_driver/contiguous_memory.h"
#include "host_driver/work_queue.h"
#include "hw/host/memory.h"
#include "hw/host/process.h"

namespace vinic::driver {

/// A doorbell page of the card, mapped into a process: a doorbell is one store.
struct vi_engine_page {
    card_window& card;
    std::uint32_t offset;

    void ring(host::process& on, std::uint32_t word, std::uint32_t data) const {
        card.store_little(on, offset + word, data);
    }
};

/// Ring of physical descriptors, 64 bytes each, in the program's byte order.
class vi_engine_work_queue : public work_queue {
public:
    vi_engine_work_queue(host::memory& ram, const vi_engine_page& doorbells, bool receive,
                         std::uint32_t slots);

    std::uint32_t capacity() const override { return static_cast<std::uint32_t>(posted_from_.size()); }
    std::uint32_t outstanding() const override { return posted_ - taken_; }
    void post(host::process& on, std::span<const std::byte, descriptor_bytes> descriptor,
              host::virtual_address where, std::uint32_t handle) override;
    host::physical_range tail() const override { return status_of(posted_); }
    host::physical_range head() const override { return status_of(taken_); }
    bool head_done() const override;
    descriptor_completion take() override;
    void arm(host::process& on) override;

    host::physical_address ring() const { return ring_.begin(); }

private:
    std::uint64_t slot_offset(std::uint32_t number) const {
        return std::uint64_t{number & (capacity() - 1)} * abi::vi_engine::slot_bytes;
    }
    host::physical_range status_of(std::uint32_t number) const;

    contiguous_memory ring_;
    vi_engine_page doorbells_;
    bool receive_;
    std::vector<host::virtual_address> posted_from_;
    std::uint32_t posted_ = 0;  ///< free running, as is the next
    std::uint32_t taken_ = 0;
};

/// Written by the card, armed by a store into the queue's doorbell page.
class vi_engine_completion_queue : public completion_ring {
public:
    vi_engine_completion_queue(host::memory& ram, const vi_engine_page& doorbells, std::uint32_t entries)
        : completion_ring(ram, entries, std::endian::little), doorbells_(doorbells) {}

    void arm(host::process& on) override;

private:
    vi_engine_page doorbells_;
};

}  // namespace vinic::driver
