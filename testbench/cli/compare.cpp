// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "testbench/cli/output.h"
#include "testbench/cli/verbs.h"
#include "testbench/report/comparison.h"

namespace vinic::testbench {

status compare(const compare_options& options) {
    const comparison both(comparison::read_result(options.before), comparison::read_result(options.after));
    const bool as_json = !options.json.empty();
    output to(as_json ? options.json : "-");
    const bool colours = !as_json && is_terminal(STDOUT_FILENO);
    to.commit(as_json ? json_text(both.to_json()) : both.to_text(colours));
    const bool failed = options.tolerance_percent && both.beyond(*options.tolerance_percent);
    return failed ? status::failed : status::done;
}

}  // namespace vinic::testbench
