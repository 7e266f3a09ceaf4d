// SPDX-License-Identifier: Apache-2.0

// The LANai 9 around the MyVIA firmware, for its native tests: registers, four host DMA channels, doorbells
// in pages of SRAM or in the hardware's FIFO, tokens. The send engine may also end at any look at the ISR.
#pragma once

#include <cstdint>
#include <map>

// The variant that CMakeLists.txt builds the tests for.
#include VINIC_VARIANT

// After the variant.
#include "firmware/myvia/doorbell_fifo.h"
#include "firmware/myvia/doorbell_pages.h"
#include "firmware/myvia/main_loop.h"
#include "testbench/tests/firmware/fake_host.h"

namespace vinic::testbench {

// How doorbells reach the firmware: CMakeLists.txt builds the tests for each way.
using doorbells = myvia::VINIC_DOORBELLS;
inline constexpr bool doorbells_in_fifo = doorbells::wake_bit != 0;

class fake_card : public fake_host {
public:
    explicit fake_card(const fake_settings& settings = {});

    void put_slot(library_vi& to, library_queue& queue, const bytes& slot) override;
    void ring(abi::myvia::doorbell_op op, uint32_t index, uint32_t data, uint32_t process = 0) override;

    // --- Hardware
    uint32_t load_register(uint32_t offset);
    void store_register(uint32_t offset, uint32_t value);

    bool hold_dma[4] = {};
    unsigned dma_reads[4] = {};

private:
    struct channel {
        uint32_t block = 0;
        unsigned pulses = 0;
    };

    const chip& bits() const override;
    void turn() override { myvia::poll<doorbells>(); }
    unsigned parts() const override { return 4; }
    void move(unsigned part) override { run_dma(part); }
    void tick() override;
    uint32_t slots_max() const override;
    void ring_in_region(abi::myvia::doorbell_op op, uint32_t index, uint32_t data, uint32_t process);
    void require_idle_send_engine() const;
    void run_dma(unsigned number);

    std::map<uint32_t, uint32_t> doorbell_heads_;
    uint32_t fifo_head_ = 0;
    channel channels_[4];
    uint32_t timers_[2] = {};
    uint32_t send_start_ = 0, send_skip_ = 0;
    uint32_t crc32_start_ = 0;
    bool crc32_enabled_ = false;
};

}  // namespace vinic::testbench
