// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "hw/sim/module.h"
#include "hw/sim/parameter.h"

namespace vinic::vipl {

/// What neither specification nor programs settle (facts vipl.md 13), each with its default, in one place.
/// Points 4, 5, 6 and 8 of that list are the card's: its firmware decides them.
struct decisions {
    explicit decisions(const sim::module& owner);

    sim::parameter<std::string> send_unconnected;     ///< 1
    sim::parameter<std::string> destroy_busy;         ///< 2
    sim::parameter<std::string> wait_timeout_zero;    ///< 3
    sim::parameter<std::string> empty_discriminator;  ///< 3
    sim::parameter<std::string> wait_with_queue;      ///< 7
    sim::parameter<std::string> name_service;         ///< 10
    sim::parameter<std::string> unknown_host;
    sim::parameter<std::string> null_tag;  ///< facts vipl.md 8

    static bool is(const sim::parameter<std::string>& which, const char* value) {
        return which.get() == value;
    }
};

}  // namespace vinic::vipl
