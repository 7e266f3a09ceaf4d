// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/segment_reader.h"

#include <algorithm>
#include <cstring>

namespace vinic::nic {

namespace {

constexpr std::uint32_t window_segments = 8;
constexpr std::uint32_t segment_bytes = sizeof(abi::vi_data_segment);

}  // namespace

step<segment_reader::found> segment_reader::find(const abi::vi_engine::slot& of, std::uint32_t tag,
                                                 std::uint32_t index) {
    if (index < abi::vi_engine::slot_segments) co_return found{0, of.segments[index]};
    if (index < first_ || index - first_ >= window_.size())
        if (const std::uint32_t error = co_await read(of, tag, index); error != 0) co_return found{error, {}};
    co_return found{0, window_[index - first_]};
}

step<std::uint32_t> segment_reader::read(const abi::vi_engine::slot& of, std::uint32_t tag,
                                         std::uint32_t index) {
    const std::uint64_t address =
        of.control.next + sizeof(abi::vi_control_segment) + std::uint64_t{index} * segment_bytes;
    const std::uint32_t left = of.control.segment_count - index;
    const std::uint32_t handle = of.control.next_handle;
    window_.clear();
    if (address % segment_bytes != 0) co_return abi::vi_status_format_error;
    const std::uint64_t ticket = co_await dma_.read_channel();
    const translation::result at =
        co_await pages_.translate({.handle = handle,
                                   .tag = tag,
                                   .address = address,
                                   .length = std::min(left, window_segments) * segment_bytes});
    if (!at.allowed) {
        dma_.give_back_read(ticket);
        co_return abi::vi_status_protection_error;
    }
    std::vector<std::uint8_t> bytes(at.bytes);
    host_read one(dma_);
    co_await sequencer_.clocks(dma_.start_clocks);
    dma_.start_read(ticket, one, at.physical, bytes, "segments");
    while (!one.done()) co_await one.progress.changed();
    first_ = index;
    window_.resize(bytes.size() / segment_bytes);
    std::memcpy(window_.data(), bytes.data(), bytes.size());
    co_return 0;
}

}  // namespace vinic::nic
