// SPDX-License-Identifier: Apache-2.0
// What the engine can do with a VI besides its messages. Whoever decides (control.h) has made sure that it
// may be done.
#pragma once

#include <cstdint>

#include "firmware/abi/vi_engine_card.h"
#include "hw/nic/vi_engine/completion_writer.h"
#include "hw/nic/vi_engine/descriptor_fetch.h"
#include "hw/nic/vi_engine/event_writer.h"
#include "hw/nic/vi_engine/host_transfers.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/packet_maker.h"
#include "hw/nic/vi_engine/reliability.h"
#include "hw/nic/vi_engine/send_engine.h"
#include "hw/nic/vi_engine/vi_context.h"
#include "hw/nic/vi_engine/vi_table.h"

namespace vinic::nic {

class vi_operations {
public:
    struct blocks {
        host_transfers& dma;
        descriptor_fetch& descriptors;
        event_writer& events;
        completion_writer& completions;
        vi_table& vis;
        send_engine& out;
        reliability& reliable;
        packet_maker& maker;
    };
    explicit vi_operations(const blocks& on) : on_(on) {}

    vi_context& at(std::uint32_t vi) { return on_.vis.at(vi); }
    /// Of a completion queue; 0: there is none of that number.
    std::uint32_t queue_entries(std::uint32_t number) const;

    // Connections
    void create(const abi::vi_engine::create_vi_arguments& a);
    void set(const abi::vi_engine::create_vi_arguments& a);
    void connect(const abi::vi_engine::connect_vi_arguments& a);
    /// The connection ends, and what is posted is flushed.
    void leave(vi_context& of, abi::vi_engine::vi_state next);
    /// The same without the flush.
    void stop(vi_context& of, abi::vi_engine::vi_state next) { on_.vis.stop(of, next); }
    step<bool> send_control(abi::vi_engine::send_control_arguments a);

    step<bool> flushed(vi_context& of);
    /// No descriptor of the VI is on its way.
    step<bool> fetched(vi_context& of);
    /// What was decided before has reached host memory.
    step<bool> written();

    // Errors, sending again
    void send_again(vi_context& of);
    void halt(vi_context& of) { on_.vis.halt(of); }
    /// The connection is of no more use: the oldest descriptor says why, unless `status` is 0; the rest is
    /// flushed.
    void break_connection(vi_context& of, std::uint32_t status);
    /// A reliable connection breaks on the receiver's side, and the peer is told why.
    void refuse_connection(vi_context& of, std::uint32_t status);
    /// An event for the kernel agent.
    void report(const vi_context& of, abi::vi_engine::event_kind kind, std::uint32_t argument = 0) {
        on_.events.post(kind, of.index, argument);
    }
    void report(const vi_context& of, vip_error code) { on_.events.post_error(of.index, code); }

private:
    blocks on_;
};

}  // namespace vinic::nic
