// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/doorbell_region.h"

#include <utility>

#include "hw/nic/bytes.h"
#include "hw/nic/doorbell_queues.h"
#include "hw/rtl/doorbell/doorbell_block.h"

namespace vinic::nic {

using namespace abi::card_map;

doorbell_region::doorbell_region(const sc_core::sc_module_name& name, sram& memory,
                                 special_registers& registers)
    : module(name),
      impl(*this, {.name = "impl",
                   .value = "model",
                   .choices = {"model", "rtl"},
                   .help = "who decodes doorbells and keeps the FIFO: the model, or hw/rtl/doorbell",
                   .source = "both do the same in the same clock"}),
      memory_(memory),
      registers_(registers) {
    doorbell_fifo::surroundings& around = *this;
    if (impl.get() == "rtl")
        fifo_ = rtl::make_doorbell(around, memory.clock().domain());
    else
        fifo_ = std::make_unique<doorbell_queues>(around);
}

void doorbell_region::set_base(unsigned number, std::uint32_t address) {
    bases_[number] = address;
    fifo_->set_base(number, address);
}

void doorbell_region::set_control(std::uint32_t control) {
    control_ = control;
    fifo_->set_control(control);
}

void doorbell_region::reset() {
    bases_ = {};
    control_ = 0;
    fifo_->reset();
}

void doorbell_region::ring(std::uint32_t offset, std::uint32_t data, std::function<void()> done) {
    arrival_ = {.at = sim::now(), .offset = offset, .data = data, .done = std::move(done)};
    fifo_->ring(offset, data);
}

bool doorbell_region::is_free(std::uint32_t address) {
    return memory_.peek_word(address) == doorbell_entry_free;
}

void doorbell_region::store(std::uint32_t address, std::uint32_t offset, std::uint32_t data) {
    arrival_.entry = address;
    store_big(entry_.data(), offset);
    store_big(entry_.data() + 4, data);
    memory_.host_access.write(address, entry_, [this] { fifo_->written(); });
}

std::uint64_t doorbell_region::count_entries() {
    const std::uint8_t* entry = memory_.contents().data() + bases_[doorbell_queue(control_, arrival_.offset)];
    std::uint64_t n = 0;
    for (std::uint64_t i = 0; i < entries(); ++i, entry += sizeof(doorbell_entry))
        n += load_big(entry) != doorbell_entry_free;
    return n;
}

void doorbell_region::stored() {
    doorbells.add();
    if (depth.watched()) depth.set(count_entries());
    doorbell.report(arrival_.at, sim::now(), "doorbell",
                    {{"offset", arrival_.offset}, {"data", arrival_.data}, {"entry", arrival_.entry}});
    registers_.raise({isr_event::wake0});
    finish();
}

void doorbell_region::lost() {
    overflows.add();
    registers_.raise({isr_event::mem});
    finish();
}

void doorbell_region::finish() { std::exchange(arrival_.done, nullptr)(); }

}  // namespace vinic::nic
