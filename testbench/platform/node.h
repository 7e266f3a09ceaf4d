// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "host_driver/card_driver.h"
#include "host_driver/card_image.h"
#include "host_driver/fabric_directory.h"
#include "host_driver/kernel_agent.h"
#include "hw/bus/pci_bus.h"
#include "hw/host/address_space.h"
#include "hw/host/host.h"
#include "hw/link/fabric.h"
#include "hw/nic/card.h"
#include "hw/nic/lanai_card.h"
#include "hw/sim/module.h"
#include "testbench/platform/design.h"
#include "vipl/library.h"

namespace vinic::driver {
class socket_layer;
}

namespace vinic::testbench {

/// A machine of the cluster: `node0` ... with bus, host, cards and the software that is installed on it.
class node : public sim::module {
public:
    /// A card, its driver and its kernel agent: modules `nic`, `driver` and `agent` for the first card of a
    /// node, `nic1`, `driver1` and `agent1` for the second.
    struct plugged_card {
        std::unique_ptr<vinic::nic::card> nic;
        std::unique_ptr<vinic::driver::card_driver> driver;
        std::unique_ptr<vinic::driver::kernel_agent> agent;

        /// The card, if all of it is firmware on a LANai; else null.
        vinic::nic::lanai_card* programmable() const;
    };

    vinic::bus::pci_bus bus;
    vinic::host::host host;
    const std::vector<plugged_card> cards;                       ///< one at least
    const std::unique_ptr<vinic::driver::socket_layer> sockets;  ///< on the first card; null: it has none
    vinic::vipl::library vipl;

    /// Attaches the cards to the fabric at the node of that number. `firmware`: null where they run none.
    node(const sc_core::sc_module_name& name, unsigned number, const located& card,
         const vinic::driver::card_image* firmware, const vinic::driver::fabric_directory& directory,
         vinic::link::fabric& fabric);

    ~node() override;

    unsigned number() const { return number_; }
    /// The memory of a new program.
    vinic::host::address_space& new_program();

private:
    std::vector<plugged_card> plug_in(unsigned number, const located& kind,
                                      const vinic::driver::card_image* firmware,
                                      const vinic::driver::fabric_directory& directory,
                                      vinic::link::fabric& fabric);
    std::vector<vinic::driver::kernel_agent*> agents() const;

    unsigned number_;
    std::vector<std::unique_ptr<vinic::host::address_space>> programs_;
};

}  // namespace vinic::testbench
