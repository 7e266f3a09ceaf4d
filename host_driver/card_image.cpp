// SPDX-License-Identifier: Apache-2.0
#include "host_driver/card_image.h"

#include <algorithm>

#include "firmware/abi/chips.h"
#include "firmware/abi/myvia_card.h"
#include "firmware/abi/xuni_control.h"

namespace vinic::driver {

card_image make_card_image(const linker::image& linked) {
    card_image image{.name = linked.path().string(), .end = linked.end()};
    image.interface_address = linked.address_of("card_interface").value_or(0);
    if (const auto version = linked.address_of(abi::xuni::interface_symbol))
        image.control_version = linked.word_at(*version).value_or(0);
    if (const auto chips = linked.address_of(abi::supported_chips_symbol))
        image.chips = linked.word_at(*chips).value_or(0);
    if (const auto doorbells = linked.address_of(abi::myvia::doorbell_interface_symbol)) {
        const auto word = [&](std::uint32_t n) { return linked.word_at(*doorbells + 4 * n).value_or(0); };
        image.doorbells = {
            .kind = word(0), .sram = word(1), .size = word(2), .tokens = word(3), .token_slots = word(4)};
    }
    for (const linker::image_segment& segment : linked.segments()) {
        card_image::segment& loaded = image.segments.emplace_back();
        loaded.address = segment.address;
        loaded.bytes.resize(segment.bytes.size());
        std::transform(segment.bytes.begin(), segment.bytes.end(), loaded.bytes.begin(),
                       [](std::uint8_t byte) { return std::byte{byte}; });
    }
    return image;
}

}  // namespace vinic::driver
