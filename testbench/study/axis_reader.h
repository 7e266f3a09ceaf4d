// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "testbench/platform/yaml.h"
#include "testbench/study/study_file.h"

namespace vinic::testbench::study {

/// Reads one entry under `axes`. `shown`: the file as messages name it. Throws input_error.
axis read_axis(const std::string& shown, const YAML::Node& entry);

/// A scalar as it stands, a list with commas between: what an argument such as `sizes` takes.
located read_value(const std::string& shown, const std::string& name, const YAML::Node& node);

}  // namespace vinic::testbench::study
