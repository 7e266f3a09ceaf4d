// SPDX-License-Identifier: Apache-2.0
// The segments of a descriptor. Those beyond the slot's stand behind the 64th byte of the program's own
// descriptor (facts vipl.md 2), whose handle must be as good as that of any buffer; the card reads up to
// eight at a time, within a page.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/abi/vi_engine_card.h"
#include "hw/nic/vi_engine/host_transfers.h"
#include "hw/nic/vi_engine/machine.h"
#include "hw/nic/vi_engine/sequencer.h"
#include "hw/nic/vi_engine/translation.h"

namespace vinic::nic {

class segment_reader {
public:
    struct found {
        std::uint32_t error = 0;  ///< status bits
        abi::vi_data_segment segment{};
    };

    segment_reader(sequencer& order, host_transfers& dma, translation& pages)
        : sequencer_(order), dma_(dma), pages_(pages) {}

    /// Segments read so far are those of another descriptor.
    void begin() { window_.clear(); }
    step<found> find(const abi::vi_engine::slot& of, std::uint32_t tag, std::uint32_t index);

private:
    step<std::uint32_t> read(const abi::vi_engine::slot& of, std::uint32_t tag, std::uint32_t index);

    sequencer& sequencer_;
    host_transfers& dma_;
    translation& pages_;
    std::uint32_t first_ = 0;
    std::vector<abi::vi_data_segment> window_;
};

}  // namespace vinic::nic
