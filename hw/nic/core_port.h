// SPDX-License-Identifier: Apache-2.0
// What the other blocks of the card know of a core that runs ahead of the kernel (DESIGN.md, rule 2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "hw/nic/lanai/slots.h"

namespace vinic::nic {

class core_port {
public:
    virtual ~core_port() = default;
    /// Before anybody touches the SRAM, its slots or a register that the core may look at: afterwards exactly
    /// the instructions that issued before now have happened.
    virtual void sync() = 0;
    /// Before somebody only reads, or writes, these bytes of the SRAM. Does what sync() does where the core
    /// has to do with them.
    virtual void sync_for_read(std::uint32_t address, std::size_t bytes) = 0;
    virtual void sync_for_write(std::uint32_t address, std::size_t bytes) = 0;
    /// After sync_for_write(): somebody wrote to the SRAM.
    virtual void memory_written(std::uint32_t address, std::size_t bytes) = 0;
    /// After sync(): the port's slots from cycle `from` on.
    virtual void set_slot_pattern(lanai::sram_port port, const lanai::slot_pattern& pattern,
                                  lanai::cycle from) = 0;
    virtual const lanai::slot_schedule& slots() const = 0;
    /// The firmware did what no firmware may do: throws a model_error with its place.
    [[noreturn]] virtual void fail(const std::string& what) = 0;
};

}  // namespace vinic::nic
