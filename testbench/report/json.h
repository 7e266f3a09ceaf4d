// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace vinic::testbench {

/// Keys stay in the order in which they were given: that of the page that describes the format.
using json = nlohmann::ordered_json;

/// The text of a file. Bytes that are no UTF-8 (names of files may hold them) become U+FFFD.
inline std::string json_text(const json& of) {
    return of.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace vinic::testbench
