// SPDX-License-Identifier: Apache-2.0
#include "testbench/validation/simulations.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <sstream>

#include "testbench/cli/interrupt.h"
#include "testbench/study/local_engine.h"
#include "testbench/study/plan.h"
#include "testbench/study/runner.h"

namespace vinic::testbench::validation {

namespace {

constexpr std::chrono::milliseconds between_looks{250};

/// The line of a log that says why: vinic's own last one.
std::string reason_in(const std::string& log) {
    std::size_t at = log.rfind("vinic: ");
    at = at == std::string::npos ? 0 : at + 7;
    return log.substr(at, log.find('\n', at) - at);
}

/// A number, or a text with its blanks back.
json value_of(std::string word) {
    const json number = json::parse(word, nullptr, false);
    if (number.is_number()) return number;
    std::ranges::replace(word, '_', ' ');
    return word;
}

}  // namespace

std::size_t simulations::want(const std::vector<std::string>& command,
                              const std::vector<std::string>& arguments, output what) {
    const auto same = std::ranges::find_if(
        runs_, [&](const one_run& r) { return r.command == command && r.arguments == arguments; });
    if (same != runs_.end()) return static_cast<std::size_t>(same - runs_.begin());
    runs_.push_back({.command = command, .arguments = arguments, .what = what});
    return runs_.size() - 1;
}

std::vector<std::string> simulations::words(const one_run& of, const std::vector<std::string>& more) {
    std::vector<std::string> all = of.command;
    all.insert(all.end(), more.begin(), more.end());
    if (!of.arguments.empty()) all.push_back("--");
    all.insert(all.end(), of.arguments.begin(), of.arguments.end());
    return all;
}

std::string simulations::command(std::size_t number) const {
    return "vinic " + study::shell_text(words(runs_.at(number), {}));
}

void simulations::show_progress(std::size_t done, double seconds) const {
    if (!options_.progress) return;
    std::string line = fmt::format("{} of {} simulations", done, runs_.size());
    if (done != 0 && done != runs_.size())
        line += fmt::format(", about {} left", study::clock_text(seconds / static_cast<double>(done) *
                                                                 static_cast<double>(runs_.size() - done)));
    fmt::print(stderr, "\r\x1b[K{}", done == runs_.size() ? "" : line);
    std::fflush(stderr);
}

void simulations::read_table(const std::string& text, one_run& to) {
    std::vector<std::string> keys;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# ")) {
            to.remark = line.substr(2);
            continue;
        }
        std::istringstream of(line);
        const std::vector<std::string> words{std::istream_iterator<std::string>(of), {}};
        if (keys.empty()) {
            keys = words;
            continue;
        }
        json& row = to.rows.emplace_back(json::object());
        for (std::size_t i = 0; i < std::min(keys.size(), words.size()); ++i)
            row[keys[i]] = value_of(words[i]);
    }
}

void simulations::read(const std::string& text, one_run& to) {
    if (to.what == output::table) return read_table(text, to);
    const json result = json::parse(text, nullptr, false);
    if (result.is_object() && result.contains("results")) to.rows = result["results"];
}

void simulations::run() {
    const interrupt_guard interrupt;
    const auto begun = std::chrono::steady_clock::now();
    study::local_engine engine(options_.jobs != 0 ? options_.jobs : study::processors(), options_.limits);
    std::size_t next = 0, done = 0;
    while (done != runs_.size()) {
        while (next != runs_.size() && engine.has_room()) {
            const bool report = runs_[next].what == output::report;
            engine.start(next,
                         words(runs_[next], report ? std::vector<std::string>{"--json", "-", "--reproducible"}
                                                   : std::vector<std::string>{"--reproducible"}));
            ++next;
        }
        for (const auto& ended : engine.wait(between_looks)) {
            one_run& to = runs_.at(ended.index);
            read(ended.output, to);
            if (ended.status != "done" || (to.rows.empty() && to.remark.empty()))
                to.failure = ended.log.empty() ? ended.status : reason_in(ended.log);
            ++done;
        }
        if (interrupt_guard::raised())
            throw interrupted(fmt::format("interrupted after {} of {} simulations", done, runs_.size()));
        show_progress(done, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    }
}

}  // namespace vinic::testbench::validation
