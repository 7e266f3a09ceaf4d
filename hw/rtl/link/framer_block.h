// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "hw/sim/module.h"

namespace vinic::rtl {

/// The framer of a link port (framer.sv) at its pins, without time.
class framer_block : public sim::module {
public:
    struct inputs {
        bool valid = false;
        std::uint8_t byte = 0;
        bool last = false;
        bool crc32 = false;  ///< the CRC-32 covers the packet from this byte on, not those before
        bool stop = false;
        bool go = false;
    };
    struct outputs {
        bool ready = false;
        bool valid = false;
        bool gap = false;
        std::uint8_t byte = 0;
        bool quiet = false;
    };

    explicit framer_block(const sc_core::sc_module_name& name);
    ~framer_block() override;

    /// What the block drives in this clock.
    outputs drive(const inputs& in);
    /// The edge at the end of this clock.
    void clock();

    // What waves show.
    unsigned phase() const;
    bool stopped() const;

private:
    struct pins;
    std::unique_ptr<pins> pins_;
};

}  // namespace vinic::rtl
