// SPDX-License-Identifier: Apache-2.0
// The transactor between a card's link port and the pins of framer.sv and deframer.sv. The clock of each
// comes with its characters: the framer's when one can start, a byte time after the one before at the
// earliest, and when STOP or GO comes; the deframer's when a character arrives or can be taken. What happens
// at an instant is known when it is over, so a clock of that instant is evaluated a picosecond later, as the
// model looks at its thresholds. The schedules of the port say beforehand when characters leave and are taken
// and the thresholds are passed: each is held against what the RTL does.
#include "hw/rtl/link/link_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "hw/rtl/link/deframer_block.h"
#include "hw/rtl/link/framer_block.h"
#include "hw/sim/error.h"
#include "hw/sim/module.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::rtl {

namespace {

using link::phase;
using link::picoseconds;
using sim::never;

constexpr const char* phases[] = {"data", "CRC-32", "CRC-8", "GAP"};

/// The framer: bytes and flow control in, characters out.
class way_out {
public:
    way_out(const sim::module& owner, const link::schedule& emission)
        : emission_(emission),
          characters_(owner, "characters", "characters that were sent"),
          state_(owner, "sends", 2, "what the framer sends next", phases),
          stopped_(owner, "stopped", 1, "STOP holds the framer"),
          byte_(owner, "sent", 8, "the character sent last, zero for a GAP") {}

    void connect(const link::wire& cable) { byte_ps_ = cable.byte_ps; }
    void begin(const link::packet_ptr& what) { leaving_.push_back({what, 0}); }
    void append(std::span<const std::uint8_t> bytes, const link::run& available,
                std::optional<std::uint64_t> crc32_from) {
        for (std::uint64_t i = 0; i < bytes.size(); ++i)
            source_.push_back({available.time_of(available.first + i), bytes[i], false, crc32_from == i});
        leaving_.back().what->extend(bytes.size());
        covered_ |= crc32_from.has_value();
    }
    void finish() {
        if (source_.empty()) throw_difference("the RTL ends a packet with a byte");
        source_.back().last = true;
        leaving_.back().what->extend((std::exchange(covered_, false) ? 4 : 0) + link::crc_characters);
        leaving_.back().what->finish_filled();
    }
    void flow(bool stop) { symbols_.push_back({sim::now(), stop}); }

    /// When something can happen next.
    picoseconds next() const {
        if (open_) return started_ + byte_ps_;
        picoseconds at = symbols_.empty() ? never : symbols_.front().at;
        // One that was there already waits for GO.
        if (!source_.empty() && source_.front().from >= looked_until_)
            at = std::min(at, source_.front().from);
        return at;
    }
    void step(picoseconds at) {
        if (open_) close(at);
        framer_block::inputs in;
        if (!source_.empty() && source_.front().from <= at)
            in = {.valid = true,
                  .byte = source_.front().byte,
                  .last = source_.front().last,
                  .crc32 = source_.front().crc32};
        take_symbols(at + 1, in);
        const framer_block::outputs out = framer_.drive(in);
        looked_until_ = at + 1;
        if (out.valid) {
            if (in.valid && out.ready) source_.pop_front();
            put(at, out);
            started_ = at;
            open_ = true;
            clocked_ = in;
        } else if (in.stop || in.go) {
            framer_.clock();
        }
        show(at, out);
    }
    void compare(picoseconds until) const {
        if (emission_.passed(until) != sent_) throw_difference("no character is sent where the port says so");
    }

private:
    struct offered {
        picoseconds from;
        std::uint8_t byte;
        bool last, crc32;
    };
    struct symbol {
        picoseconds at;
        bool stop;
    };
    struct packet_under_way {
        link::packet_ptr what;
        std::size_t next;
    };

    /// The clock of the character that is through at `at`, with the flow control that came meanwhile.
    void close(picoseconds at) {
        take_symbols(at, clocked_);
        framer_.drive(clocked_);
        framer_.clock();
        open_ = false;
    }
    /// Of STOP and GO in one clock the framer takes STOP for the later one.
    void take_symbols(picoseconds before, framer_block::inputs& in) {
        for (; !symbols_.empty() && symbols_.front().at < before; symbols_.pop_front()) {
            if (!symbols_.front().stop) in.stop = false;
            (symbols_.front().stop ? in.stop : in.go) = true;
        }
    }
    void put(picoseconds at, const framer_block::outputs& out) {
        if (emission_.time_of(sent_) != at)
            throw_difference("a character is sent where the port does not say so");
        ++sent_;
        characters_.add();
        packet_under_way& of = leaving_.front();
        if (of.next < of.what->bytes().size() && !out.gap) return of.what->put(of.next++, out.byte);
        if (!out.gap || of.next != of.what->bytes().size() || !of.what->finished())
            throw_difference("the GAP is not where the packet ends");
        leaving_.pop_front();
    }
    void show(picoseconds at, const framer_block::outputs& out) {
        if (!state_.watched() && !stopped_.watched() && !byte_.watched()) return;
        if (out.valid) byte_.set(at, out.gap ? 0 : out.byte);
        state_.set(at, framer_.phase());
        stopped_.set(at, framer_.stopped());
    }
    [[noreturn]] void throw_difference(const char* what) const {
        throw sim::model_error(framer_.name(), fmt::format("{} (character {})", what, sent_));
    }

