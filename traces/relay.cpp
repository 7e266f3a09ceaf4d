// SPDX-License-Identifier: Apache-2.0
#include "traces/relay.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hw/sim/simulation.h"

namespace vinic::traces {

namespace {

/// Small enough for a cache, and large enough that waking the other thread does not show.
constexpr std::size_t stretch_bytes = 1 << 18;
constexpr std::size_t most_stretches = 16;

/// Of wall time: who watches is not much later than what happens, however slowly it does.
constexpr auto longest_delay = std::chrono::milliseconds(50);

/// Those who watch a probe are known to probes only.
struct any_probe : sim::probe {
    static std::vector<sim::listener*> exchange(sim::probe& of, std::vector<sim::listener*> with) {
        return std::exchange(of.*&any_probe::listeners_, std::move(with));
    }
};

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 7) / 8 * 8; }
std::uint8_t count(std::span<const sim::field> fields) { return static_cast<std::uint8_t>(fields.size()); }
template <typename T>
std::uint32_t length(const T& of) {
    return static_cast<std::uint32_t>(of.size());
}

}  // namespace

relay::relay() {
    for (const auto& [name, probe] : sim::simulation::current().probes()) {
        if (!probe->watched()) continue;
        if (watched_.size() <= probe->number()) watched_.resize(probe->number() + 1);
        watched_[probe->number()] = {probe, any_probe::exchange(*probe, {this})};
    }
    current_.reports.resize(stretch_bytes);
    free_.resize(most_stretches - 1);
    thread_ = std::thread([this] { work(); });
}

relay::~relay() {
    hand_over();
    {
        const std::scoped_lock lock(mutex_);
        over_ = true;
    }
    changed_.notify_all();
    thread_.join();
    for (const auto& [name, probe] : sim::simulation::current().probes()) any_probe::exchange(*probe, {});
}

void relay::on_value(const sim::value_probe& p, sim::picoseconds at, std::uint64_t bits,
                     std::uint64_t floating) {
    write({kind::value, 0, p.number(), 0, 0, at, bits, floating}, {}, {}, {});
}

void relay::on_span(const sim::span_probe& p, sim::picoseconds begin, sim::picoseconds end,
                    std::string_view what, std::span<const sim::field> fields) {
    write({kind::span, count(fields), p.number(), length(what), 0, begin, end, 0}, what, fields, {});
}

void relay::on_packet(const sim::packet_probe& p, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                      std::string_view note, std::span<const sim::field> fields) {
    write({kind::packet, count(fields), p.number(), length(note), length(bytes), at, 0, 0}, note, fields,
          bytes);
}

void relay::then(std::function<void()> what) {
    check();
    std::byte* const to = room(sizeof(heading));  // first: it may begin a stretch
    const heading h{kind::action, 0, length(current_.actions), 0, 0, 0, 0, 0};
    std::memcpy(to, &h, sizeof h);
    current_.actions.push_back(std::move(what));
    if (std::chrono::steady_clock::now() - handed_over_ > longest_delay) hand_over();
}

void relay::wait() {
    hand_over();
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return full_.empty() && !busy_; });
    }
    check();
}

void relay::write(heading what, std::string_view text, std::span<const sim::field> fields,
                  std::span<const std::uint8_t> bytes) {
    const std::size_t text_bytes = aligned(text.size()), packet_bytes = aligned(bytes.size());
    std::byte* to = room(sizeof what + fields.size_bytes() + text_bytes + packet_bytes);
    std::memcpy(to, &what, sizeof what);
    to += sizeof what;
    if (what.what == kind::value) return;
    if (!fields.empty()) std::memcpy(to, fields.data(), fields.size_bytes());
    to += fields.size_bytes();
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    if (!bytes.empty()) std::memcpy(to + text_bytes, bytes.data(), bytes.size());
}

std::byte* relay::room(std::size_t bytes) {
    if (current_.used + bytes > current_.reports.size()) [[unlikely]] {
        hand_over();
        if (current_.reports.size() < bytes) current_.reports.resize(std::max(bytes, stretch_bytes));
    }
    return current_.reports.data() + std::exchange(current_.used, current_.used + bytes);
}

void relay::hand_over() {
    if (current_.used == 0) return;
    handed_over_ = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    full_.push_back(std::move(current_));
    changed_.notify_all();
    changed_.wait(lock, [this] { return !free_.empty(); });
    current_ = std::move(free_.back());
    free_.pop_back();
}

void relay::check() {
    const std::scoped_lock lock(mutex_);
    if (!error_) return;
    broken_ = true;
    std::rethrow_exception(std::exchange(error_, nullptr));
}

void relay::work() {
    bool broken = false;
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return !full_.empty() || over_; });
        if (full_.empty()) return;
        stretch now = std::move(full_.front());
        full_.pop_front();
        busy_ = true;
        lock.unlock();
        std::exception_ptr error;
        try {
            if (!broken) tell(now);
        } catch (...) {
            broken = true;
            error = std::current_exception();
        }
        now.used = 0;
        now.actions.clear();
        lock.lock();
        if (error) error_ = error;
        busy_ = false;
        free_.push_back(std::move(now));
        changed_.notify_all();
    }
}

void relay::tell(const stretch& what) const {
    const std::byte* at = what.reports.data();
    const std::byte* const end = at + what.used;
    while (at != end) {
        const heading& h = *reinterpret_cast<const heading*>(at);
        at += sizeof h;
        if (h.what == kind::value) {
            const watched& w = watched_[h.probe];
            const auto& probe = static_cast<const sim::value_probe&>(*w.what);
            for (sim::listener* l : w.by) l->on_value(probe, h.at, h.end, h.floating);
        } else if (h.what == kind::action) {
            what.actions[h.probe]();
        } else {
            at = tell(h, at);
        }
    }
}

const std::byte* relay::tell(const heading& h, const std::byte* rest) const {
    const watched& w = watched_[h.probe];
    const std::span fields(reinterpret_cast<const sim::field*>(rest), h.fields);
    rest += fields.size_bytes();
    const std::string_view text(reinterpret_cast<const char*>(rest), h.text);
    rest += aligned(h.text);
    if (h.what == kind::span) {
        const auto& probe = static_cast<const sim::span_probe&>(*w.what);
        for (sim::listener* l : w.by) l->on_span(probe, h.at, h.end, text, fields);
        return rest;
    }
    const auto& probe = static_cast<const sim::packet_probe&>(*w.what);
    const std::span bytes(reinterpret_cast<const std::uint8_t*>(rest), h.bytes);
    for (sim::listener* l : w.by) l->on_packet(probe, h.at, bytes, text, fields);
    return rest + aligned(h.bytes);
}

}  // namespace vinic::traces
