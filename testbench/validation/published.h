// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testbench/report/json.h"
#include "testbench/study/plan.h"

namespace vinic::testbench::validation {

/// Published figures of a study's designs (figures.yaml that ships) which its workload measures in the same
/// way: the column and row of results that they stand beside, value or range, unit, evidence, source, and
/// what was fitted to them. Only figures that were seen or derived from such ones.
json published_for(const study::plan& of);

}  // namespace vinic::testbench::validation
