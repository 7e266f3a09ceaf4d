// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/exec.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "hw/sim/error.h"
#include "testbench/attach/supervisor.h"
#include "testbench/cli/paths.h"
#include "testbench/cli/simulate.h"
#include "testbench/platform/setup.h"
#include "testbench/report/sha256.h"

namespace vinic::testbench {

namespace {

/// The words between colons.
std::vector<std::vector<std::string>> commands_of(const std::vector<std::string>& words) {
    std::vector<std::vector<std::string>> all(1);
    for (const std::string& word : words)
        if (word == ":")
            all.emplace_back();
        else
            all.back().push_back(word);
    if (std::ranges::any_of(all, [](const auto& one) { return one.empty(); }))
        throw sim::input_error("exec: expected -- PROGRAM [ARGUMENTS] [: PROGRAM [ARGUMENTS]]");
    return all;
}

std::vector<std::string> environment_of(const exec_options& options) {
    std::vector<std::string> all{"LD_PRELOAD=" + (folders().libraries / "libvipl.so").string()};
    if (options.real_time) all.push_back("VINIC_REAL_TIME=1");
    for (const std::string& text : options.environment) {
        const char* const value = std::getenv(text.c_str());
        if (text.find('=') == std::string::npos && value == nullptr)
            throw sim::input_error("--env {}: there is no such variable", text);
        all.push_back(text.find('=') == std::string::npos ? text + "=" + value : text);
    }
    return all;
}

std::vector<program_place> places_of(const exec_options& options, std::uint64_t nodes) {
    const auto commands = commands_of(options.programs);
    if (options.processes && commands.size() > 1)
        throw sim::input_error("exec: -n does not go with several programs, of which each runs once");
    const std::uint64_t count = options.processes     ? *options.processes
                                : commands.size() > 1 ? commands.size()
                                                      : nodes;
    if (!options.map.empty() && options.map.size() != count)
        throw sim::input_error("--map names {} nodes for {} processes", options.map.size(), count);
    std::vector<program_place> all;
    for (std::uint64_t i = 0; i < count; ++i)
        all.push_back(
            {.command = {.words = commands[i % commands.size()], .environment = environment_of(options)},
             .node = options.map.empty() ? static_cast<unsigned>(i % nodes) : options.map[i]});
    return all;
}

/// Of the programs' files, for the provenance.
std::string hash_of(const std::vector<program_place>& places) {
    std::string all;
    for (const program_place& one : places) all += sha256(read_file(find_program(one.command.words.front())));
    return sha256(all);
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

}  // namespace

int exec(const exec_options& options) {
    const auto started = std::chrono::steady_clock::now();
    const interrupt_guard interrupt;
    const design on = design_of(options);
    const std::vector<program_place> places = places_of(options, on.node_count());
    const std::string programs_hash = hash_of(places);
    const std::optional<firmware> image = firmware_of(on);
    output_places to(options);
    results found;
    found.expect_rows(places.size());
    platform built(on, image, mode_of(options));
    supervisor programs(built, places, std::chrono::milliseconds(options.grace_ms), found);
    const subject reported{.name = joined(options.programs),
                           .arguments = {{"processes", places.size()}},
                           .sha256 = programs_hash,
                           .command = options.command,
                           .expected_rows = places.size(),
                           .owns_output = false,
                           .begin = [&] { programs.launch(); },
                           .look_outside = [&](bool wait) { return programs.look_outside(wait); }};
    const status end = simulate(options, reported, on, image, built, found, to, started, interrupt);
    return end == status::done ? programs.exit_status() : static_cast<int>(end);
}

}  // namespace vinic::testbench
