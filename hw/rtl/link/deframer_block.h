// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "hw/sim/module.h"

namespace vinic::rtl {

/// The deframer of a link port (deframer.sv) at its pins, without time.
class deframer_block : public sim::module {
public:
    static constexpr unsigned slack_bytes = 1024;

    struct inputs {
        bool valid = false;
        bool gap = false;
        std::uint8_t byte = 0;
        bool ready = false;       ///< a character may be taken in this clock,
        bool take = false;        ///< also one that is a byte
        bool take_crc32 = false;  ///< the CRC-32 covers the packet from this byte on, not those before
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

    explicit deframer_block(const sc_core::sc_module_name& name);
    ~deframer_block() override;

    /// STOP with more than `stop_above` characters in the slack buffer, GO with fewer than `go_below`; both
    /// below slack_bytes. To be called first.
    void set_thresholds(std::uint64_t stop_above, std::uint64_t go_below);
    /// What the block drives in this clock.
    outputs drive(const inputs& in);
    /// The edge at the end of this clock.
    void clock();

    // What waves show.
    unsigned held() const;
    bool stopping() const;

private:
    struct pins;
    std::unique_ptr<pins> pins_;
};

}  // namespace vinic::rtl
