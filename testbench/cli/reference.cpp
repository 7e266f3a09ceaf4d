// SPDX-License-Identifier: Apache-2.0
// The verbs that print what the modules declare: params and stats.
#include <unistd.h>

#include "hw/sim/error.h"
#include "testbench/cli/output.h"
#include "testbench/cli/verbs.h"
#include "testbench/platform/setup.h"
#include "testbench/report/statistics.h"
#include "testbench/report/table.h"

namespace vinic::testbench {

namespace {

void write(const result_options& options, const char* format, const std::string& design, const char* key,
           const json& rows) {
    output to(options.json.empty() ? "-" : options.json);
    to.commit(options.json.empty() ? table_of_rows(rows, is_terminal(STDOUT_FILENO))
                                   : json_text({{"format", format}, {"design", design}, {key, rows}}));
}

[[noreturn]] void nothing_matches(const char* what, const std::string& pattern) {
    throw sim::input_error("no {} matches '{}'", what, pattern);
}

}  // namespace

status list_parameters(const params_options& options) {
    const design on = design_of(options);
    platform built(on, firmware_of(on), mode_of(options));
    const json rows = parameters_of(built.simulation(), options.pattern);
    if (rows.empty()) nothing_matches("parameter", options.pattern);
    write(options, "vinic parameters 1", on.name, "parameters", rows);
    return status::done;
}

status list_statistics(const stats_options& options) {
    const design on = design_of(options);
    platform built(on, firmware_of(on), mode_of(options));
    const json rows = statistics_of(built.simulation(), options.pattern, false);
    if (rows.empty()) nothing_matches("statistic", options.pattern);
    write(options, "vinic statistics 1", on.name, "statistics", rows);
    return status::done;
}

}  // namespace vinic::testbench
