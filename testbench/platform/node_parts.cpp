// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/node_parts.h"

#include <algorithm>
#include <string>
#include <vector>

#include "firmware/abi/xuni_control.h"
#include "host_driver/mvia/mvia_driver.h"
#include "host_driver/myvia/myvia_driver.h"
#include "host_driver/vi_engine/vi_engine_driver.h"
#include "hw/nic/ethernet/ethernet_card.h"
#include "hw/nic/vi_engine/vi_engine_card.h"
#include "hw/sim/error.h"

namespace vinic::testbench {

namespace {

const std::vector<std::string> kinds{"ethernet", "lanai", "vi_engine", "vi_engine_with_core"};

void check_kind(const located& kind) {
    if (std::ranges::find(kinds, kind.text) != kinds.end()) return;
    const std::string near = sim::nearest_name(kind.text, kinds);
    throw sim::input_error("{}: card is '{}': {}", kind.origin, kind.text,
                           near.empty() ? fmt::format("expected one of {}", fmt::join(kinds, ", "))
                                        : fmt::format("did you mean '{}'?", near));
}

void check_control(const driver::card_image& image) {
    if (image.control_version == abi::xuni::interface_version) return;
    if (image.control_version == 0)
        throw sim::input_error("{}: no symbol {}: this is no firmware for the core of a VI engine",
                               image.name, abi::xuni::interface_symbol);
    throw sim::input_error("{}: {} is version {}, expected {}", image.name, abi::xuni::interface_symbol,
                           image.control_version, abi::xuni::interface_version);
}

}  // namespace

bool needs_firmware(const located& kind) {
    check_kind(kind);
    return kind.text == "lanai" || kind.text == "vi_engine_with_core";
}

void check_network(const located& kind, const link::fabric& network) {
    check_kind(kind);
    const bool sends_frames = kind.text == "ethernet";
    for (const auto& cable : network.cables())
        if (cable->crc8 == sends_frames)
            throw sim::input_error("{}.crc8 = {}: a card of kind {} {}", cable->name(), cable->crc8.get(),
                                   kind.text,
                                   sends_frames ? "takes the byte for one of the frame: its MAC adds the FCS"
                                                : "checks the CRC-8 of each packet, and takes none without");
    if (network.layout().switch_ports.empty()) return;
    if (sends_frames == (network.switching.get() == "ethernet")) return;
    throw sim::input_error("{}.switching = {}: a card of kind {} needs {}", network.name(),
                           network.switching.get(), kind.text,
                           sends_frames ? "ethernet: its frames have addresses and no route"
                                        : "crossbar: its packets have a route and no addresses");
}

std::vector<std::string> transports_of(const located& kind) {
    check_kind(kind);
    if (kind.text == "ethernet") return {"vi", "udp", "tcp"};
    return {"vi"};
}

std::unique_ptr<nic::card> make_card(const std::string& name, const located& kind,
                                     const bus::bus_properties& bus, bus::requester_id id) {
    check_kind(kind);
    const char* const called = name.c_str();
    using decision = nic::vi_engine_card::decision;
    if (kind.text == "vi_engine")
        return std::make_unique<nic::vi_engine_card>(called, bus, id, decision::machines);
    if (kind.text == "vi_engine_with_core")
        return std::make_unique<nic::vi_engine_card>(called, bus, id, decision::firmware);
    if (kind.text == "ethernet") return std::make_unique<nic::ethernet_card>(called, bus, id);
    return std::make_unique<nic::lanai_card>(called, bus, id);
}

std::unique_ptr<driver::card_driver> make_driver(const std::string& name, nic::card& card,
                                                 driver_surroundings around) {
    const char* const called = name.c_str();
    if (const auto* engine = dynamic_cast<const nic::vi_engine_card*>(&card)) {
        if (around.firmware) check_control(*around.firmware);
        return std::make_unique<driver::vi_engine_driver>(called, around.cpu, std::move(around.window),
                                                          engine->window_bytes(), around.byte_time,
                                                          around.firmware);
    }
    if (dynamic_cast<const nic::ethernet_card*>(&card))
        return std::make_unique<driver::mvia_driver>(called, around.cpu, std::move(around.window),
                                                     around.address);
    if (around.firmware->interface_address == 0)
        throw sim::input_error("{}: no symbol card_interface: this is no firmware for a VI card",
                               around.firmware->name);
    auto& lanai = dynamic_cast<nic::lanai_card&>(card);
    return std::make_unique<driver::myvia_driver>(
        called, around.cpu, std::move(around.window), *around.firmware,
        driver::card_facts{.sram_bytes = lanai.memory.bytes,
                           .byte_time = around.byte_time,
                           .table_stands = [&lanai](std::uint64_t address, std::uint64_t bytes) {
                               lanai.set_translation_table(address, bytes);
                           }});
}

std::unique_ptr<driver::socket_layer> make_sockets(driver::card_driver& below, host::cpu& cpu) {
    auto* const ethernet = dynamic_cast<driver::mvia_driver*>(&below);
    return ethernet ? std::make_unique<driver::socket_layer>("sockets", cpu, ethernet->device) : nullptr;
}

}  // namespace vinic::testbench
