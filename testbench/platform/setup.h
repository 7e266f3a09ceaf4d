// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testbench/cli/options.h"
#include "testbench/platform/design.h"
#include "testbench/platform/firmware.h"
#include "testbench/platform/platform.h"
#include "testbench/platform/workload.h"
#include "testbench/report/json.h"

namespace vinic::testbench {

/// The design that the options ask for, with everything of the command line applied.
design design_of(const platform_options& options);

/// The design's firmware, none where its cards run none; throws input_error when they need one.
std::optional<firmware> firmware_of(const design& from);

/// A workload that ships (a script or C++), or a script of the user's.
std::unique_ptr<workload> load_workload(const std::string& name_or_file,
                                        const std::vector<std::string>& arguments, const design& on,
                                        std::uint64_t seed, bool unsafe);

platform_mode mode_of(const platform_options& options);

/// What the command line changed in the design: name -> value.
json changed_parameters(const design& from);
/// Hash of all files of a design.
std::string hash_of(const design& from);

}  // namespace vinic::testbench
