// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "hw/sim/error.h"

namespace vinic::sim {

/// A setting names a parameter that no module has.
struct unknown_parameter : input_error {
    unknown_parameter(std::string set_by, std::string called, const std::string& near)
        : input_error("{}: no parameter is named '{}'{}", set_by, called,
                      near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near)),
          origin(std::move(set_by)),
          name(std::move(called)) {}

    std::string origin;
    std::string name;
};

}  // namespace vinic::sim
