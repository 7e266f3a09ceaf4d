// SPDX-License-Identifier: Apache-2.0
#include "testbench/workloads/bus.h"

#include "hw/host/process.h"
#include "hw/sim/error.h"
#include "hw/sim/simulation.h"
#include "testbench/platform/measurement.h"
#include "testbench/platform/node.h"
#include "testbench/report/results.h"
#include "testbench/workloads/arguments.h"
#include "vipl/vipl.h"

namespace vinic::testbench {

namespace {

/// Its place on the bus: the last device number, which no card of a node has.
constexpr bus::requester_id device_id{.bus = 0, .device = 31, .function = 0};
constexpr std::uint64_t page = 4096;

/// PCI-X: the maximum memory read byte count is one of a few; the smallest that holds the burst.
std::uint64_t read_count_for(std::uint64_t burst_bytes) {
    std::uint64_t count = 512;
    while (count < burst_bytes && count < page) count *= 2;
    return count;
}

}  // namespace

bus_workload::bus_workload(const workload_options& options)
    : blocks_(declare_number(
          arguments_, options,
          {.name = "blocks", .value = {}, .default_text = "32", .unit = "", .help = "Blocks of the chain"}, 1,
          4096)),
      block_bytes_(declare_number(arguments_, options,
                                  {.name = "block_bytes",
                                   .value = {},
                                   .default_text = "4096",
                                   .unit = "bytes",
                                   .help = "Bytes of a block; blocks begin at pages"},
                                  8, page)),
      burst_bytes_(declare_number(arguments_, options,
                                  {.name = "burst_bytes",
                                   .value = {},
                                   .default_text = "4096",
                                   .unit = "bytes",
                                   .help = "Most bytes of a burst; PCI-X reads: of a sequence, 512 at least"},
                                  8, page)),
      splits_(declare_number(arguments_, options,
                             {.name = "splits",
                              .value = {},
                              .default_text = "1",
                              .unit = "",
                              .help = "PCI-X: reads that may be outstanding"},
                             1, 32)) {
    check_argument_names("bus", options, arguments_);
}

std::unique_ptr<sc_core::sc_module> bus_workload::device_for(node& one) {
    if (one.number() != 0) return nullptr;
    on_ = &one;
    const auto set = [](const char* parameter, std::uint64_t value, const char* argument) {
        sim::simulation::current().config().set(
            std::string("exerciser.master.") + parameter,
            {std::to_string(value), std::string("argument ") + argument, ""});
    };
    set("max_burst_bytes", burst_bytes_, "burst_bytes");
    set("max_read_bytes", read_count_for(burst_bytes_), "burst_bytes");
    set("max_outstanding_splits", splits_, "splits");
    auto device = std::make_unique<bus::exerciser>("exerciser", one.bus.properties(), device_id);
    device->attach(one.bus);
    device_ = device.get();
    return device;
}

void bus_workload::measure(process_environment& in, bus::job::kind what) {
    host::wait_queue finished("end of the chain");
    bus::exerciser::chain chain{.what = what, .addresses = {}, .block_bytes = block_bytes_};
    const std::uint64_t buffer = on_->host.memory.allocate_contiguous(blocks_ * page);
    for (std::uint64_t i = 0; i < blocks_; ++i) chain.addresses.push_back(buffer + i * page);
    bus::exerciser::outcome went;
    in.measured.begin();
    device_->start(chain, [&](const bus::exerciser::outcome& outcome) {
        went = outcome;
        finished.wake_one();
    });
    in.self.block(finished);
    in.measured.end();
    on_->host.memory.free_contiguous(buffer, blocks_ * page);
    if (went.aborted) throw sim::model_error(device_->name(), "the bus aborted a block in host memory");

    if (went.ended == went.begun)
        throw sim::input_error("bus: with a bus and a host that are free, DMA takes no time to measure");
    const double ps = static_cast<double>(went.ended - went.begun);
    const double clock_ps = static_cast<double>(on_->bus.properties().clock.span(1));
    in.report.add_row(sim::now(), in.index,
                      {{"direction", what == bus::job::kind::read ? "read" : "write"},
                       {"blocks", blocks_},
                       {"block_bytes", block_bytes_},
                       {"first_word_clocks", static_cast<double>(went.first_word - went.begun) / clock_ps},
                       {"block_clocks", ps / clock_ps / static_cast<double>(blocks_)},
                       {"bandwidth_mbytes_per_s", static_cast<double>(blocks_ * block_bytes_) * 1e6 / ps}});
}

std::vector<workload_process> bus_workload::processes() {
    return {{0, "exerciser", [this](process_environment& in) {
                 // The driver starts the design's card over the same bus; once the NIC opens, that is over.
                 VIP_NIC_HANDLE nic{};
                 if (VipOpenNic("VINIC", &nic) != VIP_SUCCESS)
                     throw sim::input_error("bus: the card of node 0 does not open");
                 for (const auto what : {bus::job::kind::read, bus::job::kind::write}) measure(in, what);
             }}};
}

}  // namespace vinic::testbench
