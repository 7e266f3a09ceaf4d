// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/doorbell_region.h"

#include "hw/nic/bytes.h"

namespace vinic::nic {

using namespace abi::card_map;

doorbell_region::doorbell_region(const sc_core::sc_module_name& name, sram& memory,
                                 special_registers& registers)
    : module(name), memory_(memory), registers_(registers) {}

void doorbell_region::set_base(unsigned number, std::uint32_t address) { queues_[number] = {address, 0}; }

void doorbell_region::reset() {
    queues_ = {};
    control_ = 0;
}

std::uint64_t doorbell_region::count_entries(const queue& q) {
    std::uint64_t n = 0;
    for (std::uint64_t i = 0; i < entries(); ++i)
        n += load_big(memory_.contents().data() + q.base + i * sizeof(doorbell_entry)) != doorbell_entry_free;
    return n;
}

void doorbell_region::ring(std::uint32_t offset, std::uint32_t data, std::function<void()> done) {
    const bool several = (control_ & CONTROL_FIFO_MULTI_QUEUE) != 0;
    queue& q = queues_[several ? offset / doorbell_page_bytes % queues_.size() : 0];
    const auto address = static_cast<std::uint32_t>(q.base + q.next % entries() * sizeof(doorbell_entry));
    store_big(entry_.data(), offset);
    store_big(entry_.data() + 4, data);
    const sim::picoseconds arrived = sim::now();
    // Whether the entry is free is known without a slot: the FIFO's controller keeps track of it.
    if (!memory_.holds(q.base, entries() * sizeof(doorbell_entry)) ||
        memory_.peek_word(address) != doorbell_entry_free) {
        overflows.add();
        registers_.raise({isr_event::mem});
        done();
        return;
    }
    ++q.next;
    memory_.host_access.write(address, entry_,
                              [this, &q, address, offset, data, arrived, done = std::move(done)] {
                                  doorbells.add();
                                  if (depth.watched()) depth.set(count_entries(q));
                                  doorbell.report(arrived, sim::now(), "doorbell",
                                                  {{"offset", offset}, {"data", data}, {"entry", address}});
                                  registers_.raise({isr_event::wake0});
                                  done();
                              });
}

}  // namespace vinic::nic
