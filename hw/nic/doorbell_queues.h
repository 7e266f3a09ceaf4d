// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "firmware/abi/card_map.h"
#include "hw/nic/doorbell_fifo.h"

namespace vinic::nic {

/// The queue of the doorbell region that a write at `offset` goes to.
inline unsigned doorbell_queue(std::uint32_t control, std::uint32_t offset) {
    const bool several = (control & abi::card_map::CONTROL_FIFO_MULTI_QUEUE) != 0;
    return several ? offset / abi::card_map::doorbell_page_bytes % 4 : 0;
}

/// The model of the FIFO's controller.
class doorbell_queues : public doorbell_fifo {
public:
    explicit doorbell_queues(surroundings& around) : around_(around) {}

    void set_base(unsigned number, std::uint32_t address) override { queues_[number] = {address, 0}; }
    void set_control(std::uint32_t control) override { control_ = control; }
    void ring(std::uint32_t offset, std::uint32_t data) override;
    void written() override { around_.stored(); }
    void reset() override;

private:
    struct queue {
        std::uint32_t base = 0;
        std::uint64_t next = 0;
    };

    surroundings& around_;
    std::uint32_t control_ = 0;
    std::array<queue, 4> queues_;
};

}  // namespace vinic::nic
