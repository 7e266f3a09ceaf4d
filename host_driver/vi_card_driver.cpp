// SPDX-License-Identifier: Apache-2.0
#include "host_driver/vi_card_driver.h"

#include <fmt/format.h>

#include "hw/sim/duration.h"
#include "hw/sim/error.h"
#include "hw/sim/time.h"

namespace vinic::driver {

vi_card_driver::vi_card_driver(const sc_core::sc_module_name& name, const defaults& of)
    : sim::module(name),
      ring_slots(*this, {.name = "ring_slots",
                         .unit = "descriptors",
                         .value = 1024,
                         .min = 2,
                         .max = 4096,
                         .choices = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096},
                         .help = "length of a send or receive queue",
                         .source = "facts vipl.md 8: programs of the time post up to 512"}),
      queue_entries_max(*this, {.name = "queue_entries_max",
                                .unit = "entries",
                                .value = 65536,
                                .min = 1,
                                .max = 1048576,
                                .help = "longest completion queue",
                                .source = "facts vipl.md 8"}),
      page_table_entries(
          *this, {.name = "page_table_entries",
                  .unit = "pages",
                  .value = 65536,
                  .min = 1,
                  .max = 1048576,
                  .help = "entries of the translation table in host memory: pages that may be registered"}),
      event_entries(*this, {.name = "event_entries",
                            .unit = "entries",
                            .value = 256,
                            .min = 2,
                            .max = 65536,
                            .choices = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 65536},
                            .help = "length of the card's event queue"}),
      retransmit_us(*this, {.name = "retransmit_us",
                            .unit = "us",
                            .value = 1000,
                            .min = 1,
                            .max = 4'000'000,
                            .help = "least time without acknowledgement before the card sends again"}),
      retransmit_windows(*this,
                         {.name = "retransmit_windows",
                          .value = 3,
                          .min = 1,
                          .max = 1000,
                          .help = "that time is at least so many times what a whole window of packets takes "
                                  "on the slowest cable: one is in front of a packet, one may be in front of "
                                  "its acknowledgement",
                          .source = "assumed"}),
      retransmit_tries(*this, {.name = "retransmit_tries",
                               .value = 32,
                               .min = 1,
                               .max = 1'000'000,
                               .help = "tries without progress before a connection is lost"}),
      command_poll_clocks(*this, {.name = "command_poll_clocks",
                                  .unit = "clocks",
                                  .value = of.command_poll_clocks,
                                  .min = 0,
                                  .max = 1'000'000,
                                  .help = "pause between looks whether the card has done a command"}),
      command_limit_us(*this, {.name = "command_limit_us",
                               .unit = "us",
                               .value = 1'000'000,
                               .min = 1,
                               .max = 1'000'000'000,
                               .help = "a card that takes longer for a command is dead"}),
      event_clocks(*this, {.name = "event_clocks",
                           .unit = "clocks",
                           .value = 200,
                           .min = 0,
                           .max = 1'000'000,
                           .help = "handling of one event of the card in the interrupt handler"}),
      commands(*this, "commands", "commands given to the card"),
      events(*this, "events", "events taken from the card's queue"),
      interrupts(*this, "interrupts", "interrupts that this card raised") {}

void vi_card_driver::wait_for_command(host::process& on, unsigned op, const std::function<bool()>& done) {
    const sim::picoseconds limit = sim::now() + command_limit_us * sim::microsecond;
    while (!done()) {
        if (sim::now() >= limit)
            throw sim::model_error(name(), fmt::format("the card has not done command {} within {} us", op,
                                                       command_limit_us.get()));
        on.compute(command_poll_clocks);
    }
}

}  // namespace vinic::driver
