// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "hw/sim/module.h"

namespace vinic::rtl {

/// The deframer of a link port (deframer.sv) at its pins, without time.
class deframer_block : public sim::module {
public:
    static constexpr unsigned slack_bytes = 128;

    struct inputs {
        bool valid = false;
        bool gap = false;
        std::uint8_t byte = 0;
        bool take = false;
        bool take_crc32 = false;  ///< the CRC-32 covers the packet from the byte taken in this clock on
    };
    struct outputs {
        bool valid = false;
        bool gap = false;
        std::uint8_t byte = 0;
        std::uint8_t remainder = 0;         ///< with the GAP
        std::uint32_t crc32_remainder = 0;  ///< with the GAP
        bool misrouted = false;             ///< with the GAP: the first byte was a route byte
        bool send_stop = false;
        bool send_go = false;
        bool quiet = false;
    };

    /// STOP with more than `stop_above` characters in the slack buffer, GO with fewer than `go_below`; both
    /// below slack_bytes.
    deframer_block(const sc_core::sc_module_name& name, unsigned stop_above, unsigned go_below);
    ~deframer_block() override;

    /// What the block drives in this clock.
    outputs drive(const inputs& in);
    /// The edge at the end of this clock.
    void clock();

private:
    struct pins;
    std::unique_ptr<pins> pins_;
};

}  // namespace vinic::rtl
