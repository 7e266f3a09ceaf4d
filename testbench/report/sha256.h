// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace vinic::testbench {

/// SHA-256 (FIPS 180-4) of a text, in hexadecimal.
std::string sha256(std::string_view text);

/// The whole file; throws input_error when it cannot be read.
std::string read_file(const std::filesystem::path& file);

}  // namespace vinic::testbench
