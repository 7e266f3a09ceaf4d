// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/embedded_core.h"

#include <array>

#include "hw/nic/bytes.h"
#include "hw/nic/chip.h"
#include "hw/sim/error.h"

namespace vinic::nic {

namespace {

const chip_traits& traits() { return traits_of("lanai9"); }

}  // namespace

embedded_core::embedded_core(sequencer& order, vi_operations& vis)
    : clock(order.domain()),
      memory("sram", clock, traits()),
      registers("registers", clock, traits(), memory),
      control("control", order, vis, registers),
      lanai("lanai", clock, memory, control) {
    constexpr std::uint32_t window = abi::vi_engine::core_memory_end - abi::vi_engine::core_memory;
    if (memory.bytes > window)
        throw sim::input_error("{}.bytes = {}: the host sees {} of an embedded core's memory", memory.name(),
                               memory.bytes.get(), window);
    memory.attach(lanai);
    registers.attach(lanai);
    control.attach(lanai);
}

void embedded_core::store(std::uint32_t address, std::uint32_t word) {
    std::array<std::uint8_t, sizeof word> bytes;
    store_little(bytes.data(), word);
    if (memory.holds(address, bytes.size())) memory.poke(address, bytes);
}

}  // namespace vinic::nic
