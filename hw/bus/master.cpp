// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/master.h"

#include <vector>

#include "hw/bus/burst_scheduler.h"
#include "hw/rtl/pcix_dma/initiator_block.h"
#include "hw/sim/error.h"

namespace vinic::bus {

master::master(const sc_core::sc_module_name& name, const bus_properties& bus, requester_id id,
               implementation how)
    : sim::module(name),
      socket("socket"),
      max_burst_bytes(*this, {.name = "max_burst_bytes",
                              .unit = "bytes",
                              .value = 4096,
                              .min = 4,
                              .max = 1 << 20,
                              .help = "most bytes of one write, and of one read on PCI",
                              .source = "facts/lanai_pcix.md C1: a driver setting, 256 is usual"}),
      burst_boundary_bytes(*this, {.name = "burst_boundary_bytes",
                                   .unit = "bytes",
                                   .value = 4096,
                                   .choices = {32, 64, 128, 256, 512, 1024, 2048, 4096},
                                   .help = "no burst crosses a multiple of this address",
                                   .source = "facts/lanai_pcix.md C1"}),
      max_read_bytes(*this, {.name = "max_read_bytes",
                             .unit = "bytes",
                             .value = 512,
                             .choices = {512, 1024, 2048, 4096},
                             .help = "PCI-X: maximum memory read byte count (MMRBC)",
                             .source = "facts/lanai_pcix.md C2"}),
      max_outstanding_splits(*this, {.name = "max_outstanding_splits",
                                     .value = 1,
                                     .choices = {1, 2, 3, 4, 8, 12, 16, 32},
                                     .help = "PCI-X: reads whose completions may be awaited at a time",
                                     .source = "facts/lanai_pcix.md C2"}),
      write_and_invalidate(*this, {.name = "write_and_invalidate",
                                   .value = false,
                                   .help = "PCI: write whole cache lines with memory write and invalidate"}),
      bus_(bus),
      id_(id) {
    socket.bind(static_cast<tlm::tlm_bw_transport_if<protocol>&>(*this));
    // Or a store into a register would become two.
    if (max_burst_bytes % 4 != 0)
        throw sim::input_error("{}: max_burst_bytes {} is no multiple of 4", this->name(),
                               max_burst_bytes.get());
    initiator::surroundings& around = *this;
    if (how == implementation::rtl)
        bursts_ = rtl::make_initiator(around);
    else
        bursts_ = std::make_unique<burst_scheduler>(around, this->name());
}

master::~master() = default;

void master::start(job& what) {
    if (what.bytes.empty()) throw sim::model_error(name(), "a job without bytes");
    what.issued = what.moved = 0;
    what.splits = 0;
    what.started = sim::now();
    what.not_before = 0;
    what.status = job_status::done;
    bursts_->start(what);
}

burst_limits master::limits() const {
    return {.max_burst_bytes = static_cast<std::uint32_t>(max_burst_bytes),
            .burst_boundary_bytes = static_cast<std::uint32_t>(burst_boundary_bytes),
            .max_read_bytes = static_cast<std::uint32_t>(max_read_bytes),
            .max_outstanding_splits = static_cast<std::uint32_t>(max_outstanding_splits),
            .write_and_invalidate = write_and_invalidate};
}

tlm::tlm_sync_enum master::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& what,
                                           sc_core::sc_time&) {
    bursts_->on_phase(payload, what);
    return tlm::TLM_ACCEPTED;
}

void master::to_bus(transaction& which, tlm::tlm_phase what) {
    sc_core::sc_time unused;
    socket->nb_transport_fw(which.payload, what, unused);
}

void master::count_moved(const job& j, std::uint64_t bytes) {
    (j.what == job::kind::read ? bytes_read : bytes_written).add(bytes);
}

std::size_t master::debug_read(std::uint64_t address, std::span<std::uint8_t> bytes) {
    tlm::tlm_generic_payload payload;
    payload.set_read();
    payload.set_address(address);
    payload.set_data_ptr(bytes.data());
    payload.set_data_length(static_cast<unsigned>(bytes.size()));
    return socket->transport_dbg(payload);
}

std::size_t master::debug_write(std::uint64_t address, std::span<const std::uint8_t> bytes) {
    std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
    tlm::tlm_generic_payload payload;
    payload.set_write();
    payload.set_address(address);
    payload.set_data_ptr(copy.data());
    payload.set_data_length(static_cast<unsigned>(copy.size()));
    return socket->transport_dbg(payload);
}

}  // namespace vinic::bus
