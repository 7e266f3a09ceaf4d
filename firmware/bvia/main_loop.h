// SPDX-License-Identifier: Apache-2.0

// The main loop. Each turn looks at one place for doorbells and at what everybody waits for; when nothing
// happens it only loads, so that the simulator can skip its turns exactly.
#pragma once

#include "firmware/bvia/command.h"

namespace vinic::bvia {

inline constexpr uint32_t serviced_bits = hardware::ISR_RECV | hardware::ISR_BUFF | hardware::ISR_SEND;

inline void service(uint32_t bits) {
    if (bits & hardware::ISR_SEND) send_engine_done();
    if (bits & hardware::ISR_RECV) take_arrival();
    if (bits & hardware::ISR_BUFF) packet_too_long();
}

inline uint32_t something_to_do() {
    return arrived | (events.waiting_head ^ events.waiting_tail) |
           when(first_scheduled != nullptr && can_fill(), 1);
}

inline void poll() {
    const uint32_t todo = something_to_do();
    const uint32_t done = last_command;
    auto* at = doorbells::next();
    auto* looked_at = at;
    uint32_t bits, asked, rung;
    do {
        rung = doorbells::look(at);
        bits = hardware::load(hardware::ISR) & serviced_bits;
        asked = card_interface.command_number ^ done;
        looked_at = at;
        at = doorbells::behind(at);
    } while (hardware::moves_by_itself && (rung | bits | asked | todo) == 0);
    doorbells::looked(at);
    if (bits != 0) service(bits);
    if (rung != 0) doorbells::take(looked_at);
    if (arrived != 0) run_receive();
    if (first_scheduled != nullptr && can_fill()) run_send();
    if (asked != 0) run_command();
    run_events();
}

inline void publish_limits() {
    card_interface.max_vis = max_vis;
    card_interface.max_regions = max_regions;
    card_interface.max_completion_queues = max_completion_queues;
    card_interface.max_processes = max_processes;
    card_interface.max_segments = max_segments;
    card_interface.max_transfer_bytes = max_transfer_bytes;
    card_interface.reliability_mask = abi::vi_unreliable;
    card_interface.doorbell_pages = doorbells::published();
    card_interface.push_areas = hardware::sram_address(push_areas);
    card_interface.physical_regions = 1;
}

inline void initialise() {
    using namespace hardware;
    events.pass = 1;
    store(ISR, ~static_cast<uint32_t>(ISR_HOST_SIG));
    store(MYRINET, MYRINET_CRC_ENABLE);
    for (vi& one : vis) one.process = no_process;
    doorbells::initialise();
    arm_receive();
    store(EIMR, ISR_HOST_SIG);
    last_command = card_interface.command_number;
    publish_limits();
    card_interface.ready = 1;
}

}  // namespace vinic::bvia
