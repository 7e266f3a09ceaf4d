// SPDX-License-Identifier: Apache-2.0
#include "traces/kernel_path.h"

#include <algorithm>
#include <utility>

#include "firmware/abi/ethernet_card.h"
#include "hw/sim/card_name.h"
#include "hw/sim/simulation.h"
#include "traces/fields.h"

namespace vinic::traces {

namespace {

/// Of what is remembered by number.
constexpr std::size_t remembered = 4096;

template <typename Map>
void forget_old(Map& of) {
    while (of.size() > remembered) of.erase(of.begin());
}

struct named_step {
    std::string_view what;
    activity is;
};

constexpr named_step sending_steps[] = {
    {"trap", activity::trap},       {"call", activity::trap},    {"descriptor", activity::descriptor},
    {"packet", activity::protocol}, {"udp", activity::protocol}, {"tcp", activity::protocol},
    {"buffer", activity::buffer},   {"copy", activity::copy},    {"checksum", activity::checksum},
    {"room", activity::window}};

/// "node0.driver1.device.transmit" and "node0.nic1.mac.sent" -> "node0.nic1"; what belongs to no card in
/// particular -> "node0.nic", the first.
std::string card_of(const std::string& name) {
    const std::size_t first = name.find('.'), second = name.find('.', first + 1);
    const std::string module = name.substr(first + 1, second - first - 1);
    const std::size_t number = module.find_first_of("0123456789");
    return name.substr(0, first) + ".nic" + (number == std::string::npos ? "" : module.substr(number));
}

}  // namespace

kernel_path::kernel_path(anatomy& to) : to_(to) {
    struct ending {
        std::string_view path;  ///< behind the node, without the number of a card
        source what;
    };
    constexpr ending endings[] = {{"vipl.call", source::vi_call},
                                  {"driver.send", source::vi_send},
                                  {"driver.receive", source::vi_receive},
                                  {"sockets.call", source::socket_call},
                                  {"sockets.send", source::socket_send},
                                  {"sockets.receive", source::socket_receive},
                                  {"driver.device.transmit", source::driver_transmit},
                                  {"driver.device.receive", source::driver_receive},
                                  {"driver.device.handler", source::driver_handler},
                                  {"nic.registers.write", source::register_write},
                                  {"nic.registers.interrupt", source::interrupt},
                                  {"nic.transmit_ring.fetch", source::ring_fetch},
                                  {"nic.receive_ring.write_back", source::ring_status},
                                  {"nic.transmit.part", source::part},
                                  {"nic.mac.sent", source::frame_sent},
                                  {"nic.mac.received", source::frame_received},
                                  {"nic.receive.wait", source::fifo_wait},
                                  {"nic.receive.data", source::data}};
    const auto& probes = sim::simulation::current().probes();
    for (const auto& [name, probe] : probes) {
        const std::string path = sim::without_card(name);
        for (const ending& e : endings) {
            if (path != e.path) continue;
            const std::string owner = card_of(name);
            if (!probes.contains(owner + ".mac.sent")) continue;  // no Ethernet card
            cards_[owner].name = owner;
            places_.emplace(probe, place{e.what, &cards_[owner]});
            probe->attach(*this);
        }
    }
}

/// The card that a call names.
kernel_path::card& kernel_path::called(card& first, std::uint64_t number) {
    return number == 0 ? first : cards_.at(first.name + std::to_string(number));
}

void kernel_path::on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                           std::uint64_t) {
    const auto found = places_.find(&p);
    if (found == places_.end() || found->second.what != source::interrupt || bits == 0) return;
    auto& all = found->second.at->assertions;
    all.push_back(at);
    constexpr std::size_t enough = 16;
    if (all.size() > enough) all.pop_front();
}

void kernel_path::on_packet(const sim::packet_probe& p, sim::picoseconds at,
                            std::span<const std::uint8_t> bytes, std::string_view,
                            std::span<const sim::field> fields) {
    const place& where = places_.at(&p);
    if (where.what == source::frame_sent)
        sent(*where.at, get(fields, "first"), at, bytes);
    else if (where.what == source::frame_received)
        arrived(*where.at, at, bytes);
}