    framer_block framer_{"framer"};
    const link::schedule& emission_;
    picoseconds byte_ps_ = 0;
    std::deque<offered> source_;
    std::deque<packet_under_way> leaving_;
    bool covered_ = false;  ///< the packet that is filled has a CRC-32
    std::deque<symbol> symbols_;
    std::uint64_t sent_ = 0;
    bool open_ = false;  ///< the clock of the character that started at started_
    picoseconds started_ = 0;
    framer_block::inputs clocked_;
    picoseconds looked_until_ = 0;

    sim::counter<sim::unit::events> characters_;
    sim::value_probe state_, stopped_, byte_;
};

/// The deframer: characters in, what is taken and flow control out.
class way_in {
public:
    struct symbol {
        phase what;
        picoseconds at;
    };

    way_in(const sim::module& owner, const link::schedule& arrival, const link::schedule& taking)
        : arrival_(arrival),
          taking_(taking),
          held_(owner, "slack", 11, "characters in the slack buffer"),
          stopping_(owner, "stopping", 1, "STOP was sent, and no GO since"),
          byte_(owner, "taken", 8, "the character taken last, zero for a GAP"),
          misrouted_(owner, "misrouted", 1, "the last packet began with a route byte") {}

    void connect(const link::receiver& at) {
        if (at.capacity() > deframer_block::slack_bytes)
            throw sim::input_error(
                "link.impl = rtl: a slack buffer of {} bytes; the RTL has {}, use link.impl = model",
                at.capacity(), deframer_block::slack_bytes);
        deframer_.set_thresholds(at.sizes().stop_above, at.sizes().go_below);
    }
    void arrives(const link::receiver::held& of) {
        arriving_.push_back({of.what, of.first_byte, of.hop, of.base});
    }
    void take(std::uint64_t limit, picoseconds spacing, std::optional<std::uint64_t> crc32_from) {
        limit_ = limit;
        spacing_ = spacing;
        since_ = sim::now();
        if (crc32_from) crc32_from_ = crc32_from;
    }
    std::span<const std::uint8_t> taken(std::uint64_t first, std::uint64_t count) const {
        return std::span(bytes_).subspan(first, count);
    }
    link::reception end() {
        if (!ended_) throw_difference("the packet is not taken to its end");
        const deframer_block::outputs& tail = *ended_;
        link::reception r{.bytes = std::span(packet_).first(packet_.size() - link::crc_characters),
                          .remainder = tail.remainder,
                          .crc32_remainder = tail.crc32_remainder};
        ended_.reset();
        return r;
    }

    picoseconds next() const {
        const picoseconds arrives = arrival_.time_of(arrived_);
        const bool may_take = arrived_ > taken_ && (gap_in_front_ || bytes_.size() < limit_);
        return may_take ? std::min(arrives, std::max(since_, free_from())) : arrives;
    }
    void step(picoseconds at) {
        deframer_block::inputs in;
        if (arrival_.time_of(arrived_) == at) put_in(in);
        in.ready = at >= free_from();
        in.take = bytes_.size() < limit_;
        in.take_crc32 = crc32_from_ == bytes_.size();
        const deframer_block::outputs out = deframer_.drive(in);
        if (out.valid) take_out(at, out);
        if (out.send_stop || out.send_go) {
            if (symbol_) throw_difference("STOP and GO in one instant");
            symbol_ = {out.send_stop ? phase::stop : phase::go, at};
        }
        deframer_.clock();
        gap_in_front_ = deframer_.drive({}).gap;
        show(at, out);
    }
    /// STOP or GO that goes out.
    std::optional<symbol>& due_symbol() { return symbol_; }
    const std::optional<symbol>& due_symbol() const { return symbol_; }

    void compare(picoseconds until) const {
        if (taking_.passed(until) != taken_) throw_difference("no character is taken where the port says so");
    }
    [[noreturn]] void throw_difference(const char* what) const {
        throw sim::model_error(deframer_.name(), fmt::format("{} (character {})", what, taken_));
    }

private:
    struct arriving {
        link::packet_ptr what;
        std::size_t first_byte;
        unsigned hop;
        std::uint64_t base;
    };

    picoseconds free_from() const { return last_taken_ ? *last_taken_ + spacing_ : 0; }

