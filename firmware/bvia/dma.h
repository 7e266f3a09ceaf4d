// SPDX-License-Identifier: Apache-2.0

// The one DMA engine between host memory and SRAM (facts lanai_pcix.md B3). It takes one transfer at a time,
// and the firmware starts each by hand; whoever needs what was read waits for it.
#pragma once

#include "firmware/bvia/hardware.h"

namespace vinic::bvia {

enum dma_direction : uint32_t { to_host = 0, to_card = 1 };

inline uint32_t dma_running;  // a transfer was started and has not been seen to end

inline void finish_dma() {
    if (!dma_running) return;
    while ((hardware::load(hardware::ISR) & hardware::ISR_DMA) == 0) {
    }
    hardware::store(hardware::ISR, hardware::ISR_DMA);
    hardware::barrier();
    dma_running = 0;
}

// Host addresses have 32 bits (EAR).
inline void start_dma(uint32_t host, const volatile void* local, uint32_t bytes, dma_direction direction) {
    finish_dma();
    hardware::barrier();
    hardware::store(hardware::EAR, host);
    hardware::store(hardware::LAR, hardware::sram_address(local));
    hardware::store(hardware::DMA_DIR, direction);
    hardware::store(hardware::DMA_CTR, bytes);
    dma_running = 1;
}

inline void read_host(uint32_t host, volatile void* local, uint32_t bytes) {
    start_dma(host, local, bytes, to_card);
    finish_dma();
}

}  // namespace vinic::bvia
