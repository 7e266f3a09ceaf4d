// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>

#include "testbench/cli/simulate.h"
#include "testbench/cli/verbs.h"
#include "testbench/platform/setup.h"
#include "testbench/report/table.h"

namespace vinic::testbench {

namespace {

status print_arguments(const run_options& options, const workload& what) {
    json rows = json::array();
    for (const auto& a : what.arguments())
        rows.push_back(
            {{"argument", a.name}, {"default", a.default_text}, {"unit", a.unit}, {"help", a.help}});
    output to(options.json.empty() ? "-" : options.json);
    if (options.json.empty())
        to.commit(fmt::format("{}: {}\n\n{}", options.workload, what.description(),
                              table_of_rows(rows, is_terminal(STDOUT_FILENO))));
    else
        to.commit(json_text({{"format", "vinic workload 1"},
                             {"workload", options.workload},
                             {"description", what.description()},
                             {"arguments", rows}}));
    return status::done;
}

}  // namespace

status run(const run_options& options) {
    const auto started = std::chrono::steady_clock::now();
    const interrupt_guard interrupt;
    const design on = design_of(options);
    std::vector<std::string> arguments = options.arguments;
    const bool help = arguments == std::vector<std::string>{"help"} || options.help_workload;
    if (help) arguments.clear();
    const auto what = load_workload(options.workload, arguments, on, options.seed, options.unsafe);
    if (help) return print_arguments(options, *what);

    const std::optional<firmware> image = firmware_of(on);
    output_places to(options);
    results found;
    found.expect_rows(what->expected_rows());
    platform built(on, image, mode_of(options));
    built.load(*what, found);
    subject reported{.name = options.workload,
                     .sha256 = what->sha256(),
                     .command = options.command,
                     .expected_rows = what->expected_rows()};
    for (const auto& argument : what->arguments()) reported.arguments[argument.name] = argument.value;
    return simulate(options, reported, on, image, built, found, to, started, interrupt);
}

}  // namespace vinic::testbench
