// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/vi_engine_card.h"

#include <fmt/format.h>

#include "hw/sim/nominal_clock.h"

namespace vinic::nic {

namespace abi_card = abi::vi_engine;

namespace {

const char* name_of_doorbell(std::uint32_t page, std::uint32_t word) {
    if (page >= abi_card::max_vis) return "completion queue armed";
    switch (word) {
        case abi_card::doorbell_send:
            return "send doorbell";
        case abi_card::doorbell_receive:
            return "receive doorbell";
        case abi_card::doorbell_arm_send:
            return "send queue armed";
        case abi_card::doorbell_arm_receive:
            return "receive queue armed";
        default:
            return "doorbell without effect";
    }
}

}  // namespace

sim::clock_domain vi_engine_card::make_clock(const vi_engine_card& of, const bus::bus_properties& bus) {
    if (of.clock_mhz != 0) return sim::clock_domain::from_mhz(of.clock_mhz);
    return bus.clock.times(of.clock_multiplier);
}

vi_engine_card::vi_engine_card(const sc_core::sc_module_name& name, const bus::bus_properties& bus,
                               bus::requester_id who, decision by)
    : card(name),
      clock_mhz(*this, {.name = "engine.clock_mhz",
                        .unit = "MHz",
                        .value = 66,
                        .max = 1000,
                        .help = fmt::format(
                            "clock of the engine; 0: engine.clock_multiplier times the bus clock; {}",
                            sim::nominal_clock)}),
      clock_multiplier(*this, {.name = "engine.clock_multiplier",
                               .value = 1,
                               .min = 1,
                               .max = 8,
                               .help = "engine clocks in a bus clock, where engine.clock_mhz is 0"}),
      memory_clocks(*this, {.name = "engine.memory_clocks",
                            .unit = "clocks",
                            .value = 0,
                            .max = 1000,
                            .help = "an access to the context of a VI, a descriptor or an entry of a table "
                                    "in the card's memory, over and above the clocks of each step"}),
      dma_impl(*this, {.name = "dma.impl",
                       .value = "model",
                       .choices = {"model", "rtl"},
                       .help = "who is initiator on the bus: the model, or hw/rtl/pcix_dma",
                       .source = "both do the same in the same clock"}),
      id(who),
      order(make_clock(*this, bus), memory_clocks),
      doorbells("doorbells", order, abi_card::max_vis + abi_card::max_queues),
      pci("pci", order, bus, doorbells),
      master("master", bus, id, bus::implementation_of(dma_impl.get())),
      dma("dma", order, master),
      pages("translation", order, dma),
      descriptors("descriptors", order, dma),
      events("events", order, dma),
      completions("completion", order, dma, events),
      vis("vis", order, dma, descriptors, completions),
      frames("framing"),
      send("send", order, frames),
      receive("receive", order, frames),
      reliable("reliability", order, vis, descriptors, completions, send, frames.packet_payload_bytes),
      maker("packets", order, descriptors, pages, dma, completions, reliable, frames, send),
      places("placement", order, vis, descriptors, pages, dma, completions, events, reliable, receive),
      operations_({dma, descriptors, events, completions, vis, send, reliable, maker}),
      core_(by == decision::firmware ? std::make_unique<embedded_core>(order, operations_) : nullptr),
      machines_(core_ ? nullptr : std::make_unique<control_machines>(operations_)),
      control_(core_ ? static_cast<control&>(core_->control) : *machines_),
      commands("commands", order,
               {doorbells, dma, pages, events, completions, vis, frames, reliable, operations_, control_,
                core_.get()}),
      link("link", *this),
      target("target", bus, pci, &master) {
    send.bind(link);
    receive.bind(link);
    wire();
}

void vi_engine_card::wire() {
    events.interrupt = [this](bool asserted) {
        if (interrupt) interrupt(asserted);
    };
    doorbells.called = name_of_doorbell;
    doorbells.effect = [this](std::uint32_t page, std::uint32_t word, std::uint32_t data) {
        ring(page, word, data);
    };
    pci.store = [this](std::uint32_t offset, std::uint32_t value) { commands.store(offset, value); };
    pci.load = [this](std::uint32_t offset) { return commands.load(offset); };
    descriptors.here = [this](vi_context& of, bool receives) {
        receives ? places.descriptor_changed() : maker.schedule(of);
    };
    vis.stopped = [this] { places.descriptor_changed(); };
    reliable.raise = places.raise =
        maker.raise = [this](vi_context& of, abi::xuni::control_event what, std::uint32_t argument) {
            control_.raise(of, what, argument);
        };
    reliable.schedule = [this](vi_context& of) { maker.schedule(of); };
    send.left = [this](outgoing_packet& what) {
        if (!what.completes || what.is_void()) return;
        completions.complete_send(*what.owner);
        maker.schedule(*what.owner);
    };
    send.released = [this](outgoing_packet& what) {
        what.has_buffer ? maker.released() : reliable.released();
    };
    send.loop = [this](const outgoing_packet& what) { return receive.accept(what); };
}

unsigned vi_engine_card::attach(bus::pci_bus& to) {
    to.attach(master);
    return to.attach(target, pci.properties(id));
}

void vi_engine_card::halt() {
    halted_ = true;
    order.halt();
    if (core_) core_->lanai.assert_reset();
    if (link.front()) link.take(sim::never);
}

std::uint64_t vi_engine_card::window_bytes() const {
    const std::vector<std::uint8_t> largest(sizeof(abi::packet_header) + sizeof(abi::rdma_header) +
                                            frames.packet_payload_bytes);
    const std::size_t framed = frames.prefix().size() + frames.begin(0).put(largest, true).size();
    return reliable.window_packets * (abi::route_bytes_max + framed);
}

// --- Doorbells

/// So many slots have been posted; more than the ring holds, or fewer than before, is an error of the
/// program.
bool vi_engine_card::note_posted(vi_context& of, ring_context& ring, std::uint32_t posted) {
    if (!before(posted, ring.posted) && posted - ring.completed <= ring.mask + 1) {
        ring.posted = posted;
        return true;
    }
    control_.raise(of, abi::xuni::event_overrun, 0);
    return false;
}

void vi_engine_card::ring(std::uint32_t page, std::uint32_t word, std::uint32_t data) {
    if (page >= abi_card::max_vis) {
        if (word == abi_card::doorbell_arm_queue) completions.arm_queue(page - abi_card::max_vis, data);
        return;
    }
    vi_context& of = vis.at(page);
    if (of.state == abi_card::vi_unused) return;
    switch (word) {
        case abi_card::doorbell_send:
            if (!note_posted(of, of.send, data)) return;
            return of.connected() ? descriptors.want(of, false) : vis.flush(of, true, false);
        case abi_card::doorbell_receive:
            if (!note_posted(of, of.receive, data)) return;
            return of.state == abi_card::vi_error ? vis.flush(of, false, true) : descriptors.want(of, true);
        case abi_card::doorbell_arm_send:
            return completions.arm(of, false, data);
        case abi_card::doorbell_arm_receive:
            return completions.arm(of, true, data);
        default:
            return;
    }
}

}  // namespace vinic::nic
