// SPDX-License-Identifier: Apache-2.0
#include "host_driver/card_image.h"

#include <algorithm>

#include "hw/sim/error.h"

namespace vinic::driver {

card_image make_card_image(const linker::image& linked) {
    card_image image{.name = linked.path().string(), .end = linked.end()};
    const auto interface = linked.address_of("card_interface");
    if (!interface)
        throw sim::input_error("{}: no symbol card_interface: this is no firmware for a VI card", image.name);
    image.interface_address = *interface;
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
