// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/vipl/conformance/machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "testbench/platform/firmware.h"
#include "testbench/platform/platform.h"
#include "testbench/platform/setup.h"
#include "vipl/program.h"

namespace vinic::vipl::test {

namespace {

/// MyVIA, unless the environment names another design.
const testbench::design& shipped() {
    static const testbench::design loaded = [] {
        const char* other = std::getenv("VINIC_CONFORMANCE_DESIGN");
        return testbench::load_design(other ? other : "myvia");
    }();
    return loaded;
}

testbench::design design_of(unsigned count, const settings& values) {
    testbench::design d = shipped();
    d.nodes = {std::to_string(count), "test"};
    if (count != 2 && d.topology.shape.text == "back_to_back")
        testbench::apply_setting(d, "topology", "switch");
    for (const auto& [parameter, value] : values) testbench::apply_setting(d, parameter, value);
    return d;
}

const std::optional<testbench::firmware>& firmware() {
    static const std::optional<testbench::firmware> loaded =
        shipped().firmware ? std::optional(testbench::load_firmware(*shipped().firmware)) : std::nullopt;
    return loaded;
}

/// The programs of a test as a workload.
class given : public testbench::workload {
public:
    explicit given(std::vector<testbench::workload_process> programs) : programs_(std::move(programs)) {}
    std::string description() const override { return ""; }
    const std::vector<testbench::workload_argument>& arguments() const override { return none_; }
    std::vector<testbench::workload_process> processes() override { return programs_; }
    std::string sha256() const override { return ""; }

private:
    std::vector<testbench::workload_process> programs_;
    std::vector<testbench::workload_argument> none_;
};

}  // namespace

void environment::thread(const std::function<void(host::process&)>& body) {
    ++running_;
    program& whole = program::current().of;
    machine.host.cpu.spawn("thread", &memory, [this, &whole, body](host::process& on) {
        const program::scope mine(whole, on);
        body(on);
        --running_;
    });
}

void environment::join() {
    while (running_ > 0) self.sleep_for(10 * us);
}

void environment::until(const std::function<bool()>& condition) {
    const sim::picoseconds limit = sim::now() + 1'000 * ms;
    while (!condition()) {
        if (sim::now() >= limit) {
            ADD_FAILURE() << "waited in vain";
            return;
        }
        self.sleep_for(20 * us);
    }
}

struct machines::parts {
    parts(unsigned count, const settings& values) : platform(design_of(count, values), firmware(), {}) {}

    testbench::platform platform;
    std::vector<testbench::workload_process> programs;
    testbench::results report;
};

machines::machines(unsigned count, const settings& values) : parts_(std::make_unique<parts>(count, values)) {}
machines::~machines() = default;

void machines::program(unsigned on, std::function<void(environment&)> body) {
    parts_->programs.push_back({on, "", [this, body = std::move(body)](testbench::process_environment& in) {
                                    environment mine(*parts_->platform.nodes().at(in.node), in.self,
                                                     in.memory);
                                    body(mine);
                                    mine.join();
                                }});
}

void machines::run() {
    constexpr sim::picoseconds stretch = 10 * ms;
    constexpr sim::picoseconds limit = 20'000 * ms;
    testbench::platform& built = parts_->platform;
    given programs(parts_->programs);
    built.load(programs, parts_->report);
    while (!built.finished() && !abandoned_ && sim::now() < limit && sc_core::sc_pending_activity()) {
        // Time only goes where events are.
        const sim::picoseconds next = sc_core::sc_time_to_pending_activity().value();
        sc_core::sc_start(sim::to_sc_time(std::max(stretch, next)), sc_core::SC_EXIT_ON_STARVATION);
        built.check_processes();
    }
    if (built.finished() || abandoned_) return;
    for (const std::string& line : built.waiting()) ADD_FAILURE() << line;
}

}  // namespace vinic::vipl::test