    void put_in(deframer_block::inputs& in) {
        in.valid = true;
        const arriving& of = arriving_.front();
        const std::size_t at = of.first_byte + (arrived_ - of.base);
        const std::size_t size = of.what->bytes().size();
        ++arrived_;
        if (at == size) {
            in.gap = true;
            arriving_.pop_front();
        } else if (of.what->finished() && at + 1 == size) {
            in.byte =
                of.what->on_wire(of.first_byte, of.hop).back();  // the CRC-8 that the last switch has made
        } else {
            in.byte = of.what->bytes()[at];
        }
    }
    void take_out(picoseconds at, const deframer_block::outputs& out) {
        if (taking_.time_of(taken_) != at)
            throw_difference("a character is taken where the port does not say so");
        ++taken_;
        last_taken_ = at;
        if (!out.gap) return bytes_.push_back(out.byte);
        if (ended_) throw_difference("two packets end in one instant");
        ended_ = out;
        packet_.swap(bytes_);
        bytes_.clear();
        limit_ = 0;
        crc32_from_.reset();
    }
    void show(picoseconds at, const deframer_block::outputs& out) {
        if (!held_.watched() && !stopping_.watched() && !byte_.watched() && !misrouted_.watched()) return;
        if (out.valid) byte_.set(at, out.gap ? 0 : out.byte);
        if (out.valid && out.gap) misrouted_.set(at, out.misrouted);
        held_.set(at, deframer_.held());
        stopping_.set(at, deframer_.stopping());
    }

    deframer_block deframer_{"deframer"};
    const link::schedule& arrival_;
    const link::schedule& taking_;
    std::deque<arriving> arriving_;
    std::uint64_t arrived_ = 0, taken_ = 0;
    std::vector<std::uint8_t> bytes_, packet_;  ///< taken of the packet at hand; the one that ended last
    std::optional<deframer_block::outputs> ended_;
    std::uint64_t limit_ = 0;
    picoseconds spacing_ = 0, since_ = 0;
    std::optional<std::uint64_t> crc32_from_;
    std::optional<picoseconds> last_taken_;
    bool gap_in_front_ = false;
    std::optional<symbol> symbol_;

    sim::value_probe held_, stopping_, byte_, misrouted_;
};

class link_block : public sim::module, public link::framer {
public:
    explicit link_block(surroundings around)
        : module("rtl"),
          around_(std::move(around)),
          out_(*this, around_.emission),
          in_(*this, around_.arrival, around_.taking) {}

    void connect_out(const link::wire& cable) override {
        require_myrinet(cable);
        out_.connect(cable);
    }
    void connect_in(const link::wire& cable, const link::receiver& at) override {
        require_myrinet(cable);
        in_.connect(at);
        byte_ps_ = cable.byte_ps;
    }

    void begin(const link::packet_ptr& what) override { out_.begin(what); }
    void append(std::span<const std::uint8_t> bytes, const link::run& available,
                std::optional<std::uint64_t> crc32_from) override {
        out_.append(bytes, available, crc32_from);
    }
    void finish(const link::wire&) override { out_.finish(); }
    void flow(phase what) override { out_.flow(what == phase::stop); }

    void arrives(const link::receiver::held& of) override { in_.arrives(of); }
    void take(std::uint64_t limit, picoseconds spacing, std::optional<std::uint64_t> crc32_from) override {
        in_.take(limit, spacing, crc32_from);
    }
    std::span<const std::uint8_t> taken(const link::receiver::held&, std::uint64_t first,
                                        std::uint64_t count) override {
        step_in(sim::now());
        return in_.taken(first, count);
    }
    link::reception end(const link::receiver::held&) override {
        step_in(sim::now());
        return in_.end();
    }
    void threshold(phase what, picoseconds) override {
        if (!signalled_ || signalled_->what != what || signalled_->at != sim::now())
            in_.throw_difference("no STOP or GO where the port says so");
        signalled_.reset();
    }

    picoseconds due() const override {
        picoseconds first = std::min(out_.next(), in_.next());
        if (in_.due_symbol()) first = std::min(first, in_.due_symbol()->at);
        return first == never ? never : first + 1;
    }
    void catch_up(picoseconds now) override {
        if (now == 0) return;
        for (picoseconds at; (at = out_.next()) < now;) out_.step(at);
        out_.compare(now - 1);
        step_in(now - 1);
        if (signalled_ && signalled_->at < now)
            in_.throw_difference("STOP or GO where the port does not say so");
        if (!in_.due_symbol() || in_.due_symbol()->at >= now) return;
        signalled_ = {std::exchange(in_.due_symbol(), {})->what, now};
        around_.signal(signalled_->what, byte_ps_ - 1);
    }

private:
    /// Clocks up to `last`, that instant included.
    void step_in(picoseconds last) {
        for (picoseconds at; (at = in_.next()) <= last;) in_.step(at);
        in_.compare(last);
    }
    static void require_myrinet(const link::wire& cable) {
        if (cable.check_characters != link::crc_characters || cable.gap != link::gap_characters ||
            !cable.flow_control)
            throw sim::input_error(
                "link.impl = rtl: the RTL is Myrinet's link (CRC-8, a GAP of one character, STOP and GO); "
                "use "
                "link.impl = model");
    }

    surroundings around_;
    way_out out_;
    way_in in_;
    picoseconds byte_ps_ = 0;
    std::optional<way_in::symbol> signalled_;  ///< by the RTL, the port's view of it is still to come
};

}  // namespace

std::unique_ptr<link::framer> make_link(link::framer::surroundings around) {
    return std::make_unique<link_block>(std::move(around));
}

}  // namespace vinic::rtl
