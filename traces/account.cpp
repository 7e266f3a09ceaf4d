// SPDX-License-Identifier: Apache-2.0
#include "traces/account.h"

#include <fmt/format.h>

#include <algorithm>

#include "firmware/abi/myvia_card.h"
#include "hw/sim/simulation.h"
#include "traces/vi_packet.h"

namespace vinic::traces {

namespace {

constexpr std::size_t recent_blocks = 256;

std::uint64_t get(std::span<const sim::field> fields, std::string_view name) {
    const auto found = std::ranges::find(fields, name, &sim::field::name);
    return found == fields.end() ? 0 : found->value;
}

bool carries_message(const abi::packet_header& h) {
    return h.kind == abi::packet_send || h.kind == abi::packet_rdma_write;
}

bool consumes_descriptor(const abi::packet_header& h) {
    return h.kind == abi::packet_send || (h.flags & abi::packet_immediate) != 0;
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
            places_.emplace(probe, place{e.what, name.substr(0, name.size() - e.suffix.size())});
            probe->attach(*this);
        }
    }
}

std::size_t account::unfinished() const { return posted_ - finished_.size(); }

void account::on_span(const sim::span_probe& p, sim::picoseconds begin, sim::picoseconds end,
                      std::string_view what, std::span<const sim::field> fields) {
    const place& where = places_.at(&p);
    switch (where.what) {
        case source::call:
            return called(where.owner, begin, end, what, fields);
        case source::card_write:
            return written(cards_[where.owner], end, fields);
        case source::dma:
            return transferred(cards_[where.owner], begin, end, what == "to card", fields);
        case source::sent:
        case source::received:
            return;
    }
}

void account::on_packet(const sim::packet_probe& p, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                        std::string_view, std::span<const sim::field> fields) {
    const place& where = places_.at(&p);
    if (where.what == source::sent)
        sent(cards_[where.owner], at, bytes, get(fields, "address"));
    else
        received(where.owner, at, bytes, get(fields, "address"));
}

void account::called(const std::string& node, sim::picoseconds begin, sim::picoseconds end,
                     std::string_view what, std::span<const sim::field> fields) {
    const std::uint64_t number = get(fields, "card");
    const std::string name = node + (number == 0 ? ".nic" : fmt::format(".nic{}", number));
    card& on = cards_[name];
    const std::uint64_t slot = get(fields, "slot");
    const auto vi = static_cast<std::uint32_t>(get(fields, "vi"));
    if (what == "VipPostRecv") return on.vis[vi].receive_slots.push_back(slot);
    if (what == "VipRecvDone") return taken(on, slot, end);
    if (what != "VipPostSend") return;
    ++posted_;
    const auto fresh = std::make_shared<path>();
    fresh->message.sender = name;
    fresh->message.vi = vi;
    fresh->message.bytes = get(fields, "bytes");
    fresh->message[checkpoint::post_begin] = begin;
    fresh->message[checkpoint::post_end] = end;
    fresh->slot = slot;
    on.vis[vi].unrung.push_back(fresh);
    on.vis[vi].unsent.push_back(fresh);
}

void account::written(card& at, sim::picoseconds when, std::span<const sim::field> fields) {
    using namespace abi::myvia;
    const auto word = static_cast<std::uint32_t>(get(fields, "data"));
    if ((word & doorbell_valid) == 0 || ((word & ~doorbell_valid) >> 16) != doorbell_send) return;
    vi_side& side = at.vis[word & 0xFFFF];
    if (side.unrung.empty()) return;
    side.unrung.front()->message[checkpoint::doorbell] = when;
    at.unfetched.push_back(side.unrung.front());
    side.unrung.pop_front();
}

void account::transferred(card& at, sim::picoseconds begin, sim::picoseconds end, bool to_card,
                          std::span<const sim::field> fields) {
    const std::uint64_t host = get(fields, "host_address"), bytes = get(fields, "bytes"),
                        local = get(fields, "local_address");
    const auto covers = [&](std::uint64_t address) { return address >= host && address < host + bytes; };
    if (to_card) {
        std::erase_if(at.unfetched, [&](const path_ptr& p) {
            if (!covers(p->slot)) return false;
            p->message[checkpoint::descriptor_begin] = begin;
            p->message[checkpoint::descriptor_end] = end;
            return true;
        });
        at.to_card.push_back({begin, end, local});
        if (at.to_card.size() > recent_blocks) at.to_card.pop_front();
        return;
    }
    for (const path_ptr& p : at.arrived) {
        message_path& m = p->message;
        if (m[checkpoint::completion_end] != 0) continue;
        if (covers(p->receive_slot)) {
            m[checkpoint::completion_begin] = begin;
            m[checkpoint::completion_end] = end;
            return;
        }
        if (local >= p->buffer && local < p->buffer_end) {
            if (m[checkpoint::data_begin] == 0) m[checkpoint::data_begin] = begin;
            m[checkpoint::data_end] = end;
            return;
        }
    }
}

void account::sent(card& at, sim::picoseconds when, std::span<const std::uint8_t> bytes,
                   std::uint64_t address) {
    const auto header = vi_header_of(bytes);
    if (!header || !carries_message(*header)) return;
    vi_side& side = at.vis[header->source_vi];
    if ((header->flags & abi::packet_first) != 0) {
        const bool again =
            header->sequence < side.next_sequence && side.next_sequence - header->sequence < 0x80000000;
        if (!again && !side.unsent.empty()) {
            side.sending = side.unsent.front();
            side.unsent.pop_front();
            message_path& m = side.sending->message;
            m[checkpoint::send] = when;
            for (const block& b : at.to_card) {
                if (b.local < address || b.local >= address + bytes.size() ||
                    b.begin < m[checkpoint::post_begin])
                    continue;
                if (m[checkpoint::payload_begin] == 0) m[checkpoint::payload_begin] = b.begin;
                m[checkpoint::payload_end] = std::max(m[checkpoint::payload_end], b.end);
            }
        }
    }
    side.next_sequence = std::max<std::uint64_t>(side.next_sequence, std::uint64_t{header->sequence} + 1);
    if (!side.sending) return;
    ++side.sending->message.packets;
    if ((header->flags & abi::packet_last) == 0) return;
    if (consumes_descriptor(*header))
        on_wire_[{header->connection_key, header->source_vi, header->destination_vi, header->sequence}] =
            side.sending;
    side.sending.reset();
}

void account::received(const std::string& name, sim::picoseconds when, std::span<const std::uint8_t> bytes,
                       std::uint64_t address) {
    const auto header = vi_header_of(bytes);
    if (!header) return;
    const auto found =
        on_wire_.find({header->connection_key, header->source_vi, header->destination_vi, header->sequence});
    if (found == on_wire_.end()) return;
    const path_ptr p = found->second;
    on_wire_.erase(found);
    card& at = cards_[name];
    auto& slots = at.vis[header->destination_vi].receive_slots;
    if (slots.empty()) return;
    p->message.receiver = name;
    p->message[checkpoint::receive] = when;
    p->receive_slot = slots.front();
    slots.pop_front();
    p->buffer = address;
    p->buffer_end = address + bytes.size();
    at.arrived.push_back(p);
}

void account::taken(card& at, std::uint64_t slot, sim::picoseconds when) {
    const auto found =
        std::ranges::find_if(at.arrived, [&](const path_ptr& p) { return p->receive_slot == slot; });
    if (found == at.arrived.end()) return;
    (*found)->message[checkpoint::taken] = when;
    finish(**found);
    at.arrived.erase(found);
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
