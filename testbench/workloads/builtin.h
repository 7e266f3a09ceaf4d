// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "testbench/platform/workload.h"

namespace vinic::testbench {

using workload_maker = std::function<std::unique_ptr<workload>(const workload_options&)>;

/// The workloads that are written in C++ against vipl.h, by name.
std::map<std::string, workload_maker> builtin_workloads();

}  // namespace vinic::testbench
