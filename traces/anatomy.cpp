// SPDX-License-Identifier: Apache-2.0
#include "traces/anatomy.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "hw/sim/simulation.h"

namespace vinic::traces {

namespace {

/// What is no longer needed is dropped once in so many messages.
constexpr std::size_t messages_between_cleanups = 64;

}  // namespace

anatomy::anatomy() {
    const auto& probes = sim::simulation::current().probes();
    if (const auto measuring = probes.find("workload.measuring"); measuring != probes.end())
        measuring->second->attach(*this);
}

void anatomy::on_value(const sim::value_probe&, sim::picoseconds at, std::uint64_t bits, std::uint64_t) {
    if (bits != 0)
        measured_.push_back({at, sim::never});
    else if (!measured_.empty())
        measured_.back().end = at;
}

bool anatomy::is_measured(sim::picoseconds at) const {
    return std::ranges::any_of(measured_,
                               [&](const measured_interval& m) { return at >= m.begin && at < m.end; });
}

void anatomy::on_step(const message_path& m, checkpoint what, const sim::probe& where, sim::picoseconds begin,
                      sim::picoseconds end) {
    message_events& e = under_way_[&m];
    const message_events::span span{&where, begin, end};
    switch (what) {
        case checkpoint::post_begin:
            e.post = span;
            break;
        case checkpoint::doorbell:
            e.doorbell = span;
            break;
        case checkpoint::descriptor_begin:
            e.descriptor = span;
            break;
        case checkpoint::payload_begin:
            if (!e.first_payload.by) e.first_payload = span;
            e.last_payload = span;
            break;
        case checkpoint::data_begin:
            e.data = span;
            break;
        case checkpoint::completion_begin:
            e.completion = span;
            break;
        case checkpoint::taken:
            e.taken = span;
            break;
        default:
            break;
    }
}

void anatomy::on_more_payload(const message_path& m, const sim::probe& where, sim::picoseconds begin,
                              sim::picoseconds end) {
    under_way_[&m].last_payload = {&where, begin, end};
}

void anatomy::on_sent(const message_path& m, sim::picoseconds at, std::uint64_t address,
                      std::uint64_t bytes) {
    under_way_[&m].sent = {at, address, bytes};
}

void anatomy::on_received(const message_path& m, sim::picoseconds at, std::uint64_t address,
                          std::uint64_t bytes) {
    under_way_[&m].received = {at, address, bytes};
}

void anatomy::on_finished(const message_path& m) {
    const auto found = under_way_.find(&m);
    if (found == under_way_.end()) return;
    found->second.vi = m.vi;
    found->second.receive_status = m.receive_status;
    path_builder built(history_, history_.of(m.sender), history_.of(m.receiver), found->second);
    built.build();
    message_anatomy done{.sender = m.sender,
                         .receiver = m.receiver,
                         .bytes = m.bytes,
                         .packets = m.packets,
                         .measured = is_measured(found->second.post.begin),
                         .path = std::move(built.path),
                         .beside = std::move(built.beside)};
    const sim::picoseconds end = done.end();
    insert(std::move(done));
    under_way_.erase(found);
    if (finished_.size() % messages_between_cleanups == 0) forget(end);
}

void anatomy::add(message_anatomy done) {
    done.measured = is_measured(done.begin());
    insert(std::move(done));
}

void anatomy::insert(message_anatomy done) {
    const auto order = [](const message_anatomy& a, const message_anatomy& b) {
        return std::tuple(a.end(), std::string_view(a.receiver), std::string_view(a.sender)) <
               std::tuple(b.end(), std::string_view(b.receiver), std::string_view(b.sender));
    };
    finished_.insert(std::upper_bound(finished_.begin(), finished_.end(), done, order), std::move(done));
}

/// What no message needs that is under way, or that begins after `now`.
void anatomy::forget(sim::picoseconds now) {
    sim::picoseconds oldest = now;
    for (const auto& [message, events] : under_way_) oldest = std::min(oldest, events.post.begin);
    history_.forget(oldest);
}

}  // namespace vinic::traces
