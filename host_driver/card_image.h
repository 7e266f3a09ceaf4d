// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vinic::driver {

/// A linked firmware image as the driver needs it: what goes where in SRAM, and where the symbol
/// `card_interface` lies.
struct card_image {
    struct segment {
        std::uint32_t address = 0;
        std::vector<std::byte> bytes;
    };
    std::string name;  ///< for messages
    std::vector<segment> segments;
    std::uint32_t interface_address = 0;
};

}  // namespace vinic::driver
