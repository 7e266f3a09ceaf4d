// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "testbench/cli/command_line.h"
#include "testbench/cli/options.h"

namespace vinic::testbench {

struct run_options : simulation_options {
    std::string workload;
    std::vector<std::string> arguments;  ///< of the workload: what followed "--"
    std::string command;                 ///< the whole command line, for the provenance
    bool help_workload = false;          ///< list the workload's arguments instead
};
status run(const run_options&);

struct designs_options : result_options {};
status list_designs(const designs_options&);

struct params_options : platform_options, result_options {
    std::string pattern;
};
status list_parameters(const params_options&);

struct stats_options : platform_options, result_options {
    std::string pattern;
};
status list_statistics(const stats_options&);

struct firmware_options : platform_options, result_options {
    std::string source;  ///< folder, of `firmware build`
    std::string image;   ///< -o of `firmware build`
    bool allow_other_clang = false;
    std::string function;  ///< glob; empty: all
};
status show_firmware(const firmware_options&);
status build_firmware(const firmware_options&);

struct compare_options : result_options {
    std::string before;
    std::string after;
    std::optional<double> tolerance_percent;
};
status disassemble();
status compare(const compare_options&);

struct validate_options : result_options {
    std::vector<std::string> designs{"all"};
    std::string figures;  ///< empty: the file that ships
    std::optional<double> tolerance_percent;
    std::size_t jobs = 0;  ///< 0: as many as there are processors
};
status validate(const validate_options&);

struct vibe_options : result_options {
    std::vector<std::string> designs{"myvia"};
    std::vector<std::string> settings;  ///< "name=value"
    std::vector<std::string> tests;     ///< names; empty: all
    std::uint64_t seed = 1;
    std::size_t jobs = 0;  ///< 0: as many as there are processors
};
status vibe_suite(const vibe_options&);

struct trace_check_options : result_options {
    std::vector<std::string> files;
};
status check_traces(const trace_check_options&);

}  // namespace vinic::testbench
