// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testbench/study/plan.h"

namespace vinic::testbench::study {

/// Finds what is wrong with a study before any of its points runs: names and ranges of parameters, arguments
/// of the workload, designs, metrics. Builds each platform that the study has (design, nodes, topology,
/// firmware) once and checks every value against the declarations that it finds there. Throws input_error.
void check(const plan& of);

}  // namespace vinic::testbench::study
