// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "testbench/report/json.h"

namespace vinic::testbench::study {

/// The number that a text is, when it is one.
inline std::optional<double> number(const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

/// A value of JSON as a study file would have it: texts bare.
inline std::string text_of(const json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace vinic::testbench::study
