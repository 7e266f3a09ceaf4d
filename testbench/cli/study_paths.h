// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "testbench/cli/paths.h"

namespace vinic::testbench {

/// The studies that ship: NAME.yaml.
inline std::filesystem::path studies_folder() { return folders().workloads.parent_path() / "studies"; }

/// The page of a study: page.html and what it is made of.
inline std::filesystem::path page_folder() { return folders().workloads.parent_path() / "report" / "page"; }

/// Chart.js in one file.
inline std::filesystem::path chart_file() { return folders().firmware.parent_path() / "chart.min.js"; }

}  // namespace vinic::testbench
