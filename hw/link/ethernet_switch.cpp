// SPDX-License-Identifier: Apache-2.0
#include "hw/link/ethernet_switch.h"

#include <string>

#include "hw/sim/time.h"

namespace vinic::link {

struct ethernet_switch::side : port_client {
    side(ethernet_switch& s, unsigned i)
        : of(s), index(i), port(("port" + std::to_string(i)).c_str(), *this) {}

    void on_head(const packet_ptr&) override { port.take(never); }
    void on_take_limit() override {}
    void on_tail(const reception& came) override { of.arrived(index, came.bytes); }
    void on_part_sent() override {}
    void on_sent() override {
        sending = false;
        start();
    }

    /// What the queue holds, as one sees it who looks at this instant, whatever else happens at it.
    std::uint64_t queued() const { return waiting_bytes + (left_at == sim::now() ? left_bytes : 0); }
    void push(const ethernet_switch::bytes& frame) {
        queue.push_back(frame);
        waiting_bytes += frame.size();
        start();
    }
    void start() {
        if (sending || queue.empty()) return;
        sending = true;
        left_bytes = (left_at == sim::now() ? left_bytes : 0) + queue.front().size();
        left_at = sim::now();
        waiting_bytes -= queue.front().size();
        port.send(queue.front(), true);
        queue.pop_front();
    }

    ethernet_switch& of;
    unsigned index;
    link::port port;
    std::deque<ethernet_switch::bytes> queue;
    std::uint64_t waiting_bytes = 0;
    picoseconds left_at = never;
    std::uint64_t left_bytes = 0;
    bool sending = false;
};

ethernet_switch::ethernet_switch(const sc_core::sc_module_name& name, unsigned ports)
    : sim::module(name, "switch"),
      forwarding_ps(*this, {.name = "forwarding_ps",
                            .unit = "ps",
                            .value = 3'000'000,
                            .min = 1,
                            .max = 1'000'000'000,
                            .help = "from the end of a frame to its place in an output queue"}),
      queue_bytes(*this, {.name = "queue_bytes",
                          .unit = "bytes",
                          .value = 131'072,
                          .min = 2'000,
                          .max = 1'000'000'000,
                          .help = "frames that wait for an output; what does not fit is dropped"}),
      addresses(*this, {.name = "addresses",
                        .unit = "addresses",
                        .value = 1024,
                        .min = 1,
                        .max = 1'000'000,
                        .help = "addresses that can be learnt"}),
      forwarded(*this, "forwarded", "frames to the one output that is known for their destination"),
      flooded(*this, "flooded", "frames to all outputs: their destination is not known"),
      damaged(*this, "damaged", "frames dropped: wrong FCS, or too short"),
      queue_full(*this, "queue_full", "frames dropped: no room in the queue of the output") {
    for (unsigned i = 0; i < ports; ++i) sides_.push_back(std::make_unique<side>(*this, i));
}

ethernet_switch::~ethernet_switch() = default;

initiator_socket& ethernet_switch::out(unsigned port) { return sides_.at(port)->port.out; }
target_socket& ethernet_switch::in(unsigned port) { return sides_.at(port)->port.in; }

void ethernet_switch::arrived(unsigned port, std::span<const std::uint8_t> frame) {
    if (!ethernet::is_whole(frame)) return damaged.add();
    const picoseconds delay = sides_[port]->port.cable_is_free() ? least_time : forwarding_ps.get();
    arrivals_.emplace(arrival{sim::now() + delay, port}, bytes(frame.begin(), frame.end()));
    due_.no_later_than(sim::now() + delay);
}

void ethernet_switch::forward() {
    for (; !arrivals_.empty() && arrivals_.begin()->first.first <= sim::now();
         arrivals_.erase(arrivals_.begin())) {
        const auto& [when, frame] = *arrivals_.begin();
        const unsigned from = when.second;
        const ethernet::address source = ethernet::source_of(ethernet::contents(frame));
        if (learnt_.size() < addresses || learnt_.contains(source)) learnt_[source] = from;
        const auto known = learnt_.find(ethernet::destination_of(ethernet::contents(frame)));
        if (known != learnt_.end()) {
            forwarded.add();
            if (known->second != from) send(known->second, frame);
            continue;
        }
        flooded.add();
        for (unsigned to = 0; to < sides_.size(); ++to)
            if (to != from && sides_[to]->port.out.size() != 0) send(to, frame);
    }
    if (!arrivals_.empty()) due_.no_later_than(arrivals_.begin()->first.first);
}

void ethernet_switch::send(unsigned port, const bytes& frame) {
    side& to = *sides_[port];
    if (to.queued() + frame.size() > queue_bytes) return queue_full.add();
    to.push(frame);
}

}  // namespace vinic::link
