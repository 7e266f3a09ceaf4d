// SPDX-License-Identifier: Apache-2.0

// The LANai 4 around the firmware of Berkeley VIA or FirmVIA, for its native tests: registers, the one DMA
// engine, doorbells in a page for each VI or in a queue for each process. The firmware waits for the engine:
// a look at the ISR may end a transfer, or a packet.
#pragma once

#include <cstdint>
#include <map>

// The image that CMakeLists.txt builds the tests for.
#include VINIC_VARIANT

// After the variant.
#include VINIC_DOORBELLS
#include "firmware/bvia/main_loop.h"
#include "testbench/tests/firmware/fake_host.h"

namespace vinic::testbench {

class fake_lanai4 : public fake_host {
public:
    explicit fake_lanai4(const fake_settings& settings = {});

    // As the image wants it: fake_lanai4_doorbell_pages.cpp, fake_lanai4_doorbell_queue.cpp.
    void ring(abi::myvia::doorbell_op op, uint32_t index, uint32_t data, uint32_t process = 0) override;

    // --- Hardware
    uint32_t load_register(uint32_t offset);
    void store_register(uint32_t offset, uint32_t value);

    unsigned dma_reads = 0;

private:
    const chip& bits() const override;
    void turn() override { bvia::poll(); }
    unsigned parts() const override { return 1; }
    void move(unsigned) override { end_dma(); }
    void end_dma();

    std::map<uint32_t, uint32_t> doorbell_heads_;
    uint32_t arms_ = 0;
    uint32_t host_ = 0, local_ = 0, count_ = 0;
    bool to_card_ = false, moving_ = false;
    uint32_t send_start_ = 0, send_skip_ = 0;
};

}  // namespace vinic::testbench
