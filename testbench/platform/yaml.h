// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <vector>

namespace vinic::testbench {

/// The one document of a file; null when it is empty. `shown`: the file as messages name it. Throws
/// input_error.
YAML::Node parse_yaml(const std::filesystem::path& file, const std::string& shown);

/// "file.yaml:12"
std::string place_of(const std::string& shown, const YAML::Node& node);

/// Throws input_error with the nearest of the keys that there are.
[[noreturn]] void unknown_key(const std::string& place, const std::string& key,
                              const std::vector<std::string>& known);

}  // namespace vinic::testbench
