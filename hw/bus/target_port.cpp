// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/target_port.h"

#include "hw/bus/master.h"
#include "hw/sim/error.h"

namespace vinic::bus {

target_port::target_port(const sc_core::sc_module_name& name, const bus_properties& bus,
                         target_device& device, master* completions)
    : sim::module(name), socket("socket"), bus_(bus), device_(device), completions_(completions) {
    socket.bind(static_cast<tlm::tlm_fw_transport_if<protocol>&>(*this));
}

void target_port::stop() {
    if (!at_hand_) return;
    tlm::tlm_phase p = phase::stop;
    sc_core::sc_time unused;
    socket->nb_transport_bw(*at_hand_, p, unused);
}

tlm::tlm_sync_enum target_port::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& what,
                                                sc_core::sc_time&) {
    auto& pci = pci_extension::of(payload);
    const bool completion = bus_.kind == bus_kind::pcix && pci.command == command::split_completion;
    if (completion && !completions_)
        throw sim::model_error(name(), "a split completion for a device without a master");
    if (what == phase::address) {
        at_hand_ = &payload;
        if (!completion) pci.answer = device_.on_address(payload, pci);
    } else if (what == phase::data) {
        completion ? completions_->completions().on_completion_schedule(payload, pci) : device_.on_schedule(payload, pci);
    } else if (what == phase::cut) {
        completion ? completions_->completions().on_completion_cut(pci) : device_.on_cut(payload, pci);
    } else if (what == phase::repeated) {
        device_.on_repeated(pci.repeats);
    } else if (what == phase::transfer) {
        at_hand_ = nullptr;
        transfer(payload, pci, completion);
    } else {
        throw sim::model_error(name(), "a phase that is not for targets");
    }
    return tlm::TLM_ACCEPTED;
}

void target_port::transfer(tlm::tlm_generic_payload& payload, const pci_extension& pci, bool completion) {
    const std::span<std::uint8_t> bytes(payload.get_data_ptr(), pci.schedule.bytes);
    if (completion) {
        completions_->completions().on_completion(pci, bytes);
    } else if (is_read(pci.command, bus_.kind)) {
        device_.on_read(pci, payload.get_address(), bytes);
    } else {
        device_.on_write(pci, payload.get_address(), bytes);
    }
}

void target_port::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    const auto& pci = pci_extension::of(payload);
    const std::span<std::uint8_t> bytes(payload.get_data_ptr(), payload.get_data_length());
    if (payload.is_read())
        device_.on_read(pci, payload.get_address(), bytes);
    else
        device_.on_write(pci, payload.get_address(), bytes);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

unsigned target_port::transport_dbg(tlm::tlm_generic_payload& payload) {
    const std::span<std::uint8_t> bytes(payload.get_data_ptr(), payload.get_data_length());
    const std::uint64_t at = payload.get_address();
    return static_cast<unsigned>(payload.is_read() ? device_.debug_read(at, bytes)
                                                   : device_.debug_write(at, bytes));
}

}  // namespace vinic::bus
