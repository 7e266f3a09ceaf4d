// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "testbench/cli/output.h"
#include "testbench/cli/paths.h"
#include "testbench/cli/verbs.h"
#include "testbench/platform/design.h"
#include "testbench/report/table.h"

namespace vinic::testbench {

status list_designs(const designs_options& options) {
    const bool as_json = !options.json.empty();
    output to(as_json ? options.json : "-");
    json rows = json::array();
    for (const auto& name : names_in(folders().designs, ".yaml"))
        rows.push_back({{"design", name}, {"description", load_design(name).description}});
    to.commit(as_json ? json_text({{"format", "vinic designs 1"}, {"designs", rows}})
                      : table_of_rows(rows, is_terminal(STDOUT_FILENO)));
    return status::done;
}

}  // namespace vinic::testbench
