// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "hw/sim/random.h"
#include "testbench/platform/workload.h"
#include "testbench/report/json.h"

struct lua_State;

namespace vinic::testbench {

/// What a script did wrong, raised from within one of our functions: becomes a Lua error with its position.
class script_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A workload in Lua 5.4. The file is executed once, before the simulation: it declares its arguments and its
/// processes. Each process is a coroutine that runs on a simulated process of its own; all share the globals.
///
/// Scripts are shut in: no io, os, package, debug, no bytecode, unless `unsafe`; and what they see is the
/// same in every run: ordered `pairs` and `next`, a stable sort, a seeded `math.random`, no addresses in
/// texts.
class script : public workload {
public:
    /// Executes the file. Throws input_error with the Lua line and traceback, or for a wrong argument.
    script(const std::filesystem::path& file, const workload_options& given);
    ~script() override;

    const std::vector<workload_argument>& arguments() const override { return arguments_; }
    std::string description() const override { return description_; }
    std::vector<workload_process> processes() override;
    std::size_t expected_rows() const override { return expected_rows_; }
    std::string sha256() const override { return sha256_; }

    /// For the functions that scripts call. A process of the script with what belongs to it.
    struct task {
        script* owner = nullptr;
        unsigned node = 0;
        std::string name;
        int function = 0;  ///< reference in Lua's registry
        int thread = 0;    ///< the coroutine's reference
        sim::random_stream random;
        process_environment* environment = nullptr;  ///< while it runs
    };
    static script& of(lua_State* state);
    /// The task on whose behalf Lua runs; throws script_error while the file is being executed.
    task& current();
    task* running() const { return running_; }
    void running(task* which) { running_ = which; }
    sim::random_stream& random() { return running_ ? running_->random : load_random_; }

    void declare_argument(workload_argument declared) { arguments_.push_back(std::move(declared)); }
    /// The text that was given for an argument; null when none was.
    const std::string* given_argument(const std::string& name) const;
    void expect_rows(std::size_t count) { expected_rows_ = count; }
    void describe(std::string text) { description_ = std::move(text); }
    void add_process(unsigned node, std::string name, int function);
    std::uint64_t nodes() const { return options_.nodes; }
    std::uint64_t cards() const { return options_.cards; }
    /// What the design's programs use unless they are told otherwise: "vi", "udp" or "tcp".
    const std::string& transport() const { return options_.transport; }
    const std::vector<std::string>& transports() const { return options_.transports; }
    bool executing_file() const { return executing_file_; }

    /// An exception that must reach the kernel: kept while Lua unwinds.
    void keep_failure(std::exception_ptr what) { failure_ = std::move(what); }
    bool failed() const { return failure_ != nullptr; }

private:
    void execute_file(const std::filesystem::path& file);
    void run_task(task& which, process_environment& in);
    /// Throws the failure that was kept, or an input_error with the text on top of the stack.
    [[noreturn]] void raise();

    workload_options options_;
    std::size_t used_bytes_ = 0;
    lua_State* state_;
    std::vector<std::pair<std::string, std::string>> given_;
    std::vector<workload_argument> arguments_;
    std::string description_;
    std::size_t expected_rows_ = 0;
    std::string sha256_;
    std::deque<task> tasks_;
    task* running_ = nullptr;
    sim::random_stream load_random_;
    bool executing_file_ = true;
    std::exception_ptr failure_;
};

}  // namespace vinic::testbench
