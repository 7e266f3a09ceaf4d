// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/descriptor_fetch.h"

#include <algorithm>
#include <cstring>

namespace vinic::nic {

descriptor_fetch::descriptor_fetch(const sc_core::sc_module_name& name, sequencer& order, host_transfers& dma)
    : module(name),
      prefetch_descriptors(*this,
                           {.name = "prefetch_descriptors",
                            .unit = "descriptors",
                            .value = 1,
                            .min = 1,
                            .max = 64,
                            .choices = {1, 2, 4, 8, 16, 32, 64},
                            .help = "descriptors of a ring that the card holds, and most that it reads "
                                    "at a time"}),
      fetches(*this, {.name = "fetches",
                      .value = 1,
                      .min = 1,
                      .max = 16,
                      .help = "rings whose descriptors may be on their way at a time"}),
      request_clocks(*this, {.name = "request_clocks",
                             .unit = "clocks",
                             .value = 2,
                             .max = 1000,
                             .help = "from a doorbell or an empty place to the address of the read, engine "
                                     "clocks"}),
      decode_clocks(*this, {.name = "decode_clocks",
                            .unit = "clocks",
                            .value = 4,
                            .max = 1000,
                            .help = "from the last byte to fields that can be used, engine clocks"}),
      ended(order),
      sequencer_(order),
      dma_(dma),
      asked_(order) {
    for (std::uint64_t i = 0; i < fetches; ++i)
        machines_.push_back(order.start(rank::descriptors, [this] { return run(); }));
}

void descriptor_fetch::want(vi_context& of, bool receive) {
    ring_context& ring = receive ? of.receive : of.send;
    if (ring.asked || ring.fetching != 0 || count_of(ring) == 0) return;
    ring.asked = true;
    requests_.push_back({&of, receive});
    asked_.notify();
}

/// One read: contiguous in the ring and in the card.
std::uint32_t descriptor_fetch::count_of(const ring_context& ring) const {
    const auto places = static_cast<std::uint32_t>(ring.slots.size());
    const std::uint32_t room = places - (ring.fetched - ring.next);
    const std::uint32_t to_the_end = ring.mask + 1 - (ring.fetched & ring.mask);
    return std::min({ring.posted - ring.fetched, room, places - ring.fetched % places, to_the_end});
}

machine descriptor_fetch::run() {
    for (;;) {
        while (requests_.empty()) co_await asked_.changed();
        const request next = requests_.front();
        requests_.pop_front();
        ring_context& ring = next.receive ? next.of->receive : next.of->send;
        ring.fetching = 1;
        ring.asked = false;
        const sim::picoseconds began = sim::now();
        co_await sequencer_.clocks(request_clocks, 1);
        const std::uint64_t ticket = co_await dma_.read_channel();
        const std::uint32_t count = ring.wanted = count_of(ring);
        const std::uint32_t first = ring.fetched;
        if (count == 0) {
            dma_.give_back_read(ticket);
        } else {
            std::vector<std::uint8_t> bytes(std::size_t{count} * abi::vi_engine::slot_bytes);
            host_read read(dma_);
            co_await sequencer_.clocks(dma_.start_clocks);
            dma_.start_read(ticket, read, ring.address_of(first), bytes, "descriptor");
            while (!read.done()) co_await read.progress.changed();
            co_await sequencer_.clocks(decode_clocks, count);
            reads.add();
            descriptors.add(count);
            for (std::uint32_t i = 0; i < ring.wanted; ++i)
                std::memcpy(&ring.slots[(first + i) % ring.slots.size()],
                            bytes.data() + std::size_t{i} * abi::vi_engine::slot_bytes,
                            abi::vi_engine::slot_bytes);
            ring.fetched += ring.wanted;
            fetch.report(began, sim::now(), next.receive ? "receive descriptor" : "send descriptor",
                         {{"vi", next.of->index}, {"count", count}});
        }
        ring.fetching = 0;
        here(*next.of, next.receive);
        ended.notify();
    }
}

}  // namespace vinic::nic
