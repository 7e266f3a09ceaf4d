// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace vinic::bus {

/// What stands on C/BE# in the address phase. PCI and PCI-X give some codes different meanings; each meaning
/// has its own name here (facts/lanai_pcix.md C1, C2).
enum class command : std::uint8_t {
    io_read = 0x2,
    io_write = 0x3,
    memory_read = 0x6,  ///< PCI-X: memory read dword
    memory_write = 0x7,
    config_read = 0xA,
    config_write = 0xB,
    read_multiple = 0xC,     ///< PCI
    split_completion = 0xC,  ///< PCI-X
    dual_address = 0xD,
    read_line = 0xE,             ///< PCI
    memory_read_block = 0xE,     ///< PCI-X
    write_and_invalidate = 0xF,  ///< PCI
    memory_write_block = 0xF,    ///< PCI-X
};

enum class bus_kind : std::uint8_t { pci, pcix };

/// Whether the target drives the data. A split completion moves data as a write does.
constexpr bool is_read(command c, bus_kind kind) {
    switch (c) {
        case command::io_read:
        case command::memory_read:
        case command::config_read:
        case command::read_line:
            return true;
        case command::read_multiple:
            return kind == bus_kind::pci;
        default:
            return false;
    }
}

/// Whether the command addresses memory, so that a 64-bit transfer and a burst are possible.
constexpr bool is_memory(command c) {
    return c == command::memory_read || c == command::memory_write || c >= command::read_multiple;
}

/// PCI-X: commands that always move at most four bytes in one data phase and carry byte enables in the
/// attribute phase.
constexpr bool is_dword(command c) { return c < command::read_multiple && c != command::memory_write; }

std::string_view name_of(command c, bus_kind kind);

}  // namespace vinic::bus
