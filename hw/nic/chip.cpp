// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/chip.h"

#include <array>

#include "hw/sim/error.h"

namespace vinic::nic {

const chip_traits& traits_of(const std::string& name) {
    constexpr std::uint64_t mega = 1024 * 1024;
    static constexpr std::array<chip_traits, 3> all{{{chip::lanai4, 33, 2, 4, mega},
                                                     {chip::lanai7, 66, 2, 8, 2 * mega},
                                                     {chip::lanai9, 133, 1, 8, 2 * mega}}};
    if (name == "lanai4") return all[0];
    if (name == "lanai7") return all[1];
    if (name == "lanai9") return all[2];
    throw sim::input_error("no such chip: {} (lanai4, lanai7, lanai9)", name);
}

}  // namespace vinic::nic
