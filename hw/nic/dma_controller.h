// SPDX-License-Identifier: Apache-2.0
// Who walks the chains of the host DMA: the model, or RTL (hw/rtl/pcix_dma).
#pragma once

#include <cstdint>

#include "firmware/abi/card_map.h"

namespace vinic::nic {

class dma_controller {
public:
    static constexpr unsigned channel_count = 4;

    enum class activity : std::uint8_t { idle, wait, fetch, setup, transfer, write_back, failed };

    struct settings {
        unsigned engines = 1;
        bool fixed_priority = false;
        std::uint32_t fifo_bytes = 512;
        std::uint32_t trigger_clocks = 4;
        std::uint32_t setup_clocks = 8;
        std::uint32_t finish_clocks = 2;
    };

    /// What stands around it: SRAM, bus, interrupt. `half`: of the channel's FIFO.
    class surroundings {
    public:
        virtual ~surroundings() = default;
        virtual settings how() const = 0;
        /// The channel does something else from now on.
        virtual void entered(unsigned channel, activity) = 0;
        /// Reads the descriptor; then fetched().
        virtual void fetch(unsigned channel, std::uint32_t address) = 0;
        /// The block that was fetched (or given by registers) is being set up.
        virtual void check(unsigned channel) = 0;
        /// The block's transfer begins as soon as the channel's buffers are free; then go().
        virtual void begin(unsigned channel) = 0;
        /// Brings the whole block from the host into the SRAM; then loaded().
        virtual void load(unsigned channel, std::uint64_t host, std::uint32_t local, std::uint32_t bytes) = 0;
        /// Reads a piece of it from the SRAM; then piece_read().
        virtual void read_piece(unsigned channel, unsigned half, std::uint32_t local,
                                std::uint32_t bytes) = 0;
        /// Writes that piece to the host; then piece_sent().
        virtual void send_piece(unsigned channel, unsigned half, std::uint64_t host) = 0;
        /// All bytes of the block have moved. With a descriptor: its checksum is to be written back, after
        /// `finish_clocks`; then written_back().
        virtual void moved(unsigned channel, bool by_registers) = 0;
        virtual void finished(unsigned channel, bool by_registers) = 0;
    };

    virtual ~dma_controller() = default;

    virtual void set_base(unsigned channel, std::uint32_t address) = 0;
    /// Execute up to and including the next terminal block; several channels' bits.
    virtual void pulse(std::uint32_t channels) = 0;
    /// LANai 4: one block by registers, without a descriptor.
    virtual void start(unsigned channel, const abi::dma_block&) = 0;
    virtual void reset() = 0;

    virtual void fetched(unsigned channel, const abi::dma_block&) = 0;
    virtual void go(unsigned channel) = 0;
    virtual void loaded(unsigned channel) = 0;
    virtual void piece_read(unsigned channel) = 0;
    virtual void piece_sent(unsigned channel, unsigned half) = 0;
    virtual void written_back(unsigned channel) = 0;
    virtual void bus_error(unsigned channel) = 0;
};

}  // namespace vinic::nic
