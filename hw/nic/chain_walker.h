// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/nic/card_clock.h"
#include "hw/nic/dma_controller.h"
#include "hw/nic/sram.h"
#include "hw/sim/timer.h"

namespace vinic::nic {

/// The model of the DMA's controller.
class chain_walker : public dma_controller {
public:
    chain_walker(surroundings& around, const card_clock& clock, sram_port& port);

    void set_base(unsigned n, std::uint32_t address) override;
    void pulse(std::uint32_t channels) override;
    void start(unsigned n, const abi::dma_block& block) override;
    void reset() override;
    void fetched(unsigned n, const abi::dma_block& block) override;
    void go(unsigned n) override;
    void loaded(unsigned n) override { channels_[n].moved(); }
    void piece_read(unsigned n) override { channels_[n].piece_read(); }
    void piece_sent(unsigned n, unsigned half) override { channels_[n].piece_sent(half); }
    void written_back(unsigned n) override { channels_[n].finish(); }
    void bus_error(unsigned n) override;

private:
    class channel {
    public:
        channel(chain_walker& walker, unsigned number) : walker_(walker), number_(number) {}

        void set_base(std::uint32_t address);
        void pulse();
        void start(const abi::dma_block& block);
        void fetched(const abi::dma_block& block);
        void go();
        void moved();
        void piece_read();
        void piece_sent(unsigned number);
        void finish();
        void stop(activity next);
        void reset();

        bool wants_engine() const { return wants_engine_; }
        bool to_card() const { return (block_.next_and_flags & abi::dma_flag_host_to_lanai) != 0; }
        void engine_granted();

    private:
        struct half {
            std::uint32_t offset = 0;
            std::uint32_t bytes = 0;
            bool free = true;
        };

        void enter(activity next);
        void after(std::uint64_t clocks, void (channel::*then)());
        void next_block();
        void ask_for_engine();
        void begin_fetch();
        void set_up();
        void begin_transfer();
        void read_ahead();
        std::uint64_t host() const { return std::uint64_t{block_.host_high} << 32 | block_.host_low; }

        chain_walker& walker_;
        unsigned number_;
        activity activity_ = activity::idle;
        std::uint64_t pulses_ = 0;
        sim::picoseconds idle_since_ = sim::never;
        bool direct_ = false;  // by registers: no descriptor
        bool known_ = false;   // block_ holds the descriptor of the block to do next
        bool wants_engine_ = false;
        bool has_engine_ = false;
        std::uint32_t base_ = 0;
        std::uint32_t at_ = 0;  // descriptor of the block at hand, or of the next
        abi::dma_block block_{};
        std::uint32_t moved_ = 0;  // bytes of the block that the bus has moved
        std::uint32_t ahead_ = 0;  // bytes read from the SRAM, or being read
        cycle read_at_ = 0;        // all of them
        cycle took_ = 0;           // from then on, to move them: of the latest block to the host
        std::array<half, 2> halves_;
        unsigned reading_half_ = 0;
        bool reading_ = false;  // the SRAM, ahead

        sim::timer timer_{[this] { (this->*then_)(); }};
        void (channel::*then_)() = nullptr;
    };

    void request_engine();
    void release_engine(const channel& by);
    void arbitrate();
    bool grantable(const channel& c) const;

    surroundings& around_;
    settings how_;
    const card_clock& clock_;
    sram_port& port_;
    std::array<channel, channel_count> channels_;
    std::vector<const channel*> busy_;
    unsigned next_ = 0;  // round robin
    sim::timer arbitrate_{[this] { arbitrate(); }};
};

}  // namespace vinic::nic
