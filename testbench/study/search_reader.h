// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "testbench/platform/yaml.h"
#include "testbench/study/study_file.h"

namespace vinic::testbench::study {

/// What stands behind `optimise` and `sensitivity`; `at`: the key. Throw input_error.
optimise read_optimise(const std::string& shown, const YAML::Node& at, const YAML::Node& node);
sensitivity read_sensitivity(const std::string& shown, const YAML::Node& at, const YAML::Node& node);

}  // namespace vinic::testbench::study
