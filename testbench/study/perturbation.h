// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "testbench/study/grid.h"
#include "testbench/study/study_file.h"

namespace vinic::testbench::study {

/// A parameter that a study of sensitivity changes, under the name that sets it in all modules alike.
struct perturbed_parameter {
    std::string name;
    std::string unit;
    std::string value;                ///< the design's
    std::vector<std::string> values;  ///< tried instead, the lowest first
    /// They are less and more by the share that the study says (or what it says instead of one); else the
    /// nearest that there are: of small whole numbers, lists, flags and texts.
    bool by_share = false;
};

struct perturbations {
    std::vector<perturbed_parameter> parameters;
    std::vector<std::pair<std::string, std::string>> left_out;  ///< name, why
};

/// "fabric.cable0.byte_ps" -> "link.byte_ps", "node1.bus.kind" -> "bus.kind": the name that sets it in all
/// modules of its kind. While the platform that has it is there.
std::string common_name(const std::string& parameter);

/// What a study of sensitivity changes. Builds the platform of its design to see what there is. Throws
/// input_error.
perturbations perturb(const study_file& of);

/// The design as it is, then each change alone; times the repeats.
grid expand(const perturbations& changes, const study_file& of);

}  // namespace vinic::testbench::study
