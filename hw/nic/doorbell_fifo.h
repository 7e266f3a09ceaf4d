// SPDX-License-Identifier: Apache-2.0
// Who decodes doorbells and keeps the FIFO in SRAM: the model, or RTL (hw/rtl/doorbell).
#pragma once

#include <cstdint>

namespace vinic::nic {

class doorbell_fifo {
public:
    /// What stands around it.
    class surroundings {
    public:
        virtual ~surroundings() = default;
        virtual std::uint64_t sram_bytes() const = 0;
        /// Whether the entry at `address` is free; takes no slot of the SRAM.
        virtual bool is_free(std::uint32_t address) = 0;
        /// The pair goes to the SRAM; doorbell_fifo::written() when it is there.
        virtual void store(std::uint32_t address, std::uint32_t offset, std::uint32_t data) = 0;
        /// The doorbell is in the FIFO, or lost.
        virtual void stored() = 0;
        virtual void lost() = 0;
    };

    virtual ~doorbell_fifo() = default;

    /// Setting a base starts that queue at its first entry.
    virtual void set_base(unsigned number, std::uint32_t address) = 0;
    virtual void set_control(std::uint32_t control) = 0;
    /// One 32-bit write of the host: not before the one before it is stored or lost, and one a clock.
    virtual void ring(std::uint32_t offset, std::uint32_t data) = 0;
    virtual void written() = 0;
    virtual void reset() = 0;
};

}  // namespace vinic::nic
