// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "host_driver/byte_order.h"
#include "hw/host/bridge.h"
#include "hw/host/context.h"

namespace vinic::driver {

/// A card's memory window (BAR 0) as processors reach it; offsets are from its base.
class card_window {
public:
    virtual ~card_window() = default;

    /// Uncached, in order.
    virtual void store(host::context& on, std::uint32_t offset, std::uint32_t word) = 0;
    virtual std::uint32_t load(host::context& on, std::uint32_t offset) = 0;
    /// Write-combining, for what no order matters in; `fence` comes before what depends on it.
    virtual void store_block(host::context& on, std::uint32_t offset, std::span<const std::byte> from) = 0;
    virtual void fence(host::context& on) = 0;

    void store_big(host::context& on, std::uint32_t offset, std::uint32_t value) {
        store(on, offset, big_endian(value));
    }
    std::uint32_t load_big(host::context& on, std::uint32_t offset) { return big_endian(load(on, offset)); }
    void store_little(host::context& on, std::uint32_t offset, std::uint32_t value) {
        store(on, offset, little_endian(value));
    }
    std::uint32_t load_little(host::context& on, std::uint32_t offset) {
        return little_endian(load(on, offset));
    }
};

/// Through the host bridge and the bus.
class bridge_window : public card_window {
public:
    bridge_window(host::bridge& bridge, host::pci_address base) : bridge_(bridge), base_(base) {}

    void store(host::context& on, std::uint32_t offset, std::uint32_t word) override {
        bridge_.store(on, base_ + offset, word);
    }
    std::uint32_t load(host::context& on, std::uint32_t offset) override {
        return bridge_.load<std::uint32_t>(on, base_ + offset);
    }
    void store_block(host::context& on, std::uint32_t offset, std::span<const std::byte> from) override {
        bridge_.store_combined(on, base_ + offset, from);
    }
    void fence(host::context& on) override { bridge_.fence(on); }

private:
    host::bridge& bridge_;
    host::pci_address base_;
};

}  // namespace vinic::driver
