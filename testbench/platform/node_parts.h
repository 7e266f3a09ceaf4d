// SPDX-License-Identifier: Apache-2.0
// The only place that knows all kinds of cards and drivers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host_driver/card_driver.h"
#include "host_driver/card_image.h"
#include "host_driver/card_window.h"
#include "host_driver/sockets/socket_layer.h"
#include "host_driver/types.h"
#include "hw/bus/pci_bus.h"
#include "hw/host/cpu.h"
#include "hw/link/fabric.h"
#include "hw/nic/card.h"
#include "hw/nic/lanai_card.h"
#include "hw/sim/unit.h"
#include "testbench/platform/design.h"

namespace vinic::testbench {

/// A card of a design (key `card`), as module `name` of the node that is being built.
std::unique_ptr<nic::card> make_card(const std::string& name, const located& kind,
                                     const bus::bus_properties& bus, bus::requester_id id);

/// What a driver is made from beside its card.
struct driver_surroundings {
    host::cpu& cpu;
    std::unique_ptr<driver::card_window> window;
    const driver::card_image* firmware = nullptr;  ///< null: the card runs none
    sim::picoseconds byte_time = 0;                ///< on the slowest cable
    driver::node_address address{};                ///< of the card
};

/// The driver that speaks to that card, as module `name` of the node that is being built.
std::unique_ptr<driver::card_driver> make_driver(const std::string& name, nic::card& card,
                                                 driver_surroundings around);

/// The kernel's sockets over that driver's device, as module `sockets` of the node that is being built; null
/// where it has none.
std::unique_ptr<driver::socket_layer> make_sockets(driver::card_driver& below, host::cpu& cpu);

/// Throws input_error where cables or switches of that network do not carry what cards of that kind send.
void check_network(const located& kind, const link::fabric& network);

/// What may carry the messages of shipped workloads between cards of that kind: the first one by default.
std::vector<std::string> transports_of(const located& kind);

/// Whether a card of that kind cannot do without firmware. Throws input_error for a kind that there is not.
bool needs_firmware(const located& kind);

}  // namespace vinic::testbench
