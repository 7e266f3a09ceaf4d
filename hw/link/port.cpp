// SPDX-License-Identifier: Apache-2.0
#include "hw/link/port.h"

#include <algorithm>
#include <utility>

#include "hw/link/packet_framer.h"
#include "hw/rtl/link/link_block.h"
#include "hw/sim/error.h"

namespace vinic::link {

port::port(const sc_core::sc_module_name& name, port_client& client)
    : sim::module(name, "port"),
      out("out"),
      in("in"),
      slack(*this),
      nres_ps(*this, {.name = "nres_ps",
                      .unit = "ps",
                      .value = 62'500'000'000,
                      .min = 0,
                      .max = 10'000'000'000'000,
                      .help = "a packet that cannot be sent for so long raises NRES; 0: never",
                      .source = "facts/lanai_pcix.md B6"}),
      impl(*this, {.name = "impl",
                   .value = "model",
                   .choices = {"model", "rtl"},
                   .help = "who makes and checks the characters: the model, or hw/rtl/link",
                   .source = "both do the same in the same clock"}),
      packets_sent(*this, "packets_sent", "packets whose tail has been sent"),
      packets_received(*this, "packets_received", "packets taken to their end"),
      crc_errors(*this, "crc_errors", "received packets whose CRC-8 does not fit"),
      blocked(*this, "blocked", "times that a packet was blocked for nres_ps"),
      client_(client),
      forward_(*this, 0),
      backward_(*this, 0),
      transmitter_(*this),
      receiver_(*this, slack, *this),
      framer_(make_framer()),
      agenda_(kinds, 1, [this] { act(); }) {
    out.bind(backward_);
    in.bind(forward_);
}

port::~port() = default;

std::unique_ptr<framer> port::make_framer() {
    framer::surroundings around{.emission = transmitter_.emission(),
                                .arrival = receiver_.arrival(),
                                .taking = receiver_.taking(),
                                .signal = [this](phase what, picoseconds delay) {
                                    transfer message;
                                    sc_core::sc_time t = sim::to_sc_time(delay);
                                    in->nb_transport_bw(message, what, t);
                                }};
    if (impl.get() == "rtl") return rtl::make_link(std::move(around));
    return std::make_unique<packet_framer>(std::move(around));
}

void port::forward(unsigned, transfer& message, phase what, picoseconds delay) {
    if (what == phase::connect) {
        receiver_.connect(message.cable);
        return framer_->connect_in(message.cable, receiver_);
    }
    if (what == phase::tail) return;
    arrivals_.put(sim::now() + delay, what, message);
    agenda_.set(arrival, 0, arrivals_.due());
}

void port::backward(unsigned, transfer& message, phase what, picoseconds delay) {
    if (what == phase::connect) {
        transmitter_.connect(message.cable);
        return framer_->connect_out(message.cable);
    }
    controls_.put(sim::now() + delay, what, message);
    agenda_.set(control, 0, controls_.due());
}

void port::announce(transfer& message, phase what, picoseconds delay) {
    sc_core::sc_time t = sim::to_sc_time(delay);
    out->nb_transport_fw(message, what, t);
}

void port::signal(phase what, picoseconds delay) { framer_->threshold(what, delay); }

void port::send(std::span<const std::uint8_t> bytes, bool last, picoseconds period,
                std::optional<std::uint64_t> crc32_from) {
    const picoseconds now = sim::now();
    framer_->catch_up(now);
    const link::wire& wire = transmitter_.cable();
    if (!filling_) {
        filling_ = std::make_shared<packet>();
        sending_base_ = transmitter_.next_character();
        transmitter_.begin(filling_, 0, 0);
        framer_->begin(filling_);
    }
    const run part_run{transmitter_.next_character(), bytes.size(), now, period};
    framer_->append(bytes, part_run, crc32_from);
    if (last) {
        framer_->finish(wire);
        transmitter_.close(filling_->bytes().size() + wire.gap, now);
    } else if (!bytes.empty()) {
        parts_.push_back(part_run.end() - 1);
    }
    if (!bytes.empty()) transmitter_.available(part_run, now);
    if (last) {
        const picoseconds after = bytes.empty() ? now : part_run.last();
        const std::uint64_t end = sending_base_ + filling_->bytes().size() + wire.gap;
        transmitter_.available({part_run.end(), end - part_run.end(), after, 0}, now);
        filling_.reset();
    }
    refresh();
}

bool port::busy() const { return !transmitter_.idle(); }

packet_ptr port::front() const {
    return receiver_.empty() || receiver_.front().base >= receiver_.arrival().passed(sim::now())
               ? nullptr
               : receiver_.front().what;
}

std::uint64_t port::front_base() const { return receiver_.front().base; }

std::span<const std::uint8_t> port::taken_bytes(std::uint64_t first, std::uint64_t count) {
    return framer_->taken(receiver_.front(), first, count);
}

void port::take(std::uint64_t limit, picoseconds spacing, std::optional<std::uint64_t> crc32_from) {
    if (receiver_.empty()) throw sim::model_error(name(), "nothing to take");
    framer_->catch_up(sim::now());
    framer_->take(limit, spacing, crc32_from);
    limit_ = limit;
    spacing_ = spacing;
    limit_told_ = limit == 0;
    receiver_.taking_cut(receiver_.taking().passed(sim::now()));
    taking_changed_ = true;
    plan_taking();
    refresh();
}

std::uint64_t port::taken(picoseconds t) const {
    if (receiver_.empty()) return 0;
    const std::uint64_t passed = receiver_.taking().passed(t);
    return passed - std::min(passed, receiver_.front().base);
}

void port::arrival_cut(std::uint64_t from) {
    receiver_.taking_cut(from);
    taking_changed_ = true;
}

/// What has arrived or is known to arrive of the front packet is taken as far as the card allows.
void port::plan_taking() {
    if (receiver_.empty()) return;
    const receiver::held& front = receiver_.front();
    const bool whole = front.length && limit_ >= front.length - receiver_.cable().gap;
    const std::uint64_t end = front.base + (whole ? front.length : std::min(limit_, never - front.base));
    const std::uint64_t before = receiver_.taking().end();
    receiver_.arrival().for_each(before, end,
                                 [&](const run& r) { receiver_.taking_follow(r, sim::now(), spacing_); });
    if (receiver_.taking().end() != before) taking_changed_ = true;
}

picoseconds port::taken_up_due() const {
    if (receiver_.empty()) return never;
    const receiver::held& front = receiver_.front();
    const std::uint64_t taken_to = receiver_.taking().end() - front.base;
    const bool whole = front.length && taken_to == front.length;
    if (!whole && (limit_told_ || taken_to != limit_)) return never;
    // A whole packet is known as such by the first character of the gap behind it.
    const std::uint64_t last = whole ? taken_to - receiver_.cable().gap : taken_to - 1;
    return std::max(sim::now(), receiver_.taking().time_of(front.base + last));
}

void port::finish_taking() {
    const receiver::held front = receiver_.front();
    if (!front.length || receiver_.taking().end() != front.base + front.length) {
        limit_told_ = true;
        return client_.on_take_limit();
    }
    receiver_.pop();
    limit_ = 0;
    limit_told_ = true;
    packets_received.add();
    const reception came = framer_->end(front);
    if (came.remainder != 0) crc_errors.add();
    client_.on_tail(came);
    if (const packet_ptr behind = this->front()) client_.on_head(behind);
}

void port::finish_part() {
    parts_.pop_front();
    client_.on_part_sent();
}

void port::act() {
    framer_->catch_up(sim::now());
    while (const auto item = agenda_.next()) {
        perform(item->kind, sim::now());
        refresh();
    }
}

void port::perform(unsigned what, picoseconds now) {
    switch (what) {
        case control: {
            const inbox::entry e = controls_.take();
            framer_->flow(e.what);
            return e.what == phase::stop ? transmitter_.stop(now) : transmitter_.go(now);
        }
        case arrival: {
            const inbox::entry e = arrivals_.take();
            const bool first = e.what == phase::head && receiver_.empty();
            receiver_.accept(e.message, e.what);
            if (e.what == phase::head) framer_->arrives(receiver_.newest());
            if (first) client_.on_head(e.message.what);
            return;
        }
        case tail:
            transmitter_.tail();
            packets_sent.add();
            return client_.on_sent();
        case part:
            return finish_part();
        case launch:
            return transmitter_.launch(now);
        case taken_up:
            return finish_taking();
        case level:
            return receiver_.level(now);
        case clocks:
            return;  // act() has caught up
        default:
            blocked.add();
            return client_.on_blocked();
    }
}

void port::refresh() {
    const picoseconds now = sim::now();
    agenda_.set(control, 0, controls_.due());
    agenda_.set(arrival, 0, arrivals_.due());
    agenda_.set(tail, 0, transmitter_.tail_due());
    agenda_.set(launch, 0, transmitter_.launch_due());
    agenda_.set(taken_up, 0, taken_up_due());
    agenda_.set(level, 0, receiver_.level_due(now));
    agenda_.set(clocks, 0, framer_->due());
    agenda_.set(part, 0, parts_.empty() ? never : transmitter_.emission().time_of(parts_.front()));
    if (!transmitter_.held()) agenda_.set(nres, 0, never);
    if (transmitter_.held() && !blocked_ && nres_ps) agenda_.set(nres, 0, now + nres_ps);
    blocked_ = transmitter_.held();
    if (std::exchange(sending_changed_, false)) client_.on_sending_changed();
    if (std::exchange(taking_changed_, false)) client_.on_taking_changed();
}

}  // namespace vinic::link
