// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/link/framer.h"

namespace vinic::link {

/// The model: checksums of whole parts and packets.
class packet_framer : public framer {
public:
    explicit packet_framer(surroundings around) : around_(std::move(around)) {}

    void begin(const packet_ptr& what) override;
    void append(std::span<const std::uint8_t> bytes, const run& available,
                std::optional<std::uint64_t> crc32_from) override;
    void finish(const wire& cable) override;

    void take(std::uint64_t limit, picoseconds spacing, std::optional<std::uint64_t> crc32_from) override;
    std::span<const std::uint8_t> taken(const receiver::held& front, std::uint64_t first,
                                        std::uint64_t count) override;
    reception end(const receiver::held& front) override;
    void threshold(phase what, picoseconds in) override { around_.signal(what, in); }

private:
    surroundings around_;
    packet_ptr filling_;
    std::optional<std::uint32_t> crc32_;         ///< of what it covers so far of the packet that is filled
    std::optional<std::uint64_t> checked_from_;  ///< of the front packet
};

}  // namespace vinic::link