void kernel_path::on_span(const sim::span_probe& p, sim::picoseconds begin, sim::picoseconds end,
                          std::string_view what, std::span<const sim::field> fields) {
    const place& where = places_.at(&p);
    card& on = where.what == source::vi_call ? called(*where.at, get(fields, "card")) : *where.at;
    const span when{begin, end};
    const std::uint64_t number = get(fields, "number");
    switch (where.what) {
        case source::vi_call:
            if (what == "VipPostSend") {
                // The library's part comes before the trap, and is known last.
                const auto m = on.vi_messages.find(on.last_of_vi[get(fields, "vi")]);
                if (m != on.vi_messages.end()) m->second->begin = std::min(m->second->begin, begin);
            } else if (what == "VipRecvDone") {
                const auto known = on.number_of_slot.find(get(fields, "slot"));
                if (known != on.number_of_slot.end()) finish(on, known->second, 0, when, true);
            }
            return;
        case source::vi_send:
            return sending(on.vi_messages, on, what, when, fields);
        case source::socket_send:
            return sending(on.socket_messages, on, what, when, fields);
        case source::driver_transmit: {
            const std::uint64_t before = on.transmit.empty() ? 0 : on.transmit.rbegin()->first + 1;
            frame& f = on.transmit[number];
            f.first = before;
            f.software = when;
            return forget_old(on.transmit);
        }
        case source::register_write:
            if (get(fields, "offset") == abi::ethernet::TRANSMIT_POSTED)
                on.doorbells.emplace(get(fields, "data"), end);
            return forget_old(on.doorbells);
        case source::ring_fetch:
            for (std::uint64_t i = 0; i < get(fields, "count"); ++i)
                on.fetches[get(fields, "first") + i] = when;
            return forget_old(on.fetches);
        case source::part:
            on.parts[number] = when;
            return forget_old(on.parts);
        case source::fifo_wait:
            while (!on.arrivals.empty()) {
                frame f = std::move(on.arrivals.front());
                on.arrivals.pop_front();
                if (f.arrived != begin) continue;  // lost in the FIFO
                f.scatter.begin = end;
                on.receive[number] = std::move(f);
                break;
            }
            return forget_old(on.receive);
        case source::data:
            on.receive[number].scatter.end = end;
            return;
        case source::ring_status:
            on.receive[number].noted = end;
            return;
        case source::driver_handler:
            on.handler = when;
            return;
        case source::driver_receive: {
            frame& f = on.receive[number];
            f.handler = on.handler;
            for (const sim::picoseconds at : on.assertions)
                if (at <= on.handler.begin) f.asserted = at;
            f.steps.push_back({journey::completion, activity::behind, begin});
            f.steps.push_back({journey::completion, activity::taking, end});
            return;
        }
        case source::vi_receive:
        case source::socket_receive:
            return receiving(on, what, when, fields);
        case source::socket_call:
            if (what == "recv") finish(on, number, get(fields, "sequence"), when, false);
            return;
        default:
            return;
    }
}

void kernel_path::sending(message_map& messages, card& on, std::string_view what, const span& when,
                          std::span<const sim::field> fields) {
    outgoing_ptr& m = messages[get(fields, "message")];
    if (!m) {
        m = std::make_shared<outgoing>();
        m->begin = when.begin;
        if (&messages == &on.vi_messages) {
            on.last_of_vi[get(fields, "vi")] = get(fields, "message");
            m->steps.push_back({journey::post, activity::entry, when.begin});
        }
        forget_old(messages);
    }
    if (what.starts_with("queued")) {
        ++m->frames;
        m->bytes = get(fields, "bytes");
        m->end = static_cast<std::uint32_t>(get(fields, "sequence"));
        if (what == "queued last") {
            on.transmit[get(fields, "number")].messages.push_back(m);
            return;
        }
        m->earlier = when.end;
        m->steps.clear();
        return;
    }
    // A segment may have waited since its bytes were copied.
    if (what == "tcp") m->steps.push_back({journey::post, activity::window, when.begin});
    for (const named_step& s : sending_steps)
        if (s.what == what) m->steps.push_back({journey::post, s.is, when.end});
}

/// The rest of the frame may still be on its way from memory.
void kernel_path::sent(card& on, std::uint64_t first, sim::picoseconds at,
                       std::span<const std::uint8_t> bytes) {
    const auto known = on.transmit.lower_bound(first);
    if (known == on.transmit.end() || known->second.first != first) return;
    frame f = known->second;
    f.last = known->first;
    f.sender = on.name;
    f.sent = at;
    f.bytes.assign(bytes.begin(), bytes.end());
    const auto bell = on.doorbells.upper_bound(f.last);
    if (bell != on.doorbells.end()) f.doorbell = bell->second;
    on.flying.push_back(std::move(f));
    if (on.flying.size() > remembered) on.flying.pop_front();
}

/// The oldest frame under way that begins with the same bytes; what the cable has lost is passed over.
void kernel_path::arrived(card& on, sim::picoseconds at, std::span<const std::uint8_t> bytes) {
    frame arrival;
    for (auto& [name, from] : cards_) {
        const auto same = std::ranges::find_if(from.flying, [&](const frame& f) {
            return f.bytes.size() <= bytes.size() && std::ranges::equal(f.bytes, bytes.first(f.bytes.size()));
        });
        if (same == from.flying.end()) continue;
        arrival = std::move(*same);
        from.flying.erase(same);
        arrival.fetch = from.fetches[arrival.last];
        arrival.gather = {from.parts[arrival.first].begin, from.parts[arrival.last].end};
        break;
    }
    arrival.arrived = at;
    on.arrivals.push_back(std::move(arrival));
    if (on.arrivals.size() > remembered) on.arrivals.pop_front();
}

