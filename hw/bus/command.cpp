// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/command.h"

namespace vinic::bus {

std::string_view name_of(command c, bus_kind kind) {
    const bool x = kind == bus_kind::pcix;
    switch (c) {
        case command::io_read:
            return "io_read";
        case command::io_write:
            return "io_write";
        case command::memory_read:
            return x ? "memory_read_dword" : "memory_read";
        case command::memory_write:
            return "memory_write";
        case command::config_read:
            return "config_read";
        case command::config_write:
            return "config_write";
        case command::read_multiple:
            return x ? "split_completion" : "read_multiple";
        case command::dual_address:
            return "dual_address";
        case command::read_line:
            return x ? "memory_read_block" : "read_line";
        case command::write_and_invalidate:
            return x ? "memory_write_block" : "write_and_invalidate";
    }
    return "reserved";
}

}  // namespace vinic::bus
