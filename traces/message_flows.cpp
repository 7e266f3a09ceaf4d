// SPDX-License-Identifier: Apache-2.0
#include "traces/message_flows.h"

#include <fmt/format.h>

#include <algorithm>

namespace vinic::traces {

namespace {

/// What a slice does for its message, where its own name does not say so.
const char* step_name(checkpoint what) {
    switch (what) {
        case checkpoint::doorbell:
            return "doorbell";
        case checkpoint::descriptor_begin:
            return "descriptor";
        case checkpoint::data_begin:
            return "data";
        case checkpoint::completion_begin:
            return "completion";
        default:
            return nullptr;
    }
}

void insert(std::vector<message_flows::point>& among, const message_flows::point& p) {
    const auto behind = std::ranges::upper_bound(among, p.at, {}, &message_flows::point::at);
    if (behind != among.begin() && std::prev(behind)->where == p.where && std::prev(behind)->at == p.at)
        return;
    among.insert(behind, p);
}

}  // namespace

void message_flows::on_step(const message_path& m, checkpoint what, const sim::probe& where,
                            sim::picoseconds begin, sim::picoseconds end) {
    const auto [at, fresh] = under_way_.try_emplace({m.sender, m.number});
    flow& of = at->second;
    if (fresh) of.name = fmt::format("message {} of {}", m.number, m.sender);
    point seen{&where, begin};
    if (what == checkpoint::receive)
        if (const auto began = receptions_.find(m.receiver); began != receptions_.end()) seen = began->second;
    insert(of.points, seen);
    if (const char* name = step_name(what))
        latest_ = {&where, begin, end, fmt::format("{}, {}", name, of.name)};
    if (what != checkpoint::taken) return;
    of.taken = end;
    of.receiver = m.receiver;
    const auto earlier = [](const flow& a, const flow& b) {
        return a.taken != b.taken ? a.taken < b.taken : a.receiver < b.receiver;
    };
    taken_.insert(std::upper_bound(taken_.begin(), taken_.end(), of, earlier), std::move(of));
    under_way_.erase(at);
}

void message_flows::also(const std::string& sender, std::uint64_t number, const sim::probe& where,
                         sim::picoseconds at) {
    const auto found = under_way_.find({sender, number});
    if (found == under_way_.end()) return;
    std::vector<point>& points = found->second.points;
    const bool known = std::ranges::any_of(points, [&](const point& p) { return p.where == &where; });
    if (!known) insert(points, {&where, at});
}

std::optional<std::string> message_flows::label(const sim::probe& where, sim::picoseconds begin,
                                                sim::picoseconds end) const {
    if (latest_.where != &where || latest_.begin != begin || latest_.end != end) return std::nullopt;
    return latest_.label;
}

void message_flows::finish_before(sim::picoseconds now, const std::function<void(const flow&)>& each) {
    for (; !taken_.empty() && taken_.front().taken < now; taken_.pop_front()) each(taken_.front());
}

void message_flows::finish_rest(const std::function<void(const flow&)>& each) {
    finish_before(sim::never, each);
    for (const auto& [name, of] : under_way_) each(of);
    under_way_.clear();
}

}  // namespace vinic::traces
