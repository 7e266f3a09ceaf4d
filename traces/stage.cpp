// SPDX-License-Identifier: Apache-2.0
#include "traces/stage.h"

#include <fmt/format.h>

namespace vinic::traces {

namespace {

constexpr std::array<const char*, activities> activity_names{"VIPL",
                                                             "wait in the posting buffer",
                                                             "core busy with other work",
                                                             "wait until the core looks",
                                                             "firmware",
                                                             "engine",
                                                             "earlier packets of the message",
                                                             "wait for the DMA channel",
                                                             "start",
                                                             "wait for the engine",
                                                             "fetch of the DMA block",
                                                             "set-up of the DMA block",
                                                             "up to REQ#",
                                                             "wait for the bus",
                                                             "address phase",
                                                             "wait for host memory",
                                                             "data phases",
                                                             "into the SRAM",
                                                             "checksum and WAKE",
                                                             "head of the packet",
                                                             "rest of the packet",
                                                             "wait until visible",
                                                             "wait until the program looks",
                                                             "library",
                                                             "trap",
                                                             "descriptor",
                                                             "protocol",
                                                             "buffer",
                                                             "copy",
                                                             "checksum",
                                                             "wait for acknowledgements",
                                                             "IP",
                                                             "driver",
                                                             "bridge and bus",
                                                             "earlier work of the card",
                                                             "read of the descriptor",
                                                             "frame from host memory",
                                                             "wait in the FIFO, start",
                                                             "frame on the wire",
                                                             "frame into host memory",
                                                             "status into host memory",
                                                             "wait for coalescing",
                                                             "delivery and entry",
                                                             "interrupt handler",
                                                             "earlier frames of the interrupt",
                                                             "driver, off the ring",
                                                             "backlog",
                                                             "softirq",
                                                             "IP",
                                                             "protocol",
                                                             "place in the buffer",
                                                             "copy",
                                                             "completion",
                                                             "wake-up",
                                                             "scheduler",
                                                             "copy",
                                                             "checksum",
                                                             "VipRecvDone",
                                                             "meanwhile"};

/// Those that the whole name says better.
const char* special_name(const stage& s) {
    if (s == stage{journey::post, activity::library}) return "VipPostSend up to the doorbell's store";
    if (s == stage{journey::post, activity::meanwhile}) return "rest of VipPostSend";
    if (s == stage{journey::payload, activity::meanwhile}) return "firmware makes the packet";
    if (s == stage{journey::data, activity::meanwhile}) return "DMA to host memory";
    if (s == stage{journey::completion, activity::meanwhile}) return "firmware prepares the completion";
    if (s == stage{journey::descriptor, activity::firmware}) return "firmware: doorbell to PULSE";
    if (s == stage{journey::payload, activity::firmware}) return "firmware: descriptor to PULSE";
    if (s == stage{journey::send, activity::firmware}) return "firmware: payload to send engine";
    if (s == stage{journey::data, activity::firmware}) return "firmware: packet to PULSE";
    if (s == stage{journey::completion, activity::firmware}) return "firmware: data's PULSE to completion's";
    return nullptr;
}

}  // namespace

std::string name_of(const stage& s) {
    const char* special = special_name(s);
    return fmt::format("{}: {}", journey_names[static_cast<std::size_t>(s.part)],
                       special ? special : activity_names[static_cast<std::size_t>(s.what)]);
}

bool is_wait(const stage& s) {
    switch (s.what) {
        case activity::posting:
        case activity::busy:
        case activity::look:
        case activity::earlier:
        case activity::channel:
        case activity::engine:
        case activity::grant:
        case activity::latency:
        case activity::visible:
        case activity::poll:
        case activity::window:
        case activity::turn:
        case activity::room:
        case activity::coalesce:
        case activity::behind:
            return true;
        default:
            return false;
    }
}

lane lane_of(const stage& s) {
    if (s.part == journey::wire) return lane::wire;
    const bool sender = s.part < journey::wire;
    if (s.what == activity::meanwhile && s.part == journey::post) return lane::host_of_sender;
    if (s.what == activity::meanwhile && s.part == journey::payload) return lane::core_of_sender;
    if (s.what == activity::meanwhile && s.part == journey::completion) return lane::core_of_receiver;
    switch (s.what) {
        case activity::library:
        case activity::posting:
        case activity::visible:
        case activity::poll:
        case activity::returns:
        case activity::entry:
        case activity::trap:
        case activity::descriptor:
        case activity::protocol:
        case activity::buffer:
        case activity::copy:
        case activity::checksum:
        case activity::window:
        case activity::ip:
        case activity::driver:
        case activity::delivery:
        case activity::handler:
        case activity::behind:
        case activity::taking:
        case activity::backlog:
        case activity::softirq:
        case activity::network:
        case activity::transport:
        case activity::placing:
        case activity::delivery_copy:
        case activity::completing:
        case activity::wake:
        case activity::scheduler:
        case activity::copy_out:
        case activity::checksum_out:
            return sender ? lane::host_of_sender : lane::host_of_receiver;
        case activity::store:
        case activity::grant:
        case activity::address:
        case activity::latency:
        case activity::transfer:
            return sender ? lane::bus_of_sender : lane::bus_of_receiver;
        case activity::busy:
        case activity::look:
        case activity::firmware:
        case activity::logic:
        case activity::earlier:
            return sender ? lane::core_of_sender : lane::core_of_receiver;
        default:
            return sender ? lane::dma_of_sender : lane::dma_of_receiver;
    }
}

}  // namespace vinic::traces
