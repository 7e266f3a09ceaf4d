// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/exec.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

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
    if (options.real_time) all.emplace_back("VINIC_REAL_TIME=1");
    for (const std::string& text : options.environment) {
        const char* const value = std::getenv(text.c_str());
        if (text.find('=') == std::string::npos && value == nullptr)
            throw sim::input_error("--env {}: there is no such variable", text);
        all.push_back(text.find('=') == std::string::npos ? text + "=" + value : text);
    }
    return all;
}

/// On which node each of `count` processes is.
std::vector<unsigned> nodes_of(const exec_options& options, std::uint64_t count, std::uint64_t nodes) {
    if (!options.map.empty() && options.map.size() != count)
        throw sim::input_error("--map names {} nodes for {} processes", options.map.size(), count);
    std::vector<unsigned> all = options.map;
    for (std::uint64_t i = all.size(); i < count; ++i) all.push_back(static_cast<unsigned>(i % nodes));
    return all;
}

/// Programs that something else starts.
attach_plan plan_for_others(const exec_options& options, std::uint64_t nodes) {
    attach_plan plan;
    for (const unsigned node : nodes_of(options, options.processes.value_or(nodes), nodes))
        plan.programs.push_back({.command = {}, .node = node});
    return plan;
}

attach_plan plan_of(const exec_options& options, std::uint64_t nodes) {
    const auto commands = commands_of(options.programs);
    const auto command = [&](const std::vector<std::string>& words) {
        return program_command{.words = words, .environment = environment_of(options)};
    };
    if (options.processes && commands.size() > 1)
        throw sim::input_error("exec: -n does not go with several programs, of which each runs once");
    if (options.launcher) {
        if (commands.size() > 1)
            throw sim::input_error("exec: --launcher takes one command, which starts all processes");
        attach_plan plan = plan_for_others(options, nodes);
        plan.launcher = command(commands.front());
        return plan;
    }
    const std::uint64_t count = options.processes     ? *options.processes
                                : commands.size() > 1 ? commands.size()
                                                      : nodes;
    attach_plan plan;
    for (const unsigned node : nodes_of(options, count, nodes))
        plan.programs.push_back(
            {.command = command(commands[plan.programs.size() % commands.size()]), .node = node});
    return plan;
}

/// Of the programs' files, for the provenance.
std::string hash_of(const attach_plan& plan) {
    std::string all;
    const auto add = [&](const program_command& one) {
        all += sha256(read_file(find_program(one.words.front())));
    };
    if (plan.launcher) add(*plan.launcher);
    for (const program_place& one : plan.programs)
        if (one.command) add(*one.command);
    return sha256(all);
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// What exec and serve have in common.
int attach_programs(const exec_options& options, const design& on, const attach_plan& plan,
                    std::chrono::steady_clock::time_point started, const interrupt_guard& interrupt) {
    const std::string programs_hash = hash_of(plan);
    const std::optional<firmware> image = firmware_of(on);
    output_places to(options);
    results found;
    found.expect_rows(plan.programs.size());
    platform built(on, image, mode_of(options));
    std::optional<output> record_to;
    std::optional<call_recorder> recorder;
    if (!options.record.empty()) {
        record_to.emplace(options.record);
        recorder.emplace(on.name);
    }
    if (options.cpu_scale != 0)
        fmt::print(
            stderr,
            "vinic: --cpu-scale charges processor time as it was measured: this run is not reproducible\n");
    supervisor programs(
        built, plan, {.grace = std::chrono::milliseconds(options.grace_ms), .cpu_scale = options.cpu_scale},
        found, recorder ? &*recorder : nullptr);
    const subject reported{.name = options.programs.empty() ? "programs" : joined(options.programs),
                           .arguments = {{"processes", plan.programs.size()}},
                           .sha256 = programs_hash,
                           .command = options.command,
                           .expected_rows = plan.programs.size(),
                           .owns_output = false,
                           .begin = [&] { programs.launch(); },
                           .look_outside = [&](bool wait) { return programs.look_outside(wait); }};
    const status end = simulate(options, reported, on, image, built, found, to, started, interrupt);
    if (recorder) record_to->commit(recorder->text());
    return end == status::done ? programs.exit_status() : static_cast<int>(end);
}

}  // namespace

int exec(const exec_options& options) {
    const auto started = std::chrono::steady_clock::now();
    const interrupt_guard interrupt;
    const design on = design_of(options);
    return attach_programs(options, on, plan_of(options, on.node_count()), started, interrupt);
}

int serve(const serve_options& options) {
    const auto started = std::chrono::steady_clock::now();
    const interrupt_guard interrupt;
    const design on = design_of(options);
    attach_plan plan = plan_for_others(options, on.node_count());
    plan.socket = std::filesystem::absolute(options.socket).string();
    return attach_programs(options, on, plan, started, interrupt);
}

}  // namespace vinic::testbench
