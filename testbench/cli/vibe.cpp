// SPDX-License-Identifier: Apache-2.0
// `vinic vibe`: VIBe's tests on designs, as one table.
#include <unistd.h>

#include <algorithm>

#include "hw/sim/error.h"
#include "testbench/cli/output.h"
#include "testbench/cli/paths.h"
#include "testbench/cli/verbs.h"
#include "testbench/platform/setup.h"
#include "testbench/report/table.h"
#include "testbench/vibe/suite.h"

namespace vinic::testbench {

namespace {

/// The windows of attached programs are large and sparse.
constexpr std::uint64_t addresses = std::uint64_t{1} << 40;

std::vector<vibe::test> chosen_tests(const vibe_options& options) {
    std::vector<vibe::test> all = vibe::read_suite(folders().workloads.parent_path() / "vibe/suite.yaml");
    std::vector<std::string> names;
    for (const auto& one : all) names.push_back(one.name);
    for (const auto& name : options.tests)
        if (std::ranges::find(names, name) == names.end()) {
            const std::string near = sim::nearest_name(name, names);
            throw sim::input_error("--test '{}': {}", name,
                                   near.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                                : fmt::format("did you mean '{}'?", near));
        }
    if (!options.tests.empty())
        std::erase_if(all, [&](const vibe::test& one) {
            return std::ranges::find(options.tests, one.name) == options.tests.end();
        });
    return all;
}

bool speaks_vi(const design& d) { return d.transport.text == "vi"; }

struct chosen {
    std::vector<std::string> designs;
    std::vector<std::string> left_out;  ///< that ship, and speak no VI
};

/// The designs that are named, each checked; "all": those that ship and speak VI.
chosen chosen_designs(const vibe_options& options) {
    if (std::ranges::find(options.designs, "all") != options.designs.end()) {
        chosen all;
        for (const std::string& name : names_in(folders().designs, ".yaml"))
            (speaks_vi(load_design(name)) ? all.designs : all.left_out).push_back(name);
        return all;
    }
    for (const auto& name : options.designs) {
        platform_options one;
        one.design = name;
        one.settings = options.settings;
        const design d = design_of(one);
        if (!speaks_vi(d))
            throw sim::input_error("--design {}: speaks {} and no VI, so no program of VIPL runs on it", name,
                                   d.transport.text);
    }
    return {.designs = options.designs, .left_out = {}};
}

/// What the table has no numbers of.
std::string notes_of(const json& unsupported, const std::vector<std::string>& left_out) {
    std::string all;
    for (const auto& one : unsupported)
        all += fmt::format("{} on {}: {}\n", one["test"].get<std::string>(), one["design"].get<std::string>(),
                           one["why"].get<std::string>());
    if (!left_out.empty()) all += fmt::format("without VI: {}\n", fmt::join(left_out, ", "));
    return all.empty() ? all : "\n" + all;
}

/// Designs keep their names as headings, and a cell that there is no number for is a dash.
std::string text_of(const json& rows, const std::vector<std::string>& designs, bool colours) {
    std::vector<std::string> head{"test", "case", "quantity"};
    for (const auto& design : designs) head.push_back(vibe::name_of(design));
    std::vector<std::vector<std::string>> cells;
    for (const auto& row : rows) {
        auto& line = cells.emplace_back();
        for (const auto& key : head) line.push_back(row.contains(key) ? cell(row[key]) : "-");
    }
    return table(head, cells, colours);
}

}  // namespace

status vibe_suite(const vibe_options& options) {
    output to(options.json.empty() ? "-" : options.json);
    const auto [designs, left_out] = chosen_designs(options);
    vibe::suite_run suite(
        chosen_tests(options),
        {.designs = designs, .settings = options.settings, .seed = options.seed, .programs = folders().vibe});
    validation::simulations needed(
        {.jobs = options.jobs,
         .progress = is_terminal(STDERR_FILENO),
         .limits = {.seconds = 1800, .memory_bytes = addresses, .file_bytes = addresses}});
    suite.ask(needed);
    needed.run();
    const json rows = suite.rows(needed), failures = suite.failures(needed),
               unsupported = suite.unsupported(needed);
    if (options.json.empty()) {
        to.commit(text_of(rows, designs, is_terminal(STDOUT_FILENO)) + notes_of(unsupported, left_out));
    } else {
        to.commit(json_text({{"format", "vinic vibe 1"},
                             {"results", rows},
                             {"failures", failures},
                             {"unsupported", unsupported},
                             {"without_vi", left_out}}));
    }
    for (const auto& one : failures)
        fmt::print(stderr, "vinic: {} on {}: {}\n", one["test"].get<std::string>(),
                   one["design"].get<std::string>(), one["why"].get<std::string>());
    return failures.empty() ? status::done : status::failed;
}

}  // namespace vinic::testbench
