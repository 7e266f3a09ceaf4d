// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/receive_engine.h"

#include <utility>

namespace vinic::nic {

receive_engine::receive_engine(const sc_core::sc_module_name& name, sequencer& order, framing& frames)
    : module(name),
      buffers(*this, {.name = "buffers",
                      .unit = "packets",
                      .value = 8,
                      .min = 1,
                      .max = 1024,
                      .help = "packets that have arrived and are not in host memory yet; more stay in the "
                              "link"}),
      check_clocks(*this, {.name = "check_clocks",
                           .unit = "clocks",
                           .value = 2,
                           .max = 1000,
                           .help = "from a packet's last byte to its header checked, engine clocks"}),
      sequencer_(order),
      framing_(frames),
      free_(order, buffers),
      head_(order),
      tail_(order),
      put_(order),
      taking_machine_(order.start(rank::receive, [this] { return taking(); })),
      checking_machine_(order.start(rank::receive, [this] { return checking(); })) {}

void receive_engine::on_head() {
    sequencer_.input(rank::link, [this] {
        ++heads_;
        head_.notify();
    });
}

void receive_engine::on_tail(const link::reception& came) {
    const bool whole = came.remainder == 0;
    reception.report(began_, sim::now(), whole ? "packet" : "bad packet", {{"bytes", came.bytes.size()}});
    sequencer_.input(rank::link, [this, whole, at = sim::now(),
                                  copy = std::vector(came.bytes.begin(), came.bytes.end())]() mutable {
        packets.add();
        bytes.add(copy.size());
        if (!whole) copy.clear();
        frames_.push_back({std::move(copy), at});
        tail_.notify();
    });
}

machine receive_engine::taking() {
    for (;;) {
        while (heads_ == 0) co_await head_.changed();
        --heads_;
        co_await free_.take();
        began_ = sim::now();
        port_->take(sim::never);
    }
}

machine receive_engine::checking() {
    for (;;) {
        while (frames_.empty()) co_await tail_.changed();
        const frame next = std::move(frames_.front());
        frames_.pop_front();
        co_await sequencer_.clocks(check_clocks);
        const auto contents = framing_.open(next.bytes);
        const auto head = contents ? packet_head::decode(*contents) : std::nullopt;
        if (!head) {
            framing_.damaged.add();
            packet.report(next.at, next.bytes, "bad packet", {{"bytes", next.bytes.size()}});
            free_.give();
            continue;
        }
        packet.report(next.at, std::span(*contents).first(head->bytes() + head->padded()), "packet",
                      {{"address", arrivals_ + 1}, {"bytes", head->bytes() + head->padded()}});
        put(*head, std::span(*contents).subspan(head->bytes(), head->header.length));
    }
}

void receive_engine::put(packet_head head, std::span<const std::uint8_t> payload) {
    auto made = std::make_shared<arrived_packet>();
    made->head = head;
    made->number = ++arrivals_;
    made->payload.assign(payload.begin(), payload.end());
    arrived_.push_back(std::move(made));
    waiting.set(arrived_.size());
    put_.notify();
}

step<bool> receive_engine::accept(const outgoing_packet& what) {
    co_await free_.take();
    put(what.head, std::span(what.payload).first(what.head.header.length));
    co_return true;
}

step<std::shared_ptr<arrived_packet>> receive_engine::next() {
    while (arrived_.empty()) co_await put_.changed();
    auto first = std::move(arrived_.front());
    arrived_.pop_front();
    waiting.set(arrived_.size());
    co_return first;
}

}  // namespace vinic::nic
