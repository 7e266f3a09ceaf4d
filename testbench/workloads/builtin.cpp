// SPDX-License-Identifier: Apache-2.0
#include "testbench/workloads/builtin.h"

#include "testbench/workloads/bus.h"
#include "testbench/workloads/echo.h"

namespace vinic::testbench {

std::map<std::string, workload_maker> builtin_workloads() {
    return {{"bus", [](const workload_options& options) { return std::make_unique<bus_workload>(options); }},
            {"echo", [](const workload_options& options) { return std::make_unique<echo>(options); }}};
}

}  // namespace vinic::testbench