void kernel_path::receiving(card& on, std::string_view what, const span& when,
                            std::span<const sim::field> fields) {
    const std::uint64_t number = get(fields, "number");
    const auto found = on.receive.find(number);
    if (found == on.receive.end()) return;
    frame& f = found->second;
    const auto step = [&](journey part, activity is, sim::picoseconds end) {
        f.steps.push_back({part, is, end});
    };
    if (what == "packet") {
        step(journey::completion, activity::transport, when.end);
    } else if (what == "place") {
        step(journey::completion, activity::transport, when.begin);
        step(journey::completion, activity::placing, when.end);
    } else if (what == "copy") {
        step(journey::completion, activity::delivery_copy, when.end);
    } else if (what == "complete") {
        step(journey::completion, activity::completing, when.end);
    } else if (what == "completed") {
        on.number_of_slot[get(fields, "slot")] = number;
    } else if (what == "backlog") {
        step(journey::completion, activity::backlog, when.end);
    } else if (what == "ip") {
        step(journey::completion, activity::softirq, when.begin);
        step(journey::completion, activity::network, when.end);
    } else if (what == "verify") {
        step(journey::completion, activity::network, when.begin);
        step(journey::completion, activity::checksum_out, when.end);
    } else if (what == "udp" || what == "tcp") {
        step(journey::completion, activity::network, when.begin);
        step(journey::completion, activity::transport, when.end);
    } else if (what == "wake") {
        f.woken = true;
        step(journey::completion, activity::wake, when.end);
    } else if (what == "taken up") {
        step(journey::take, f.woken ? activity::scheduler : activity::poll, when.begin);
    } else if (what == "copy to user") {
        step(journey::take, activity::copy_out, when.end);
    } else if (what == "checksum") {
        step(journey::take, activity::checksum_out, when.end);
    } else if (what == "buffer") {
        step(journey::take, activity::buffer, when.end);
    } else if (what == "update") {
        step(journey::take, activity::protocol, when.end);
    }
}

/// Of a stream, several messages may end in a frame; those up to `sequence` have been taken.
void kernel_path::finish(card& on, std::uint64_t number, std::uint64_t sequence, const span& call,
                         bool by_library) {
    const auto found = on.receive.find(number);
    if (found == on.receive.end()) return;
    auto& messages = found->second.messages;
    const auto left = std::ranges::find_if(messages, [&](const outgoing_ptr& m) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(sequence) - m->end) < 0;
    });
    for (auto m = messages.begin(); m != left; ++m) account(found->second, **m, on.name, call, by_library);
    messages.erase(messages.begin(), left);
    if (messages.empty()) on.receive.erase(found);
}

void kernel_path::account(const frame& f, const outgoing& m, const std::string& receiver, const span& call,
                          bool by_library) {
    message_anatomy done{.sender = f.sender,
                         .receiver = receiver,
                         .bytes = m.bytes,
                         .packets = m.frames,
                         .measured = false,
                         .path = {},
                         .beside = {}};
    sim::picoseconds at = m.begin;
    const auto to = [&](sim::picoseconds when, journey part, activity what) {
        if (when <= at) return;
        const stage s{part, what};
        if (!done.path.empty() && done.path.back().what == s)
            done.path.back().end = when;
        else
            done.path.push_back({s, at, when});
        at = when;
    };
    to(m.earlier, journey::post, activity::earlier);
    for (const step& s : m.steps) to(s.end, s.part, s.what);
    to(f.software.begin, journey::post, activity::ip);
    to(std::min(f.software.end, f.doorbell), journey::post, activity::driver);
    to(f.doorbell, journey::doorbell, activity::store);
    // A frame may be on the wire before all of it is there: what comes later is beside the path.
    to(std::min(f.fetch.begin, f.sent), journey::descriptor, activity::turn);
    to(std::min(f.fetch.end, f.sent), journey::descriptor, activity::ring);
    to(std::min(f.gather.begin, f.sent), journey::payload, activity::turn);
    to(std::min(f.gather.end, f.sent), journey::payload, activity::gather);
    to(f.sent, journey::send, activity::room);
    to(f.arrived, journey::wire, activity::frame);
    to(f.scatter.begin, journey::data, activity::room);
    to(f.scatter.end, journey::data, activity::scatter);
    to(f.noted, journey::completion, activity::note);
    if (f.handler.begin > at) {
        to(f.asserted, journey::completion, activity::coalesce);
        to(f.handler.begin, journey::completion, activity::delivery);
        to(f.handler.end, journey::completion, activity::handler);
    }
    for (const step& s : f.steps) to(s.end, s.part, s.what);
    to(call.begin, journey::take, activity::poll);
    to(call.end, journey::take, by_library ? activity::returns : activity::trap);
    if (!done.path.empty()) to_.add(std::move(done));
}

}  // namespace vinic::traces
