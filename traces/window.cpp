// SPDX-License-Identifier: Apache-2.0
#include "traces/window.h"

#include <algorithm>

#include "firmware/abi/myvia_card.h"

namespace vinic::traces {

namespace {

constexpr std::string_view doorbell_fifo = ".doorbells.doorbell";

/// Is that word, written into the card's SRAM, a doorbell of MyVIA? Its data come first.
bool rings(std::uint64_t word) {
    using namespace abi::myvia;
    const std::uint64_t op = (word & ~std::uint64_t{doorbell_valid}) >> 16;
    return (word & doorbell_valid) != 0 && op >= doorbell_send && op <= doorbell_arm_queue;
}

}  // namespace

window::window(std::optional<boundary> from, std::optional<boundary> to) {
    if (from) from_ = {.where = std::move(*from), .is_end = false, .seen = 0, .heard = {}};
    if (to) to_ = {.where = std::move(*to), .is_end = true, .seen = 0, .heard = {}};
    if (!from_ && to_) opened_at_ = 0;
}

bool window::watch::told_by(const sim::probe& p) const {
    const auto* h = std::get_if<happening>(&where);
    if (!h) return false;
    switch (h->what) {
        case happening::kind::doorbell:
            return p.name().ends_with(doorbell_fifo) || p.name().ends_with(".pci.write");
        case happening::kind::message:
            return p.name().ends_with(".vipl.call");
        case happening::kind::function:
            return p.name().ends_with(".lanai.function");
        case happening::kind::address:
            return p.name().ends_with(".lanai.pc");
    }
    return false;
}

bool window::watch::happens(const report& r, const sim::probe& p) const {
    const happening& h = std::get<happening>(where);
    switch (h.what) {
        case happening::kind::doorbell:
            return r.first && (p.name().ends_with(doorbell_fifo) || rings(r.bits));
        case happening::kind::message:
            return r.first && r.text == (is_end ? "VipRecvDone" : "VipPostSend");
        case happening::kind::function: {
            const auto names = static_cast<const sim::value_probe&>(p).states();
            return r.bits < names.size() && names[r.bits] == h.function;
        }
        case happening::kind::address:
            return r.bits == h.address;
    }
    return false;
}

/// When the bound lies, if this report tells: for a beginning when that begins, for an end when it is over.
std::optional<sim::picoseconds> window::watch::reached(const report& r,
                                                       const std::vector<const sim::probe*>& probes) {
    if (!heard[r.probe] || !happens(r, *probes[r.probe])) return std::nullopt;
    if (++seen != std::get<happening>(where).count) return std::nullopt;
    return is_end ? r.end : r.at;
}

bool window::needs(const sim::probe& p) const {
    return (from_ && from_->told_by(p)) || (to_ && to_->told_by(p));
}

void window::number(const std::vector<const sim::probe*>& probes) {
    probes_ = probes;
    for (std::optional<watch>* bound : {&from_, &to_}) {
        if (!*bound) continue;
        (*bound)->heard.clear();
        for (const sim::probe* p : probes) (*bound)->heard.push_back((*bound)->told_by(*p));
    }
}

void window::see(const report& r) {
    pass(r.at);
    if (from_ && !opened_at_) opened_at_ = from_->reached(r, probes_);
    if (to_ && !closed_at_) closed_at_ = to_->reached(r, probes_);
}

void window::pass(sim::picoseconds now) {
    const auto instant = [](const std::optional<watch>& bound) -> std::optional<sim::picoseconds> {
        const auto* at = bound ? std::get_if<sim::picoseconds>(&bound->where) : nullptr;
        return at ? std::optional(*at) : std::nullopt;
    };
    const auto from = instant(from_), to = instant(to_);
    if (from && !opened_at_ && now >= *from) opened_at_ = from;
    if (to && !closed_at_ && now >= *to) closed_at_ = to;
}

}  // namespace vinic::traces
