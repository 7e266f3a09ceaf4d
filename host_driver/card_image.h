// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "firmware/linker/image.h"

namespace vinic::driver {

/// A linked firmware image as the driver needs it: what goes where in SRAM (the rest of a segment is cleared
/// by the firmware's own start-up code), and what it says of the card that it is for.
struct card_image {
    struct segment {
        std::uint32_t address = 0;
        std::vector<std::byte> bytes;
    };
    std::string name;  ///< for messages
    std::vector<segment> segments;
    std::uint32_t end = 0;                ///< one past the highest byte that it needs
    std::uint32_t interface_address = 0;  ///< symbol `card_interface` (firmware/abi/myvia_card.h); 0: none
    std::uint32_t control_version = 0;  ///< symbol `control_interface` (firmware/abi/xuni_control.h); 0: none
    std::uint32_t chips = 0;  ///< symbol `supported_chips` (firmware/abi/chips.h); 0: the image does not say
    /// Symbol `doorbell_interface` (firmware/abi/myvia_card.h); kind 0: the image has none.
    struct doorbell_interface {
        std::uint32_t kind = 0;
        std::uint32_t sram = 0;
        std::uint32_t size = 0;
        std::uint32_t tokens = 0;
        std::uint32_t token_slots = 0;
    } doorbells;
};

card_image make_card_image(const linker::image& linked);

}  // namespace vinic::driver
