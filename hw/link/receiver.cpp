// SPDX-License-Identifier: Apache-2.0
#include "hw/link/receiver.h"

#include <algorithm>

#include "hw/sim/error.h"

namespace vinic::link {

namespace {
constexpr const char* published =
    "facts/lanai_pcix.md B6: published simulations of the 1.28 Gbit/s generation";
}

receiver::parameters::parameters(const sim::module& owner)
    : slack_bytes(owner, {.name = "slack_bytes",
                          .unit = "bytes",
                          .value = 0,
                          .min = 0,
                          .max = 65536,
                          .help = "size of a port's slack buffer; 0: as large as the cable needs",
                          .source = "facts/lanai_pcix.md B6: 2 x cable delay x rate + reaction time"}),
      stop_above(owner, {.name = "stop_above",
                         .unit = "bytes",
                         .value = 56,
                         .min = 1,
                         .max = 65535,
                         .help = "a slack buffer that holds more than this sends STOP",
                         .source = published}),
      go_below(owner, {.name = "go_below",
                       .unit = "bytes",
                       .value = 40,
                       .min = 1,
                       .max = 65535,
                       .help = "a slack buffer that holds less than this sends GO after a STOP",
                       .source = published}) {
    if (go_below > stop_above + 1)
        throw sim::input_error("{}: go_below = {} must not exceed stop_above + 1 = {}", owner.name(),
                               go_below.get(), stop_above.get() + 1);
}

receiver::receiver(const sim::module& owner, const parameters& sizes, host& to)
    : owner_(owner), sizes_(sizes), host_(to) {}

void receiver::connect(const wire& cable) {
    cable_ = cable;
    if (!cable.flow_control) {
        slack_ = never;  // who sends is never stopped: the card must take what comes
        return;
    }
    // STOP goes out with the first character above the threshold. It is one character long, takes the cable's
    // delay, and lets the character finish that starts when it arrives, which takes the delay again.
    const std::uint64_t on_the_way = 2 + 2 * cable.delay_ps / cable.byte_ps;
    const std::uint64_t needed = sizes_.stop_above + 1 + on_the_way;
    slack_ = sizes_.slack_bytes ? sizes_.slack_bytes.get() : needed;
    if (slack_ < needed)
        throw sim::input_error(
            "{}: slack_bytes = {} is too small: stop_above = {} and a cable of {} ps at {} ps a byte need {}",
            owner_.name(), slack_, sizes_.stop_above.get(), cable.delay_ps, cable.byte_ps, needed);
}

void receiver::accept(const transfer& message, phase what) {
    if (what == phase::head)
        packets_.push_back({message.what, message.first_byte, message.hop, arrival_.end(), 0});
    held& newest = packets_.back();
    if (message.length) newest.length = message.length;
    if (what == phase::hold) {
        const std::uint64_t from = newest.base + message.held_from;
        arrival_.truncate(from);
        host_.arrival_cut(from);
        return;
    }
    run characters = message.characters;
    characters.first += newest.base;
    arrival_.append(characters);
    host_.arrival_appended(characters);
}

void receiver::pop() { packets_.pop_front(); }

/// Whether the buffer, holding so much, is past the threshold that it watches.
bool receiver::past_threshold(std::uint64_t in_buffer) const {
    return stopping_ ? in_buffer < sizes_.go_below : in_buffer > sizes_.stop_above;
}

picoseconds receiver::level_due(picoseconds now) {
    const std::uint64_t in_buffer = occupancy(now);
    if (in_buffer > slack_)
        throw sim::model_error(owner_.name(),
                               fmt::format("a slack buffer of {} bytes holds {}", slack_, in_buffer));
    highest_ = std::max(highest_, in_buffer);
    const picoseconds before = now ? now - 1 : 0;
    const std::uint64_t gone = taking_.passed(before);
    arrival_.forget(gone);
    // The last character stays remembered: the next one keeps its distance to it.
    if (gone > 0) taking_.forget(gone - 1);
    if (!cable_.flow_control) return never;

    if (past_threshold(occupancy(before))) return now;
    if (past_threshold(in_buffer)) return now + 1;
    const picoseconds passing =
        stopping_ ? taking_.time_of(first_below(arrival_, taking_, sizes_.go_below, taking_.passed(now)))
                  : arrival_.time_of(first_above(arrival_, taking_, sizes_.stop_above, arrival_.passed(now)));
    return passing == never ? never : passing + 1;
}

void receiver::level(picoseconds now) {
    if (!past_threshold(occupancy(now - 1))) return;
    stopping_ = !stopping_;
    host_.signal(stopping_ ? phase::stop : phase::go, cable_.byte_ps - 1);
}

}  // namespace vinic::link
