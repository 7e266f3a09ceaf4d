// SPDX-License-Identifier: Apache-2.0
#include "traces/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "firmware/abi/card_map.h"
#include "firmware/abi/myvia_card.h"
#include "hw/sim/simulation.h"
#include "traces/fields.h"
#include "traces/vi_packet.h"

namespace vinic::traces {

namespace {

constexpr std::size_t recent_blocks = 256;

bool carries_message(const abi::packet_header& h) {
    return h.kind == abi::packet_send || h.kind == abi::packet_rdma_write;
}

bool consumes_descriptor(const abi::packet_header& h) {
    return h.kind == abi::packet_send || (h.flags & abi::packet_immediate) != 0;
}

/// The VI whose send queue a word written to the card rings for: in a process's page of SRAM, in its own
/// one, or in its page of the doorbell region (firmware/abi/myvia_card.h).
std::optional<std::uint32_t> rings_for(std::uint64_t offset, std::uint32_t word) {
    using namespace abi::myvia;
    if (offset >= abi::card_map::doorbells) {
        const std::uint64_t in_region = offset - abi::card_map::doorbells;
        if (in_region % abi::card_map::doorbell_page_bytes != doorbell_send * sizeof(word)) return {};
        return static_cast<std::uint32_t>(in_region / abi::card_map::doorbell_page_bytes);
    }
    if ((word & doorbell_valid) == 0 || ((word & ~doorbell_valid) >> 16) != doorbell_send) return {};
    if (offset % doorbell_page_bytes == doorbell_send * sizeof(word))  // entries of a ring are 8 bytes apart
        return static_cast<std::uint32_t>(offset % doorbell_pages_alignment / doorbell_page_bytes);
    return word & 0xFFFF;
}

}  // namespace

account::account() {
    struct ending {
        std::string_view suffix;
        source what;
    };
    constexpr ending endings[] = {
        {".vipl.call", source::call},           {".pci.write", source::card_write},
        {".dma.channel0.payload", source::dma}, {".dma.channel1.payload", source::dma},
        {".dma.channel2.payload", source::dma}, {".dma.channel3.payload", source::dma},
        {".send.packet", source::sent},         {".receive.packet", source::received}};
    for (const auto& [name, probe] : sim::simulation::current().probes()) {
        for (const ending& e : endings) {
            if (!name.ends_with(e.suffix)) continue;
            const std::string owner = name.substr(0, name.size() - e.suffix.size());
            places_.emplace(probe, place{e.what, owner, e.what == source::call ? nullptr : &cards_[owner]});
            probe->attach(*this);
        }
    }
}

std::size_t account::unfinished() const { return posted_ - finished_.size(); }

void account::on_span(const sim::span_probe& p, sim::picoseconds begin, sim::picoseconds end,
                      std::string_view what, std::span<const sim::field> fields) {
    const place& where = places_.at(&p);
    const interval when{&p, begin, end};
    switch (where.what) {
        case source::call:
            return called(where.owner, when, what, fields);
        case source::card_write:
            return written(*where.at, when, fields);
        case source::dma:
            return transferred(*where.at, when, what == "to card", fields);
        case source::sent:
        case source::received:
            return;
    }
}

void account::on_packet(const sim::packet_probe& p, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                        std::string_view, std::span<const sim::field> fields) {
    const place& where = places_.at(&p);
    const interval when{&p, at, at};
    if (where.what == source::sent)
        sent(*where.at, when, bytes, get(fields, "address"));
    else
        received(where.owner, when, bytes, get(fields, "address"));
}

void account::tell_step(const path& p, checkpoint what, const interval& when) {
    for (message_listener* who : listeners_) who->on_step(p.message, what, *when.by, when.begin, when.end);
}

void account::called(const std::string& node, const interval& when, std::string_view what,
                     std::span<const sim::field> fields) {
    const std::uint64_t number = get(fields, "card");
    const std::string name = node + (number == 0 ? ".nic" : fmt::format(".nic{}", number));
    card& on = cards_[name];
    const std::uint64_t slot = get(fields, "slot");
    const auto vi = static_cast<std::uint32_t>(get(fields, "vi"));
    if (what == "VipPostRecv") return on.vis[vi].receive_slots.push_back(slot);
    if (what == "VipRecvDone") return taken(on, slot, when);
    if (what != "VipPostSend") return;
    ++posted_;
    const auto fresh = std::make_shared<path>();
    fresh->message.sender = name;
    fresh->message.vi = vi;
    fresh->message.number = ++on.posted;
    fresh->message.descriptor = slot - offsetof(abi::myvia::slot, status);
    fresh->message.bytes = get(fields, "bytes");
    fresh->message[checkpoint::post_begin] = when.begin;
    fresh->message[checkpoint::post_end] = when.end;
    fresh->slot = slot;
    on.vis[vi].unrung.push_back(fresh);
    on.vis[vi].unsent.push_back(fresh);
    tell_step(*fresh, checkpoint::post_begin, when);
}

void account::written(card& at, const interval& when, std::span<const sim::field> fields) {
    const auto vi = rings_for(get(fields, "offset"), static_cast<std::uint32_t>(get(fields, "data")));
    if (!vi) return;
    vi_side& side = at.vis[*vi];
    if (side.unrung.empty()) return;
    const path_ptr p = side.unrung.front();
    side.unrung.pop_front();
    p->message[checkpoint::doorbell] = when.end;
    at.unfetched.push_back(p);
    tell_step(*p, checkpoint::doorbell, when);
}

void account::transferred(card& at, const interval& when, bool to_card, std::span<const sim::field> fields) {
    const std::uint64_t host = get(fields, "host_address"), bytes = get(fields, "bytes"),
                        local = get(fields, "local_address");
    const auto covers = [&](std::uint64_t address) { return address >= host && address < host + bytes; };
    if (to_card) {
        std::erase_if(at.unfetched, [&](const path_ptr& p) {
            if (!covers(p->slot)) return false;
            p->message[checkpoint::descriptor_begin] = when.begin;
            p->message[checkpoint::descriptor_end] = when.end;
            tell_step(*p, checkpoint::descriptor_begin, when);
            return true;
        });
        at.to_card.push_back({when, local});
        if (at.to_card.size() > recent_blocks) at.to_card.pop_front();
        return;
    }
    for (const path_ptr& p : at.arrived) {
        message_path& m = p->message;
        if (m[checkpoint::completion_end] != 0) continue;
        if (covers(p->receive_slot)) {
            m[checkpoint::completion_begin] = when.begin;
            m[checkpoint::completion_end] = when.end;
            return tell_step(*p, checkpoint::completion_begin, when);
        }
        if (local >= p->buffer && local < p->buffer_end) {
            if (m[checkpoint::data_begin] == 0) m[checkpoint::data_begin] = when.begin;
            m[checkpoint::data_end] = when.end;
            return tell_step(*p, checkpoint::data_begin, when);
        }
    }
}

void account::sent(card& at, const interval& when, std::span<const std::uint8_t> bytes,
                   std::uint64_t address) {
    const auto header = vi_header_of(bytes);
    if (!header || !carries_message(*header)) return;
    vi_side& side = at.vis[header->source_vi];
    const bool again =
        header->sequence < side.next_sequence && side.next_sequence - header->sequence < 0x80000000;
    if ((header->flags & abi::packet_first) != 0 && !again && !side.unsent.empty()) {
        side.sending = side.unsent.front();
        side.unsent.pop_front();
        message_path& m = side.sending->message;
        m[checkpoint::send] = when.begin;
        for (const block& b : at.to_card) {
            if (!b.brought(address, bytes.size(), m[checkpoint::post_begin])) continue;
            if (m[checkpoint::payload_begin] == 0) m[checkpoint::payload_begin] = b.when.begin;
            m[checkpoint::payload_end] = std::max(m[checkpoint::payload_end], b.when.end);
            tell_step(*side.sending, checkpoint::payload_begin, b.when);
        }
        tell_step(*side.sending, checkpoint::send, when);
    } else if (side.sending && !again) {
        tell_more_payload(at, side.sending->message, address, bytes.size());
    }
    side.next_sequence = std::max<std::uint64_t>(side.next_sequence, std::uint64_t{header->sequence} + 1);
    if (!side.sending) return;
    ++side.sending->message.packets;
    if (!again)
        for (message_listener* who : listeners_) {
            who->on_sent(side.sending->message, when.begin, address, bytes.size());
            who->on_packet_of(side.sending->message, *header);
        }
    if ((header->flags & abi::packet_last) == 0) return;
    if (consumes_descriptor(*header)) {
        auto& under_way =
            on_wire_[{header->connection_key, header->source_vi, header->destination_vi, header->sequence}];
        std::erase_if(under_way,
                      [&](const path_ptr& p) { return p->message.sender == side.sending->message.sender; });
        under_way.push_back(side.sending);
    }
    side.sending.reset();
}

/// A buffer serves one packet after the other: what came into it since the packet before was sent from it.
void account::tell_more_payload(const card& at, const message_path& m, std::uint64_t address,
                                std::uint64_t bytes) const {
    for (const block& b : at.to_card)
        if (b.brought(address, bytes, m[checkpoint::payload_end]))
            for (message_listener* who : listeners_)
                who->on_more_payload(m, *b.when.by, b.when.begin, b.when.end);
}

void account::received(const std::string& name, const interval& when, std::span<const std::uint8_t> bytes,
                       std::uint64_t address) {
    const auto header = vi_header_of(bytes);
    if (!header) return;
    const auto found =
        on_wire_.find({header->connection_key, header->source_vi, header->destination_vi, header->sequence});
    if (found == on_wire_.end()) return;
    auto& under_way = found->second;
    const auto from_elsewhere =
        std::ranges::find_if(under_way, [&](const path_ptr& one) { return one->message.sender != name; });
    const auto arrived = from_elsewhere != under_way.end() ? from_elsewhere : under_way.begin();
    const path_ptr p = *arrived;
    under_way.erase(arrived);
    if (under_way.empty()) on_wire_.erase(found);
    card& at = cards_[name];
    auto& slots = at.vis[header->destination_vi].receive_slots;
    if (slots.empty()) return;
    p->message.receiver = name;
    p->message[checkpoint::receive] = when.begin;
    p->receive_slot = slots.front();
    slots.pop_front();
    p->buffer = address;
    p->buffer_end = address + bytes.size();
    at.arrived.push_back(p);
    tell_step(*p, checkpoint::receive, when);
    for (message_listener* who : listeners_) who->on_received(p->message, when.begin, address, bytes.size());
}

void account::taken(card& at, std::uint64_t slot, const interval& when) {
    const auto found =
        std::ranges::find_if(at.arrived, [&](const path_ptr& p) { return p->receive_slot == slot; });
    if (found == at.arrived.end()) return;
    const path_ptr p = *found;
    at.arrived.erase(found);
    p->message[checkpoint::taken] = when.end;
    tell_step(*p, checkpoint::taken, when);
    for (message_listener* who : listeners_) who->on_finished(p->message);
    finish(*p);
}

/// Checkpoints that a message did not pass (no payload) or passed before an earlier one close up to that one.
void account::finish(path& p) {
    message_path& m = p.message;
    for (std::size_t i = 1; i < checkpoints; ++i) {
        if (m.at[i] >= m.at[i - 1]) continue;
        if (m.at[i] != 0) m.overlapped += m.at[i - 1] - m.at[i];
        m.at[i] = m.at[i - 1];
    }
    finished_.push_back(std::move(m));
}

}  // namespace vinic::traces
