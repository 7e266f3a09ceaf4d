// SPDX-License-Identifier: Apache-2.0
#include "testbench/workloads/replay.h"

#include <algorithm>

#include "hw/sim/error.h"
#include "testbench/platform/measurement.h"
#include "testbench/platform/node.h"
#include "testbench/report/results.h"
#include "testbench/workloads/arguments.h"
#include "testbench/workloads/replayed_process.h"

namespace vinic::testbench {

replay::replay(const std::filesystem::path& file, const workload_options& options)
    : trace_(load_call_trace(file)) {
    check_argument_names(trace_.file, options, no_arguments_);
    if (trace_.nodes() > options.nodes)
        throw sim::input_error("{}: its programs ran on {} nodes, here are {} (--nodes)", trace_.file,
                               trace_.nodes(), options.nodes);
}

replay::~replay() = default;

std::string replay::description() const {
    return fmt::format("The VIPL calls of {} programs, recorded on {}", trace_.processes.size(),
                       trace_.design);
}

std::unique_ptr<sc_core::sc_module> replay::device_for(node& on) {
    nodes_.push_back(&on);
    return nullptr;
}

std::vector<workload_process> replay::processes() {
    std::vector<workload_process> all;
    for (unsigned i = 0; i < trace_.processes.size(); ++i) {
        const call_trace::process& one = trace_.processes[i];
        processes_.push_back(
            std::make_unique<replayed_process>(trace_, i, processes_, nodes_.at(one.node)->host.cpu));
        all.push_back(
            {one.node, fmt::format("{} (process {})", one.program, i), [&one, this](process_environment& in) {
                 in.measured.begin();
                 processes_[in.index]->run(in.self, in.memory);
                 in.measured.end();
                 in.report.add_row(sim::now(), in.index,
                                   {{"process", in.index},
                                    {"node", in.node},
                                    {"program", one.program},
                                    {"ended_us", static_cast<double>(sim::now()) / 1e6},
                                    {"recorded_us", static_cast<double>(one.ended) / 1e6}});
             }});
    }
    return all;
}

}  // namespace vinic::testbench
