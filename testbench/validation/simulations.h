// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "testbench/report/json.h"
#include "testbench/study/study_file.h"

namespace vinic::testbench::validation {

/// Runs that somebody needs the rows of, each simulated once, in a process of its own, so many at a time.
class simulations {
public:
    struct options {
        std::size_t jobs = 0;   ///< 0: as many as there are processors
        bool progress = false;  ///< a line on standard error that follows
        study::limits limits{.seconds = 1800};
    };
    explicit simulations(const options& how) : options_(how) {}

    /// What a run writes to standard output.
    enum class output {
        report,  ///< in JSON
        table,   ///< of a program: a line of keys and lines of rows; one that begins with # is a remark
    };
    /// `command`: the words behind `vinic` that run it, up to the workload's arguments, and those. Returns
    /// the number under which its result is found; that of the same run if it is wanted already.
    std::size_t want(const std::vector<std::string>& command, const std::vector<std::string>& arguments,
                     output what = output::report);
    std::size_t count() const { return runs_.size(); }

    /// Throws `interrupted`.
    void run();

    /// The rows of a run; empty when it did not end well.
    const json& rows(std::size_t number) const { return runs_.at(number).rows; }
    /// Why there are none; empty when there are.
    const std::string& failure(std::size_t number) const { return runs_.at(number).failure; }
    /// What a program remarked.
    const std::string& remark(std::size_t number) const { return runs_.at(number).remark; }
    /// As a shell takes it.
    std::string command(std::size_t number) const;

private:
    struct one_run {
        std::vector<std::string> command;
        std::vector<std::string> arguments;
        output what = output::report;
        json rows = json::array();
        std::string failure;
        std::string remark;
    };
    static void read(const std::string& text, one_run& to);
    static void read_table(const std::string& text, one_run& to);
    static std::vector<std::string> words(const one_run& of, const std::vector<std::string>& more);
    void show_progress(std::size_t done, double seconds) const;

    options options_;
    std::vector<one_run> runs_;
};

}  // namespace vinic::testbench::validation
