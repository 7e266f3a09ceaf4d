// SPDX-License-Identifier: Apache-2.0
// Connections, errors and sending again decided by state machines, at once.
#pragma once

#include <cstdint>

#include "hw/nic/vi_engine/control.h"
#include "hw/nic/vi_engine/vi_operations.h"

namespace vinic::nic {

class control_machines : public control {
public:
    explicit control_machines(vi_operations& vis) : vis_(vis) {}

    void raise(vi_context& of, abi::xuni::control_event what, std::uint32_t argument) override;
    step<std::uint32_t> command(const card_command& what) override;

private:
    void time_over(vi_context& of);
    void peer_refused(vi_context& of, std::uint32_t status);
    std::uint32_t create(const abi::vi_engine::create_vi_arguments& a);
    std::uint32_t set(const abi::vi_engine::create_vi_arguments& a);
    step<std::uint32_t> connect(abi::vi_engine::connect_vi_arguments a);
    step<std::uint32_t> destroy(std::uint32_t number);
    step<std::uint32_t> end(vi_context& of, abi::vi_engine::vi_state next);
    step<std::uint32_t> disconnect(std::uint32_t number, std::uint32_t next, bool keep);
    step<std::uint32_t> send_control(abi::vi_engine::send_control_arguments a);
    bool good_queue(std::uint32_t number) const;

    vi_operations& vis_;
};

}  // namespace vinic::nic
